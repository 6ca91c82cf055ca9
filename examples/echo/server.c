/* A TCP echo server for thousands of connections, with an idle timeout for each.
 *
 *     server IDLE_MS
 *
 * The server prints its port, on the loopback address, and serves until SIGTERM or SIGINT; then it
 * prints its statistics. It has one thread and one loop. A message moves its connection's timer and
 * starts no new timer. */
#include "echo.h"

#include <capstan.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct connection {
    capstan_watch watch;
    capstan_timer idle;
    int fd;
    size_t waiting; /* the bytes that the peer has not taken yet */
    char buffer[4096];
};

static uint64_t idle_ns;
static long accepted, messages, idled, open_now;
static capstan_watch listening;

static void finish(capstan_manager *manager, struct connection *connection) {
    capstan_timer_cancel(manager, connection->idle);
    capstan_fd_unregister(manager, connection->watch);
    close(connection->fd);
    free(connection);
    open_now--;
}

static void on_idle(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                    void *data) {
    (void)timer;
    if (expirations > 0) idled++;
    finish(manager, data);
}

/* Writes the waiting bytes; returns 0 if the connection has failed. */
static int flush(struct connection *connection) {
    size_t done = 0;
    while (done < connection->waiting) {
        ssize_t n = send(connection->fd, connection->buffer + done, connection->waiting - done,
                         MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) return 0;
        if (n < 0) break;
        done += (size_t)n;
    }
    connection->waiting -= done;
    memmove(connection->buffer, connection->buffer + done, connection->waiting);
    return 1;
}

static void on_ready(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                     void *data) {
    struct connection *connection = data;
    if (events & CAPSTAN_CLOSED) return; /* the manager ends; main frees the rest */
    int was_waiting = connection->waiting > 0, alive = 1;
    if (!was_waiting && events & CAPSTAN_READ) {
        ssize_t n = recv(fd, connection->buffer, sizeof connection->buffer, 0);
        if (n > 0) {
            connection->waiting = (size_t)n;
            messages += n / MESSAGE;
            capstan_timer_reschedule(manager, connection->idle, idle_ns);
        } else {
            alive = n < 0 && errno == EAGAIN;
        }
    }
    if (!alive || !flush(connection)) {
        finish(manager, connection);
        return;
    }
    int waits = connection->waiting > 0;
    /* The server reads nothing more from a peer that does not take its echo. */
    if (waits != was_waiting)
        capstan_fd_change(manager, watch, waits ? CAPSTAN_WRITE : CAPSTAN_READ);
}

static void listen_again(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                         void *data) {
    (void)timer, (void)data;
    if (expirations > 0) capstan_fd_change(manager, listening, CAPSTAN_READ);
}

static void on_connection(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                          void *data) {
    (void)data;
    if (events & CAPSTAN_CLOSED) return;
    for (int peer; (peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct connection *connection = calloc(1, sizeof *connection);
        need(connection != NULL, "calloc");
        connection->fd = peer;
        need(capstan_fd_register(manager, peer, CAPSTAN_READ, on_ready, connection,
                                 &connection->watch) == 0 &&
                 capstan_timer_start(manager, idle_ns, 0, on_idle, connection, &connection->idle) ==
                     0,
             "a connection");
        accepted++;
        open_now++;
    }
    if (errno != EMFILE && errno != ENFILE) return;
    /* No descriptor is free: new connections wait in the kernel until one is. */
    capstan_fd_change(manager, watch, 0);
    capstan_timer_start(manager, 100 * 1000000, 0, listen_again, NULL, NULL);
}

static void on_signal(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                      void *data) {
    (void)watch, (void)fd, (void)data;
    if (events & CAPSTAN_READ) capstan_shutdown(manager);
}

int main(int argc, char **argv) {
    idle_ns = (uint64_t)(argc > 1 ? atol(argv[1]) : 30000) * 1000000;
    raise_limit();
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int signals = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
    int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    need(door >= 0 && bind(door, (struct sockaddr *)&address, length) == 0 &&
             listen(door, 4096) == 0 &&
             getsockname(door, (struct sockaddr *)&address, &length) == 0,
         "listen");
    capstan_manager *manager;
    need(capstan_manager_new(&manager, NULL) == 0, "capstan_manager_new");
    need(capstan_fd_register(manager, door, CAPSTAN_READ, on_connection, NULL, &listening) == 0 &&
             capstan_fd_register(manager, signals, CAPSTAN_READ, on_signal, NULL, NULL) == 0,
         "capstan_fd_register");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    capstan_loop(manager);
    printf("%ld connections, %ld messages, %ld closed because they were idle, %ld open\n", accepted,
           messages, idled, open_now);
    capstan_manager_free(manager); /* ends the timers, and with them the connections */
    return 0;
}
