/* core/budget/ledger.h: the ledger of processes that share processors balances, whichever process
 * is killed, at any time.
 *
 * The checker: 64 threads in 8 processes take and give back processors 500 000 times, while
 * processes are killed at random and others start. Live processes never have more processors than
 * the ledger holds, and no two have the same processor. In the end all processors are free.
 *
 * test: alone
 * test: timeout 120
 * test: not qemu qemu's /proc/self/stat differs from the file that other processes read
 */
#include "unit.h"

#include "core/budget/ledger.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { PROCESSES = 8, THREADS = 8, PROCESSORS = 6, GRANTS = 500000, KILLS = 40, LIVES = 128 };

static struct books {
    struct cst_ledger ledger;
    uint64_t mask[CST_CPU_MASK_WORDS];
    /* A byte for each process: the number of processors that its threads report, and LIVES until it
     * is killed. All bytes are in one word, so that a look sees them at the same moment. */
    _Atomic uint64_t tallies;
    _Atomic uint32_t grants, wrong;
} * books;

static void begin(void) {
    books = mmap(NULL, sizeof *books, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    UNIT_CHECK(books != MAP_FAILED);
    /* The processors lie in two words of the mask, with gaps between them. */
    for (int i = 0; i < PROCESSORS; i++) books->mask[i % 2] |= 1ull << (i * 9);
    UNIT_CHECK(cst_process_identity() != 0);
}

static void end(void) {
    munmap(books, sizeof *books);
}

static uint32_t take(uint64_t process, uint32_t count) {
    return cst_ledger_take(&books->ledger, process, books->mask, 0, count, true);
}

static void give_back(uint64_t process, uint32_t count) {
    cst_ledger_return(&books->ledger, process, books->mask, 0, count);
}

static uint32_t free_words(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CST_LEDGER_PROCESSORS; i++)
        if (books->mask[i / 64] >> i % 64 & 1)
            count += cst_load_relaxed(&books->ledger.owners[i]) == 0;
    return count;
}

/* --- by one process -------------------------------------------------------------------------- */

static void identities(void) {
    uint64_t own = cst_process_identity();
    UNIT_CHECK(own != 0 && cst_process_lives(own));
    UNIT_CHECK(!cst_process_lives(own + (1ull << 24))); /* same number, another start */
    pid_t child = fork();
    if (child == 0) {
        for (;;) pause();
    }
    /* A process that was killed, but not waited for, does not live. */
    uint64_t its = (own >> 24 << 24) | (uint64_t)child;
    for (int i = 0; i < 1000 && !cst_process_lives(its); i++) its += 1ull << 24;
    UNIT_CHECK(cst_process_lives(its));
    kill(child, SIGKILL);
    siginfo_t ended;
    UNIT_EQUAL(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    UNIT_CHECK(!cst_process_lives(its));
    waitpid(child, NULL, 0);
    UNIT_CHECK(!cst_process_lives(its));
}

static void grants(void) {
    begin();
    uint64_t own = cst_process_identity();
    UNIT_EQUAL(take(own, 4), 4);
    UNIT_EQUAL(take(own, 4), 2);
    UNIT_EQUAL(free_words(), 0);
    UNIT_EQUAL(take(own, 1), 0);
    give_back(own, 5);
    UNIT_EQUAL(free_words(), 5);
    give_back(own, 1);
    UNIT_EQUAL(free_words(), PROCESSORS);
    UNIT_EQUAL(take(own, 0), 0);
    /* No owner outside the mask was touched. */
    for (uint32_t i = 0; i < CST_LEDGER_PROCESSORS; i++)
        UNIT_EQUAL(cst_load_relaxed(&books->ledger.owners[i]), 0);
    end();
}

static void the_dead_have_nothing(void) {
    begin();
    pid_t child = fork();
    if (child == 0) {
        uint64_t own = cst_process_identity();
        cst_ledger_join(&books->ledger, own);
        take(own, PROCESSORS);
        raise(SIGKILL);
    }
    siginfo_t ended;
    waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT);
    UNIT_EQUAL(free_words(), 0);
    uint64_t own = cst_process_identity();
    UNIT_EQUAL(cst_ledger_take(&books->ledger, own, books->mask, 0, 2, false), 0);
    UNIT_EQUAL(take(own, PROCESSORS), PROCESSORS);
    waitpid(child, NULL, 0);
    end();
}

static void other_layouts_are_refused(void) {
    begin();
    cst_store_relaxed(&books->ledger.layout, CST_LEDGER_LAYOUT + 1);
    UNIT_CHECK(cst_ledger_join(&books->ledger, cst_process_identity()) == NULL);
    end();
}

/* A process that executes another program keeps its identity. */
static void joining_anew_frees(void) {
    begin();
    uint64_t own = cst_process_identity();
    struct cst_ledger_member *member = cst_ledger_join(&books->ledger, own);
    take(own, 3);
    UNIT_CHECK(cst_ledger_join(&books->ledger, own) == member);
    UNIT_EQUAL(free_words(), PROCESSORS);
    cst_ledger_leave(&books->ledger, member);
    UNIT_EQUAL(cst_load_relaxed(&member->process), 0);
    end();
}

/* --- parts ----------------------------------------------------------------------------------- */

