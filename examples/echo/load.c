/* The echo server's load: many connections, each of which sends a message when the last has come
 * back, and then falls silent until the server closes it.
 *
 *     load PORT [CONNECTIONS] [MESSAGES]
 *
 * Exit status 1 if an echo is wrong, or if a connection ends before all its messages are back. */
#include "echo.h"

#include <capstan.h>
#include <unistd.h>

struct client {
    int fd, number;
    long left;
    size_t back; /* the bytes of the present message that have come back */
    char message[MESSAGE];
};

static long messages, silent, closed, connections;
static uint64_t began, last_echo;

static void say(struct client *client) {
    snprintf(client->message, MESSAGE, "connection %d, %ld messages to go", client->number,
             client->left);
    client->back = 0;
    need(send(client->fd, client->message, MESSAGE, MSG_NOSIGNAL) == MESSAGE, "send");
}

static void on_ready(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                     void *data) {
    struct client *client = data;
    char echo[MESSAGE];
    (void)events;
    ssize_t n = recv(fd, echo, MESSAGE - client->back, 0);
    if (n <= 0) { /* the server's idle timeout */
        need(n == 0 && client->left == 0, "a connection ended too early");
        capstan_fd_unregister(manager, watch);
        close(fd);
        if (++closed == connections) capstan_shutdown(manager);
        return;
    }
    errno = EBADMSG;
    need(memcmp(echo, client->message + client->back, (size_t)n) == 0, "an echo");
    client->back += (size_t)n;
    if (client->back < MESSAGE) return;
    messages++;
    if (--client->left > 0)
        say(client);
    else if (++silent == connections)
        last_echo = capstan_clock();
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    struct sockaddr_in address = loopback(atoi(argv[1]));
    connections = argc > 2 ? atol(argv[2]) : 9000;
    long each = argc > 3 ? atol(argv[3]) : 20;
    raise_limit();
    capstan_manager *manager;
    need(capstan_manager_new(&manager, NULL) == 0, "capstan_manager_new");
    struct client *client = calloc((size_t)connections, sizeof *client);
    need(client != NULL, "calloc");
    for (int i = 0; i < connections; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        need(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
        client[i] = (struct client){.fd = fd, .number = i, .left = each};
        need(capstan_fd_register(manager, fd, CAPSTAN_READ, on_ready, &client[i], NULL) == 0,
             "capstan_fd_register");
    }
    began = capstan_clock();
    for (int i = 0; i < connections; i++) say(&client[i]);
    capstan_loop(manager);
    double seconds = (double)(last_echo - began) / 1e9;
    printf("%ld echoes over %ld connections: %.0f a second; all were closed by the server\n",
           messages, connections, (double)messages / seconds);
    return 0;
}
