/* core/wait/announce.h: regions that begin after one question each. core/wait/turn.h: a master that
 * announces a region waits until it fits.
 */
#include "unit.h"

#include "core/host/busy.h"
#include "core/settings/config.h"
#include "core/wait/announce.h"
#include "core/wait/policy.h"
#include "core/wait/turn.h"
#include "platform/platform.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { PROCESSORS = 2 };

static struct cst_thread first, second;
static _Atomic bool has_turn;

/* --- the verdict on a site --- */

static const char code[64]; /* places in the code */

static bool asks(struct cst_asking *asking, int place) {
    return cst_announce_asks(asking, &code[place]);
}

static void ask_and_open(struct cst_asking *asking, int place, int times) {
    for (int i = 0; i < times; i++) {
        (void)asks(asking, place);
        cst_announce_opens(asking);
    }
}

static void all_threads_learn_from_the_first_regions(void) {
    struct cst_asking asking = {0}, other = {0};
    for (int i = 0; i < CST_ANNOUNCE_LEARNED; i++) {
        UNIT_CHECK(!asks(&asking, 0));
        cst_announce_opens(&asking);
    }
    UNIT_CHECK(asks(&asking, 0));
    UNIT_CHECK(asks(&other, 0));
    UNIT_CHECK(!asks(&(struct cst_asking){0}, 1));
}

static void a_question_without_a_region_is_just_a_question(void) {
    struct cst_asking asking = {0};
    ask_and_open(&asking, 2, CST_ANNOUNCE_LEARNED);
    UNIT_CHECK(asks(&asking, 2));
    (void)asks(&asking, 3); /* the other site brought no region */
    cst_announce_opens(&asking);
    for (int i = 0; i < CST_ANNOUNCE_LEARNED + CST_ANNOUNCE_NO_REGION; i++) {
        UNIT_CHECK(!asks(&asking, 2));
        cst_announce_opens(&asking);
    }
    UNIT_CHECK(asks(&asking, 2));
}

static void a_region_without_a_question_changes_nothing(void) {
    struct cst_asking asking = {0};
    ask_and_open(&asking, 4, CST_ANNOUNCE_LEARNED);
    cst_announce_opens(&asking);
    cst_announce_opens(&asking);
    UNIT_CHECK(asks(&asking, 4));
}

static struct cst_turn_from announce(struct cst_thread *thread, struct cst_team *team) {
    struct cst_turn_from from;
    cst_turn_announce(thread, PROCESSORS, team, &from);
    return from;
}

static void begin(struct cst_thread *thread) {
    const struct cst_turn turn = {.threads = PROCESSORS};
    struct cst_turn_from from;
    UNIT_EQUAL(cst_turn_take(thread, &turn, &from), PROCESSORS);
}

static void regions_beside_others_teach_nothing(void) {
    struct cst_asking asking = {0};
    begin(&first);
    ask_and_open(&asking, 5, 2 * CST_ANNOUNCE_LEARNED);
    cst_turn_return(PROCESSORS);
    UNIT_CHECK(!asks(&asking, 5));
}

static void a_wait_in_vain_refutes(void) {
    struct cst_asking asking = {0};
    ask_and_open(&asking, 6, CST_ANNOUNCE_LEARNED);
    UNIT_CHECK(asks(&asking, 6));
    asking.vain = true;
    cst_announce_opens(&asking); /* the other region has ended: there was a reason to wait */
    UNIT_CHECK(asks(&asking, 6));
    asking.vain = true;
    begin(&first);
    cst_announce_opens(&asking);
    cst_turn_return(PROCESSORS);
    ask_and_open(&asking, 6, CST_ANNOUNCE_IN_VAIN);
    UNIT_CHECK(!asks(&asking, 6));
}

/* --- the wait for a turn --- */

enum { BELIEVED = 7 };

/* The thread asks at a site that is believed. */
static void question(struct cst_thread *thread) {
    memset(&thread->asking, 0, sizeof thread->asking);
    UNIT_CHECK(asks(&thread->asking, BELIEVED));
}

static void *announce_second(void *unused) {
    (void)unused;
    (void)announce(&second, NULL);
    cst_store_release(&has_turn, true);
    begin(&second);
    cst_turn_return(PROCESSORS);
    return NULL;
}

/* Starts the second master, and waits until it stands in the line. */
static pthread_t start_second(void) {
    pthread_t thread;
    cst_store_relaxed(&has_turn, false);
    question(&second);
    UNIT_EQUAL(pthread_create(&thread, NULL, announce_second, NULL), 0);
    while (cst_load_relaxed(&cst_turn_waiting) == 0) sched_yield();
    return thread;
}

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void a_master_waits_for_a_region(void) {
    question(&first);
    UNIT_CHECK(announce(&first, NULL).team == NULL);
    begin(&first);
    pthread_t thread = start_second();
    sleep_ms(20); /* some looks */
    UNIT_CHECK(!cst_load_acquire(&has_turn));
    cst_turn_return(PROCESSORS);
    pthread_join(thread, NULL); /* by its own look, as there is no worker */
    UNIT_CHECK(cst_load_acquire(&has_turn));
    UNIT_EQUAL(cst_load_relaxed(&cst_turn_waiting), 0);
    UNIT_EQUAL(cst_busy_threads(), 0);
}