static struct cst_ledger_member *member(uint64_t process, uint32_t wants, uint64_t processors) {
    struct cst_ledger_member *member = cst_ledger_join(&books->ledger, process);
    cst_store_relaxed(&member->wants, wants);
    cst_store_relaxed(&member->processors, processors);
    cst_store_relaxed(&member->until, 1000);
    return member;
}

static void parts_are_fair(void) {
    begin();
    uint64_t own = cst_process_identity();
    struct cst_ledger_member *a = member(own, 8, 1), *b = member(own + (1ull << 40), 8, 1),
                             *c = member(own + (2ull << 40), 2, 1);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, a, 8, 10), 3);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, b, 8, 10), 3);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, c, 8, 10), 2);
    /* The remainder of the division goes to the first member. */
    UNIT_EQUAL(cst_ledger_part(&books->ledger, a, 9, 10), 4);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, b, 9, 10), 3);
    /* Every member has at least one. */
    UNIT_EQUAL(cst_ledger_part(&books->ledger, c, 2, 10), 1);
    /* A member with other processors takes no part, nor does a member that was idle for a while. */
    cst_store_relaxed(&b->processors, 2);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, a, 8, 10), 6);
    cst_store_relaxed(&c->until, 5);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, a, 8, 10), 8);
    /* An idle member takes part if it has a region under way, but this member's process does not
     * live. */
    cst_store_relaxed(&c->regions, 1);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, a, 8, 10), 8);
    UNIT_EQUAL(cst_load_relaxed(&c->process), 0);
    cst_store_relaxed(&a->until, 5);
    cst_store_relaxed(&a->regions, 1);
    cst_store_relaxed(&b->processors, 1);
    UNIT_EQUAL(cst_ledger_part(&books->ledger, b, 8, 10), 4);
    end();
}

/* --- the checker ----------------------------------------------------------------------------- */

static uint64_t process;
static int place;

static uint64_t in_tally(int number, uint64_t value) {
    return value << 8 * number;
}

/* To be called after the processors were taken. */
static void claim(uint32_t count) {
    uint64_t own = in_tally(place, count), tallies = cst_add_seq_cst(&books->tallies, own) + own;
    uint32_t sum = 0;
    for (; tallies; tallies >>= 8)
        if (tallies & LIVES) sum += tallies % LIVES;
    if (sum > PROCESSORS) cst_add_seq_cst(&books->wrong, 1);
}

static void *customer(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    while (cst_add_seq_cst(&books->grants, 1) < GRANTS) {
        bool look = rand_r(&seed) % 16 == 0;
        uint32_t count = cst_ledger_take(&books->ledger, process, books->mask, 0,
                                         1 + rand_r(&seed) % PROCESSORS, look);
        claim(count);
        for (unsigned i = rand_r(&seed) % 200; i > 0; i--) cst_compiler_barrier();
        if (rand_r(&seed) % 8 == 0) cst_yield();
        cst_add_seq_cst(&books->tallies, -in_tally(place, count));
        give_back(process, count);
    }
    return NULL;
}

static pid_t start(int number) {
    cst_add_seq_cst(&books->tallies, in_tally(number, LIVES));
    pid_t child = fork();
    if (child != 0) return child;
    pthread_t threads[THREADS];
    place = number;
    process = cst_process_identity();
    if (!cst_ledger_join(&books->ledger, process)) _exit(2);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, customer, (void *)(number * 100 + i + 1))) _exit(3);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    /* The process owns nothing any more. */
    for (uint32_t i = 0; i < CST_LEDGER_PROCESSORS; i++)
        if (cst_load_relaxed(&books->ledger.owners[i]) == process) _exit(4);
    _exit(0);
}

static void the_books_balance(void) {
    begin();
    pid_t children[PROCESSES];
    unsigned seed = 1, kills = 0;
    for (int i = 0; i < PROCESSES; i++) children[i] = start(i);
    while (cst_load_seq_cst(&books->grants) < GRANTS) {
        struct timespec moment = {.tv_nsec = 1000000 + rand_r(&seed) % 4000000};
        nanosleep(&moment, NULL);
        if (kills == KILLS) continue;
        int i = (int)(rand_r(&seed) % PROCESSES);
        cst_add_seq_cst(&books->tallies, -in_tally(i, LIVES));
        kill(children[i], SIGKILL);
        int status = 0;
        waitpid(children[i], &status, 0);
        uint64_t left = cst_load_seq_cst(&books->tallies) & in_tally(i, LIVES - 1);
        cst_add_seq_cst(&books->tallies, -left);
        UNIT_CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        children[i] = start(i);
        kills++;
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        waitpid(children[i], &status, 0);
        UNIT_EQUAL(status, 0);
    }
    UNIT_EQUAL(cst_load_seq_cst(&books->wrong), 0);
    UNIT_CHECK(kills > 0);
    /* The processors of killed processes are free at once, and no other is missing. */
    uint64_t own = cst_process_identity();
    UNIT_EQUAL(take(own, PROCESSORS), PROCESSORS);
    give_back(own, PROCESSORS);
    UNIT_EQUAL(free_words(), PROCESSORS);
    end();
}

int main(void) {
    unit_limit(100);
    UNIT_RUN(identities);
    UNIT_RUN(grants);
    UNIT_RUN(the_dead_have_nothing);
    UNIT_RUN(other_layouts_are_refused);
    UNIT_RUN(joining_anew_frees);
    UNIT_RUN(parts_are_fair);
    UNIT_RUN(the_books_balance);
    return unit_result();
}
