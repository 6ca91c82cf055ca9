/* The promises of platform.h for any processor: the rate of its counter, the time of a turn of a
 * spin loop (platform/linux/relax.c), and its floating-point modes.
 *
 * test: flags -lm
 */
#include "unit.h"

#include "platform/platform.h"

#include <fenv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* The nanoseconds by which the clock advances at each look; the last value is repeated. NULL: the
 * true time. */
static const unsigned *script;

int clock_gettime(clockid_t clock, struct timespec *time) {
    static uint64_t now;
    if (!script) return (int)syscall(SYS_clock_gettime, clock, time);
    now += *script;
    if (script[1] != 0) script++;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000),
                              .tv_nsec = (long)(now % 1000000000)};
    return 0;
}

/* Returns the result of `find` in a child whose clock follows `steps`. */
static uint32_t found(const unsigned *steps, uint32_t (*find)(void)) {
    int ends[2];
    uint32_t answer = 0;
    UNIT_EQUAL(pipe(ends), 0);
    if (fork() == 0) {
        script = steps;
        answer = find();
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    UNIT_EQUAL(read(ends[0], &answer, sizeof answer), sizeof answer);
    close(ends[0]);
    close(ends[1]);
    wait(NULL);
    return answer;
}

/* Each of three rounds has two looks at the clock, 32 turns, and a third look. */
static void shortest_round_counts(void) {
    static const unsigned steps[] = {1,  700, 10000000, 9000, 500, 500 + 32 * 40,
                                     50, 600, 32 * 63,  0};
    UNIT_EQUAL(found(steps, cst_cpu_relax_ns), 40);
}

static void coarse_clock(void) {
    static const unsigned stands[] = {1, 1, 1, 1, 1, 1, 1, 1, 32, 0};
    static const unsigned leaps[] = {1, 1, 1000000, 1, 1, 1000000, 1, 1, 1000000, 0};
    UNIT_EQUAL(found(stands, cst_cpu_relax_ns), 1);
    UNIT_EQUAL(found(leaps, cst_cpu_relax_ns), 1000);
}

/* The test takes the shortest of many tries on both sides, so that a neighbour on this processor
 * has no effect. */
static void measured_is_true(void) {
    enum { TURNS = 2000, TRIES = 300 };
    uint64_t each = UINT64_MAX, shortest = UINT64_MAX;
    for (int try = 0; try < TRIES; try++) {
        uint32_t said = cst_cpu_relax_ns();
        uint64_t from = cst_clock_ns();
        for (int turn = 0; turn < TURNS; turn++) cst_cpu_relax();
        uint64_t took = cst_clock_ns() - from;
        if (took < shortest) shortest = took;
        if (said < each) each = said;
    }
    /* The answer is cut to whole nanoseconds. */
    if (shortest < TURNS * each / 3 || shortest > 3 * TURNS * (each + 1))
        UNIT_STOP("%d turns last %llu ns, and one is said to last %llu", TURNS,
                  (unsigned long long)shortest, (unsigned long long)each);
}

static void counter_has_its_rate(void) {
    struct timespec some = {.tv_nsec = 20000000};
    uint64_t longest = cst_clock_ns(), ticks = cst_clock_ticks(), shortest = cst_clock_ns();
    nanosleep(&some, NULL);
    shortest = cst_clock_ns() - shortest;
    ticks = cst_clock_ticks() - ticks;
    longest = cst_clock_ns() - longest;
    if (ticks < shortest * 9 / 10 || ticks > 6 * longest)
        UNIT_STOP("%llu ticks in %llu to %llu ns", (unsigned long long)ticks,
                  (unsigned long long)shortest, (unsigned long long)longest);
}

/* Divides now: the compiler does not know the mode, and would compute the quotient at another
 * time. */
static double third(void) {
    static volatile double one = 1, result;
    return result = one / 3;
}

static void computes_as_told(void) {
    uint64_t nearest = cst_float_mode();
    double usual = third();
    fesetround(FE_UPWARD);
    uint64_t upward = cst_float_mode();
    cst_float_adopt(nearest);
    UNIT_EQUAL(fegetround(), FE_TONEAREST);
    UNIT_CHECK(third() == usual);
    cst_float_adopt(upward);
    UNIT_EQUAL(fegetround(), FE_UPWARD);
    UNIT_CHECK(third() > usual);
    cst_float_adopt(nearest);
    feraiseexcept(FE_INEXACT);
    UNIT_CHECK(cst_float_mode() == nearest);
    cst_float_adopt(nearest);
    UNIT_CHECK(fetestexcept(FE_INEXACT) != 0);
}

int main(void) {
    unit_limit(20);
    UNIT_RUN(shortest_round_counts);
    UNIT_RUN(coarse_clock);
    UNIT_RUN(measured_is_true);
    UNIT_RUN(counter_has_its_rate);
    UNIT_RUN(computes_as_told);
    return unit_result();
}
