/* Permits for other pools in the process: the threads that a client of libtcm.so.1 gets, and the
 * calls that it receives, in every state. A region beside it takes the threads that permits leave,
 * unless it asks for a number of threads.
 *
 * test: env CAPSTAN_ADOPT=onetbb
 * test: env CAPSTAN_ADOPT=all
 * test: flags -ldl -lpthread
 * test: not check the library is looked for by its name
 * test: not qemu the file of names is made for this machine alone
 * test: not stock GCC's runtime gives no permits
 * test: alone
 */
#include "tcm.h"
#include <omp.h>

static int processors;
static uint64_t first, second;

/* The last message to a permit, and the number of messages. */
struct client {
    handle permit;
    int calls;
    uint32_t flags;
};

static int told(handle permit, void *argument, uint32_t flags) {
    struct client *client = argument;
    CHECK(client->permit == permit);
    client->calls++;
    client->flags = flags;
    return 0;
}

static void want(uint64_t pool, struct client *client, int least, int most, uint32_t flags) {
    CHECK_EQ(tcm.request(pool, ask(least, most, flags), client, &client->permit, NULL),
             TCM_SUCCESS);
}

static void a_permit_has_states(void) {
    struct client a = {0};
    want(first, &a, 0, 0, AS_INACTIVE);
    CHECK_EQ(threads_of(a.permit, INACTIVE), 0);
    CHECK_EQ(tcm.idle(a.permit), TCM_INVALID);
    want(first, &a, 0, processors, 0);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    CHECK_EQ(tcm.idle(a.permit), TCM_SUCCESS);
    CHECK_EQ(threads_of(a.permit, IDLE), processors);
    CHECK_EQ(tcm.activate(a.permit), TCM_SUCCESS);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    CHECK_EQ(tcm.deactivate(a.permit), TCM_SUCCESS);
    CHECK_EQ(threads_of(a.permit, INACTIVE), 0);
    CHECK_EQ(a.calls, 0); /* the thread that changes the state gets no message */
    CHECK_EQ(tcm.join(a.permit), TCM_SUCCESS);
    CHECK_EQ(tcm.leave(), TCM_SUCCESS);
    CHECK_EQ(tcm.release(a.permit), TCM_SUCCESS);
    CHECK_EQ(tcm.release(a.permit), TCM_INVALID);
}

static void two_share(void) {
    struct client a = {0}, b = {0};
    want(first, &a, 0, processors, 0);
    want(second, &b, 1, processors, 0);
    int mine = threads_of(a.permit, ACTIVE), others = threads_of(b.permit, ACTIVE);
    CHECK_EQ(mine + others, processors);
    CHECK(mine - others <= 1 && others - mine <= 1);
    CHECK_EQ(a.calls, 1);
    CHECK_EQ(a.flags, NEW_CONCURRENCY);
    CHECK_EQ(tcm.deactivate(b.permit), TCM_SUCCESS);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    CHECK_EQ(a.calls, 2);
    /* Idle threads go to the permit that wants more. */
    CHECK_EQ(tcm.idle(a.permit), TCM_SUCCESS);
    CHECK_EQ(tcm.activate(b.permit), TCM_SUCCESS);
    CHECK_EQ(threads_of(a.permit, INACTIVE), 0);
    CHECK_EQ(a.flags, NEW_CONCURRENCY | NEW_STATE);
    CHECK_EQ(threads_of(b.permit, ACTIVE), processors);
    CHECK_EQ(tcm.release(a.permit), TCM_SUCCESS);
    CHECK_EQ(tcm.release(b.permit), TCM_SUCCESS);
}

/* The pool keeps to a permit's least number; a permit that cannot have its least number waits. */
static void some_insist(void) {
    struct client a = {0}, b = {0}, c = {0};
    want(first, &a, processors, processors, RIGID);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    want(second, &b, 1, 1, 0);
    CHECK_EQ(threads_of(b.permit, PENDING), 0);
    want(second, &c, 0, processors, 0);
    CHECK_EQ(threads_of(c.permit, ACTIVE), 0);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    CHECK_EQ(tcm.release(a.permit), TCM_SUCCESS);
    CHECK_EQ(b.flags, NEW_CONCURRENCY | NEW_STATE);
    CHECK_EQ(threads_of(b.permit, ACTIVE), 1);
    CHECK_EQ(threads_of(c.permit, ACTIVE), processors - 1);
    CHECK_EQ(tcm.release(b.permit), TCM_SUCCESS);
    CHECK_EQ(tcm.release(c.permit), TCM_SUCCESS);
}

