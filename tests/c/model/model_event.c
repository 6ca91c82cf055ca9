/* event/: a report that was read before a registration ends calls its function once more at most,
 * and never after capstan_quiesce has returned. A report reaches the registration that it names,
 * whole, also if its object is used again meanwhile. The call of a post sees the writes before the
 * post.
 *
 * model: sources runtime/event/*.c
 */
#include "event/deliver.h"

#include "models.h"

#include <errno.h>

enum { FD = 3, OTHER_FD };

static capstan_manager *manager;
static uint64_t id;
static int owned[2]; /* the callers' data, which the callers end when no call can come */
static unsigned called, posted;
static bool reported;

static struct cst_poller *open_it(int *error) {
    (void)error;
    return (struct cst_poller *)&owned;
}
static void close_it(struct cst_poller *poller) {
    (void)poller;
}
static int set(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key) {
    (void)poller, (void)fd, (void)known, (void)mask, (void)key;
    return 0;
}
static void wake(struct cst_poller *poller) {
    (void)poller;
}
/* Gives one report, of the first registration. */
static int wait_for_it(struct cst_poller *poller, struct cst_ready *ready, int capacity,
                       int64_t timeout) {
    (void)poller, (void)capacity, (void)timeout;
    if (!reported) return 0;
    ready[0].events = CST_POLL_READ | CST_POLL_WRITE;
    ready[0].key = id;
    return 1;
}

static const struct cst_poller_ops ops = {.name = "model",
                                          .open = open_it,
                                          .close = close_it,
                                          .set = set,
                                          .wait = wait_for_it,
                                          .wake = wake};

static void call(capstan_manager *by, uint64_t which, int fd, unsigned events, void *data) {
    EXPLORE_CHECK(by == manager && fd == FD && events == CAPSTAN_READ);
    EXPLORE_CHECK(which == id && data == &owned[0]);
    owned[0]++;
    called++;
}

static void other(capstan_manager *by, uint64_t which, int fd, unsigned events, void *data) {
    (void)by, (void)events;
    EXPLORE_CHECK(which != id && fd == OTHER_FD && data == &owned[1]);
}

static void driver(void) {
    unsigned calls;
    EXPLORE_CHECK(capstan_step(manager, 0, &calls) == 0);
    EXPLORE_CHECK(called <= 1);
}

static void end_and_free(unsigned number) {
    if (number == 0) {
        driver();
        return;
    }
    capstan_fd_unregister(manager, id);
    capstan_quiesce(manager);
    owned[0] = -1;
}

/* Makes another registration in the place of the first, for another descriptor and more events. */
static void end_and_reuse(unsigned number) {
    uint64_t later;
    if (number == 0) {
        driver();
        return;
    }
    capstan_fd_unregister(manager, id);
    EXPLORE_CHECK(capstan_fd_register(manager, OTHER_FD, CAPSTAN_READ | CAPSTAN_WRITE, other,
                                      &owned[1], &later) == 0);
}

/* The threads drive one after the other, or a thread is told that the other drives. */
static void drive_in_turn(unsigned number) {
    unsigned calls;
    int error = capstan_step(manager, 0, &calls);
    (void)number;
    EXPLORE_CHECK(error == 0 || error == EBUSY);
    EXPLORE_CHECK(error != 0 || calls == 1);
}

static void told_of_end(capstan_manager *by, uint64_t which, int fd, unsigned events, void *data) {
    EXPLORE_CHECK(by == manager && which == id && fd == FD && data == &owned[0]);
    EXPLORE_CHECK(events == CAPSTAN_CLOSED);
}

/* A host pulls, while another thread ends the manager. */
static void pull_and_end(unsigned number) {
    struct capstan_record record;
    unsigned count;
    if (number == 0) {
        int error = capstan_pull(manager, &record, 1, 0, &count);
        EXPLORE_CHECK(error == 0 || error == EBUSY || error == ESHUTDOWN);
    } else {
        int error = cst_manager_end(manager);
        EXPLORE_CHECK(error == 0 || error == EBUSY);
    }
}

static void note(capstan_manager *by, void *data) {
    EXPLORE_CHECK(by == manager && *(int *)data == 7);
    posted++;
}

static void post(unsigned number) {
    if (number == 0) {
        driver();
        return;
    }
    owned[number - 1] = 7;
    EXPLORE_CHECK(capstan_post(manager, note, &owned[number - 1]) == 0);
}

static void all_posted(void) {
    driver();
    EXPLORE_CHECK(posted == 2);
}

static void setup(void) {
    int error;
    models_configure(8, true);
    machine_is_impatient = true; /* a waker may miss a lock's sleeper (lock.h) */
    owned[0] = owned[1] = 0;
    called = posted = 0;
    reported = true;
    manager = cst_manager_make(&ops, &error);
    EXPLORE_CHECK(manager);
    EXPLORE_CHECK(capstan_fd_register(manager, FD, CAPSTAN_READ, call, &owned[0], &id) == 0);
}

static void setup_pull(void) {
    setup();
    EXPLORE_CHECK(capstan_fd_unregister(manager, id) == 0);
    manager->pull = true;
    EXPLORE_CHECK(capstan_fd_register(manager, FD, CAPSTAN_READ, told_of_end, &owned[0], &id) == 0);
}

static void setup_posts(void) {
    setup();
    reported = false;
}

int models_run(void) {
    enum { LIMIT = 50000 };
    const struct explore_model models[] = {
        {"event, a registration ends", setup, end_and_free, NULL, .threads = 2,
         .executions = LIMIT},
        {"event, its place is used again", setup, end_and_reuse, NULL, .threads = 2,
         .executions = LIMIT},
        {"event, two drive in turn", setup, drive_in_turn, NULL, .threads = 2, .executions = LIMIT},
        {"event, pulled and ended", setup_pull, pull_and_end, NULL, .threads = 2,
         .executions = LIMIT},
        {"event, two post", setup_posts, post, all_posted, .threads = 3, .executions = LIMIT},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
