/* A registration may come while its descriptor is being closed, after the other registrations have
 * ended. It is told CAPSTAN_CLOSED. A registration of the next file with this number is not.
 *
 * This program's own close() does the work of another thread that registers at that moment. */
#include "event_testing.h"

#include <sys/syscall.h>

static struct {
    capstan_manager *manager; /* NULL: close() only closes */
    unsigned modes;
    struct seen early, late;
    int next; /* the file that gets the number; -1: none */
} meanwhile;

int close(int fd) {
    capstan_manager *manager = meanwhile.manager;
    if (manager == NULL) return (int)syscall(SYS_close, fd);
    meanwhile.manager = NULL;
    unsigned events = CAPSTAN_READ | meanwhile.modes;
    CHECK_EQ(capstan_fd_register(manager, fd, events, note, &meanwhile.early, NULL), 0);
    int result = (int)syscall(SYS_close, fd), error = errno;
    if (meanwhile.next >= 0) {
        CHECK_EQ(dup2(meanwhile.next, fd), fd);
        CHECK_EQ(capstan_fd_register(manager, fd, events, note, &meanwhile.late, NULL), 0);
    }
    errno = error;
    return result;
}

static void prepare(capstan_manager *manager, unsigned modes, int next) {
    meanwhile.manager = manager;
    meanwhile.modes = modes;
    meanwhile.early = meanwhile.late = (struct seen){0};
    meanwhile.next = next;
}

static void told(const char *back_end, bool all, unsigned modes) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    struct seen before = {0};
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ | modes, note, &before, NULL), 0);
    prepare(manager, modes, -1);
    CHECK_EQ(capstan_fd_close(all ? NULL : manager, ends[0]), 0);
    CHECK_EQ(run_all(manager), 2); /* before a new registration of the number */
    CHECK_EQ(before.events, CAPSTAN_CLOSED);
    CHECK_EQ(meanwhile.early.calls, 1);
    CHECK_EQ(meanwhile.early.events, CAPSTAN_CLOSED);
    CHECK_EQ(statistics(manager).watches, 0);
    close(ends[1]);
    capstan_manager_free(manager);
}

/* The number is used again before capstan_fd_close looks for registrations that came meanwhile. */
static void next_owner_stays(bool regular, unsigned modes) {
    capstan_manager *manager = new_manager("epoll");
    int ends[2], fresh[2];
    make_pipe(ends);
    make_pipe(fresh);
    int file = regular ? open("/dev/null", O_RDONLY | O_CLOEXEC) : ends[0];
    prepare(manager, modes, fresh[0]);
    CHECK_EQ(capstan_fd_close(NULL, file), 0);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(meanwhile.early.events, CAPSTAN_CLOSED);
    CHECK_EQ(meanwhile.late.calls, 0);
    put(fresh[1], "x");
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(meanwhile.late.events, CAPSTAN_READ);
    close(file);
    if (regular) close(ends[0]);
    close(ends[1]);
    close_pipe(fresh);
    capstan_manager_free(manager);
}

/* Descriptors that are closed by other means, that are still open, or whose close fails. */
static void by_other_means(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    struct seen seen = {0};
    make_pipe(ends);
    capstan_fd_unregister_all(NULL, ends[0]);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    capstan_fd_closed(NULL, ends[0]); /* it is open */
    capstan_fd_closed(manager, ends[1]);
    capstan_fd_closed(manager, -1);
    CHECK_EQ(run_all(manager), 0);
    put(ends[1], "x");
    CHECK_EQ(step(manager), 1);
    CHECK_EQ(seen.events, CAPSTAN_READ);
    close(ends[0]);
    capstan_fd_closed(NULL, ends[0]);
    CHECK_EQ(capstan_fd_close(NULL, ends[0]), EBADF);
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(seen.calls, 2);
    CHECK_EQ(seen.events, CAPSTAN_CLOSED);
    close(ends[1]);
    capstan_manager_free(manager);
}

/* A one-shot that has fired is quiet: a check of its file does not let it fire again. */
static void fired_once(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    int ends[2];
    struct seen once = {0}, quiet = {0};
    capstan_watch watch;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &quiet, &watch), 0);
    CHECK_EQ(capstan_fd_change(manager, watch, 0), 0);
    CHECK_EQ(
        capstan_fd_register(manager, ends[0], CAPSTAN_READ | CAPSTAN_ONESHOT, note, &once, NULL),
        0);
    put(ends[1], "x");
    CHECK_EQ(run_all(manager), 1);
    capstan_fd_closed(NULL, ends[0]);
    CHECK_EQ(run_all(manager), 0);
    CHECK_EQ(once.calls, 1);
    CHECK_EQ(quiet.calls, 0);
    close_pipe(ends);
    capstan_manager_free(manager);
}

int main(void) {
    static const char *const back_ends[] = {"epoll", "poll"};
    test_limit(30);
    for (int i = 0; i < 2; i++) {
        told(back_ends[i], true, 0);
        told(back_ends[i], false, 0);
        told(back_ends[i], true, CAPSTAN_ONESHOT);
        by_other_means(back_ends[i]);
        fired_once(back_ends[i]);
    }
    told("epoll", true, CAPSTAN_EDGE);
    next_owner_stays(false, 0);
    next_owner_stays(false, CAPSTAN_ONESHOT);
    next_owner_stays(false, CAPSTAN_EDGE);
    next_owner_stays(true, 0);
    next_owner_stays(true, CAPSTAN_ONESHOT);
    return 0;
}