static void nonsense_is_refused(void) {
    handle permit = NULL;
    struct permit data = {0};
    CHECK_EQ(tcm.connect(told, NULL), TCM_INVALID);
    CHECK_EQ(tcm.disconnect(12345), TCM_INVALID);
    CHECK_EQ(tcm.request(first, ask(2, 1, 0), NULL, &permit, NULL), TCM_INVALID);
    CHECK_EQ(tcm.request(first, ask(processors + 1, processors + 1, 0), NULL, &permit, NULL),
             TCM_INVALID);
    CHECK_EQ(tcm.request(12345, ask(0, 1, 0), NULL, &permit, NULL), TCM_INVALID);
    CHECK_EQ(tcm.request(first, ask(0, 1, 0), NULL, NULL, NULL), TCM_INVALID);
    CHECK(permit == NULL);
    CHECK_EQ(tcm.data(NULL, &data), TCM_INVALID);
    CHECK_EQ(tcm.activate(NULL), TCM_INVALID);
    char text[200] = "";
    CHECK_EQ(tcm.version(text, sizeof text), TCM_SUCCESS);
    CHECK(strstr(text, "Capstan") != NULL && strstr(text, "off") == NULL);
}

static int region_size(int threads) {
    int size = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

static int default_size(void) {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

static void a_region_takes_what_is_left(void) {
    struct client a = {0};
    CHECK_EQ(default_size(), processors);
    /* The region runs beside a permit that insists on all threads. */
    want(first, &a, processors, processors, RIGID);
    CHECK_EQ(default_size(), 1);
    CHECK_EQ(region_size(processors), processors);
    CHECK_EQ(tcm.release(a.permit), TCM_SUCCESS);
    CHECK_EQ(default_size(), processors);
    /* A region that got too few threads has a claim: the permit gives up part of its threads. */
    pause_ms(50); /* longer than a claim lasts */
    a = (struct client){0};
    want(first, &a, 0, processors, 0);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    for (int i = 0; i < 1000 && threads_of(a.permit, ACTIVE) > (processors + 1) / 2; i++) {
        pause_ms(2);
        default_size();
    }
    CHECK(threads_of(a.permit, ACTIVE) <= (processors + 1) / 2);
    CHECK(default_size() >= processors / 2);
    CHECK(a.calls > 0 || processors == 1);
    /* The permit gets its threads back. */
    pause_ms(50);
    CHECK_EQ(tcm.activate(a.permit), TCM_SUCCESS);
    CHECK_EQ(threads_of(a.permit, ACTIVE), processors);
    CHECK_EQ(tcm.release(a.permit), TCM_SUCCESS);
}

/* A region of all processors leaves no thread for another pool. */
static void a_permit_takes_what_is_left(void) {
    struct client a = {0};
#pragma omp parallel num_threads(processors)
    {
#pragma omp single
        {
            want(first, &a, 0, processors, 0);
            CHECK_EQ(threads_of(a.permit, ACTIVE), processors > 1 ? 0 : 1);
        }
    }
    /* The end of this region, or of a later one, tells the permit. */
    for (int i = 0; i < 1000 && threads_of(a.permit, ACTIVE) == 0; i++) {
        pause_ms(2);
        region_size(2);
    }
    CHECK(threads_of(a.permit, ACTIVE) > 0);
    CHECK_EQ(tcm.release(a.permit), TCM_SUCCESS);
}

int main(void) {
    test_limit(60);
    processors = omp_get_num_procs();
    tcm_open();
    CHECK_EQ(tcm.connect(told, &first), TCM_SUCCESS);
    CHECK_EQ(tcm.connect(told, &second), TCM_SUCCESS);
    a_permit_has_states();
    two_share();
    some_insist();
    nonsense_is_refused();
    a_region_takes_what_is_left();
    a_permit_takes_what_is_left();
    /* Permits end with their pool. */
    handle left = NULL;
    CHECK_EQ(tcm.request(second, ask(0, 1, 0), NULL, &left, NULL), TCM_SUCCESS);
    CHECK_EQ(tcm.disconnect(second), TCM_SUCCESS);
    CHECK_EQ(tcm.release(left), TCM_INVALID);
    CHECK_EQ(tcm.disconnect(first), TCM_SUCCESS);
    return 0;
}