/* The second master is in line. The first has had its turn, so it goes to the end of the line. Two
 * kinds of run tell nothing. The second may be late by the time for which an announcement holds. Or
 * it loses its processor while it has the line's lock: then the first does not wait. */
static void a_master_that_waits_passes_the_turn_on(void) {
    bool passed, tells;
    do {
        question(&first);
        (void)announce(&first, NULL);
        begin(&first);
        pthread_t thread = start_second();
        uint64_t start = cst_clock_ns();
        cst_turn_return(PROCESSORS);
        sleep_ms(2 * CST_TURN_SLICE_NS / 1000000);
        question(&first);
        (void)announce(&first, NULL);
        passed = cst_load_acquire(&has_turn);
        tells = cst_clock_ns() - start < CST_ANNOUNCE_FIRST_NS && first.asking.era != 0;
        begin(&first);
        cst_turn_return(PROCESSORS);
        pthread_join(thread, NULL);
    } while (!passed && !tells);
    UNIT_CHECK(passed);
    UNIT_EQUAL(cst_busy_threads(), 0);
}

/* Another master finds out that it has waited at the same site in vain. The waiter leaves, though
 * there is progress. */
static void a_refuted_site_ends_the_wait(void) {
    struct cst_asking other = {0};
    begin(&first);
    pthread_t thread = start_second();
    UNIT_CHECK(asks(&other, BELIEVED));
    other.vain = true;
    cst_announce_opens(&other);
    for (int i = 0; i < 30 && cst_load_relaxed(&cst_turn_waiting) != 0; i++) {
        begin(&first);
        cst_turn_return(PROCESSORS);
        sleep_ms(50);
    }
    UNIT_EQUAL(cst_load_relaxed(&cst_turn_waiting), 0);
    cst_turn_return(PROCESSORS);
    pthread_join(thread, NULL);
}

/* The other region does not end. The master goes ahead. */
static void patience_ends(void) {
    begin(&first);
    pthread_t thread = start_second();
    pthread_join(thread, NULL);
    UNIT_CHECK(second.asking.vain);
    UNIT_EQUAL(cst_load_relaxed(&cst_turn_waiting), 0);
    cst_turn_return(PROCESSORS);
}

/* No announced region comes. The next master waits for it, and longer each time. The times count
 * from the first announcement: this thread may be late between two of them. */
static void regions_that_do_not_come(void) {
    struct cst_thread *next[] = {&first, &second};
    uint64_t start = cst_clock_ns(), least = 0;
    question(&first);
    (void)announce(&first, NULL);
    for (unsigned i = 0; i < 3; i++) {
        least += (uint64_t)CST_ANNOUNCE_FIRST_NS << i;
        question(next[(i + 1) % 2]);
        (void)announce(next[(i + 1) % 2], NULL);
        UNIT_CHECK(cst_clock_ns() - start >= least);
    }
    begin(&second);
    cst_turn_return(PROCESSORS);
}

/* Begins a region every 50 ms, for four times the patience of the waiting master. Returns the
 * longest time from one to the next: this thread may be late. */
static uint64_t begin_regions(void) {
    uint64_t start = cst_clock_ns(), last = start, longest = 0;
    while (last - start < 4ull * CST_ANNOUNCE_PATIENCE_NS) {
        sleep_ms(50);
        begin(&first);
        cst_turn_return(PROCESSORS);
        uint64_t now = cst_clock_ns();
        if (now - last > longest) longest = now - last;
        last = now;
    }
    return longest;
}

/* The processors are never free, but regions of other masters begin. The master keeps its patience.
 * A run with a long pause between regions tells nothing. */
static void other_regions_are_progress(void) {
    uint64_t longest;
    bool has;
    do {
        begin(&first);
        pthread_t thread = start_second();
        longest = begin_regions();
        has = cst_load_acquire(&has_turn);
        cst_turn_return(PROCESSORS);
        pthread_join(thread, NULL);
    } while (longest > CST_ANNOUNCE_PATIENCE_NS / 2);
    UNIT_CHECK(!has);
    UNIT_CHECK(!second.asking.vain);
}

int main(void) {
    unit_limit(60);
    cst_config.available = PROCESSORS;
    UNIT_RUN(all_threads_learn_from_the_first_regions);
    UNIT_RUN(a_question_without_a_region_is_just_a_question);
    UNIT_RUN(a_region_without_a_question_changes_nothing);
    UNIT_RUN(regions_beside_others_teach_nothing);
    UNIT_RUN(a_wait_in_vain_refutes);
    ask_and_open(&first.asking, BELIEVED, CST_ANNOUNCE_LEARNED);
    UNIT_RUN(a_master_waits_for_a_region);
    UNIT_RUN(a_master_that_waits_passes_the_turn_on);
    UNIT_RUN(regions_that_do_not_come);
    UNIT_RUN(other_regions_are_progress);
    UNIT_RUN(patience_ends);
    UNIT_RUN(a_refuted_site_ends_the_wait);
    return unit_result();
}
