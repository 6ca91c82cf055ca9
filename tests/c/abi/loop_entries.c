/* The loop entry points that this compiler never emits, or emits in cases that nobody can foresee.
 * The test calls them by prototype: every start with every next, signed and unsigned, ordered, in
 * the old and the new form.
 * test: env OMP_SCHEDULE=guided,3
 * test: env OMP_SCHEDULE=static
 * test: env OMP_SCHEDULE=dynamic,2
 */
#include "testing.h"
#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>

typedef unsigned long long ull;
typedef bool next(long *, long *);
typedef bool ull_next(ull *, ull *);

enum { TRIPS = 120, FIRST = 1000, STEP = 3 };

static int times[TRIPS], in_order, checked;

void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void GOMP_loop_end(void);
bool GOMP_loop_end_cancel(void);
bool GOMP_sections_end_cancel(void);
void GOMP_loop_end_nowait(void);
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);

static void visit(long k) {
    CHECK(k >= 0 && k < TRIPS);
    INCREMENT(&times[k]);
    if (k % 50 == 7) sched_yield();
    if (in_order) {
        GOMP_ordered_start();
        CHECK_EQ(checked, k);
        checked++;
        GOMP_ordered_end();
    }
}

static void chunk(long from, long to, long step) {
    for (long i = from; step > 0 ? i < to : i > to; i += step) visit((i - FIRST) / step);
}

static void ull_chunk(ull from, ull to, bool up) {
    if (up)
        for (ull i = from; i < to; i += STEP) visit((long)((i - FIRST) / STEP));
    else
        for (ull i = from; i > to; i -= STEP) visit((long)((ULLONG_MAX - i) / STEP));
}

/* All members run one loop, then call its end. */
#define MEMBERS(start, next_call)                                                                  \
    _Pragma("omp parallel num_threads(size)") {                                                    \
        long from, to;                                                                             \
        if (start) do                                                                              \
                chunk(from, to, STEP);                                                             \
            while (next_call(&from, &to));                                                         \
        GOMP_loop_end();                                                                           \
        CHECK_EQ(GET(&times[TRIPS - 1]), 1);                                                       \
    }                                                                                              \
    expect(#start)

#define ULL_MEMBERS(up, start, next_call)                                                          \
    _Pragma("omp parallel num_threads(size)") {                                                    \
        ull from, to;                                                                              \
        if (start) do                                                                              \
                ull_chunk(from, to, up);                                                           \
            while (next_call(&from, &to));                                                         \
        GOMP_loop_end();                                                                           \
        CHECK_EQ(GET(&times[TRIPS - 1]), 1);                                                       \
    }                                                                                              \
    expect(#start)

static void expect(const char *what) {
    for (int k = 0; k < TRIPS; k++) {
        if (times[k] != 1) fprintf(stderr, "%s: iteration %d: %d times\n", what, k, times[k]);
        CHECK_EQ(times[k], 1);
        times[k] = 0;
    }
    if (in_order) CHECK_EQ(checked, TRIPS);
    checked = 0;
}

#define LAST (FIRST + TRIPS * STEP)
#define KIND(name)                                                                                 \
    bool GOMP_loop_##name##_start(long, long, long, long, long *, long *);                         \
    next GOMP_loop_##name##_next;                                                                  \
    bool GOMP_loop_ull_##name##_start(bool, ull, ull, ull, ull, ull *, ull *);                     \
    ull_next GOMP_loop_ull_##name##_next;
#define RUNTIME_KIND(name)                                                                         \
    bool GOMP_loop_##name##_start(long, long, long, long *, long *);                               \
    next GOMP_loop_##name##_next;                                                                  \
    bool GOMP_loop_ull_##name##_start(bool, ull, ull, ull, ull *, ull *);                          \
    ull_next GOMP_loop_ull_##name##_next;

KIND(static)
KIND(dynamic)
KIND(guided)
KIND(nonmonotonic_dynamic)
KIND(nonmonotonic_guided)
KIND(ordered_static)
KIND(ordered_dynamic)
KIND(ordered_guided)
RUNTIME_KIND(runtime)
RUNTIME_KIND(nonmonotonic_runtime)
RUNTIME_KIND(maybe_nonmonotonic_runtime)
RUNTIME_KIND(ordered_runtime)

#define UP_AND_DOWN(name, ...)                                                                     \
    MEMBERS(GOMP_loop_##name##_start(FIRST, LAST, STEP, ##__VA_ARGS__, &from, &to),                \
            GOMP_loop_##name##_next);                                                              \
    ULL_MEMBERS(true,                                                                              \
                GOMP_loop_ull_##name##_start(true, FIRST, LAST, STEP, ##__VA_ARGS__, &from, &to),  \
                GOMP_loop_ull_##name##_next);                                                      \
    ULL_MEMBERS(false,                                                                             \
                GOMP_loop_ull_##name##_start(false, ULLONG_MAX, ULLONG_MAX - (ull)TRIPS * STEP,    \
                                             -(ull)STEP, ##__VA_ARGS__, &from, &to),               \
                GOMP_loop_ull_##name##_next)

static void every_kind(int size, long chunk_size) {
    in_order = 0;
    if (chunk_size) {
        UP_AND_DOWN(dynamic, chunk_size);
        UP_AND_DOWN(guided, chunk_size);
        UP_AND_DOWN(nonmonotonic_dynamic, chunk_size);
        UP_AND_DOWN(nonmonotonic_guided, chunk_size);
    }
    UP_AND_DOWN(static, chunk_size);
    UP_AND_DOWN(runtime);
    UP_AND_DOWN(nonmonotonic_runtime);
    UP_AND_DOWN(maybe_nonmonotonic_runtime);
    in_order = 1;
    UP_AND_DOWN(ordered_static, chunk_size);
    if (chunk_size) {
        UP_AND_DOWN(ordered_dynamic, chunk_size);
        UP_AND_DOWN(ordered_guided, chunk_size);
    }
    UP_AND_DOWN(ordered_runtime);
    in_order = 0;
}

/* The general start since GCC 9: it takes the schedule as a number, reductions, and memory for the
 * construct. */
bool GOMP_loop_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
bool GOMP_loop_ordered_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
bool GOMP_loop_ull_start(bool, ull, ull, ull, long, ull, ull *, ull *, uintptr_t *, void **);
bool GOMP_loop_ull_ordered_start(bool, ull, ull, ull, long, ull, ull *, ull *, uintptr_t *,
                                 void **);

/* AUTO stands for a runtime schedule with the modifier nonmonotonic. */
enum { RUNTIME = 0, STATIC = 1, DYNAMIC = 2, GUIDED = 3, AUTO = 4 };
#define MONOTONIC (-0x7fffffffL - 1)

/* The memory is one block for the team, filled with zeros at first. */
static void use_memory(void *memory, int size) {
    int *counter = memory;
    CHECK((uintptr_t)memory % 8 == 0);
    int mine = INCREMENT(counter);
    CHECK(mine >= 1 && mine <= size);
}

static void one_start(int size, long schedule) {
    next *follow = schedule == RUNTIME || schedule == AUTO ? GOMP_loop_runtime_next
                   : (schedule & 7) == DYNAMIC             ? GOMP_loop_dynamic_next
                   : (schedule & 7) == GUIDED              ? GOMP_loop_guided_next
                                                           : GOMP_loop_static_next;
    ull_next *ull_follow = schedule == RUNTIME || schedule == AUTO ? GOMP_loop_ull_runtime_next
                           : (schedule & 7) == DYNAMIC             ? GOMP_loop_ull_dynamic_next
                           : (schedule & 7) == GUIDED              ? GOMP_loop_ull_guided_next
                                                                   : GOMP_loop_ull_static_next;
    int count = 0;
#pragma omp parallel num_threads(size)
    {
        long from, to;
        void *memory = (void *)(uintptr_t)24;
        bool some = GOMP_loop_start(FIRST, LAST, STEP, schedule, 4, &from, &to, NULL, &memory);
        use_memory(memory, size);
        INCREMENT(&count);
        if (some) do
                chunk(from, to, STEP);
            while (follow(&from, &to));
        GOMP_loop_end();
        ull ufrom, uto;
        memory = (void *)(uintptr_t)24;
        some =
            GOMP_loop_ull_start(true, FIRST, LAST, STEP, schedule, 4, &ufrom, &uto, NULL, &memory);
        use_memory(memory, size);
        for (int k = 0; k < TRIPS; k++) CHECK(GET(&times[k]) >= 1);
        if (some) do
                ull_chunk(ufrom, uto, true);
            while (ull_follow(&ufrom, &uto));
        GOMP_loop_end_nowait();
    }
    CHECK_EQ(count, size);
    for (int k = 0; k < TRIPS; k++) {
        CHECK_EQ(times[k], 2);
        times[k] = 1;
    }
    expect("GOMP_loop_start");
}

static void ordered_start(int size, long schedule) {
    in_order = 1;
    next *follow = (schedule & 7) == DYNAMIC  ? GOMP_loop_ordered_dynamic_next
                   : (schedule & 7) == GUIDED ? GOMP_loop_ordered_guided_next
                                              : GOMP_loop_ordered_static_next;
    ull_next *ull_follow = (schedule & 7) == DYNAMIC  ? GOMP_loop_ull_ordered_dynamic_next
                           : (schedule & 7) == GUIDED ? GOMP_loop_ull_ordered_guided_next
                                                      : GOMP_loop_ull_ordered_static_next;
    MEMBERS(GOMP_loop_ordered_start(FIRST, LAST, STEP, schedule, 2, &from, &to, NULL, NULL),
            follow);
    ULL_MEMBERS(
        true,
        GOMP_loop_ull_ordered_start(true, FIRST, LAST, STEP, schedule, 2, &from, &to, NULL, NULL),
        ull_follow);
    in_order = 0;
}

/* Loops with cross-iteration dependences, begun by the new form of the start. */
bool GOMP_loop_doacross_start(unsigned, long *, long, long, long *, long *, uintptr_t *, void **);
bool GOMP_loop_ull_doacross_start(unsigned, ull *, long, ull, ull *, ull *, uintptr_t *, void **);
void GOMP_doacross_post(long *);
void GOMP_doacross_wait(long, ...);
void GOMP_doacross_ull_post(ull *);
void GOMP_doacross_ull_wait(ull, ...);

static int plain[TRIPS];

static void doacross(int size, long schedule) {
    for (int k = 0; k < TRIPS; k++) plain[k] = 0;
#pragma omp parallel num_threads(size)
    {
        long count[1] = {TRIPS}, from, to;
        if (GOMP_loop_doacross_start(1, count, schedule, 1, &from, &to, NULL, NULL)) do
                for (long k = from; k < to; k++) {
                    if (k % 40 == 3) sched_yield();
                    if (k > 0) GOMP_doacross_wait(k - 1);
                    plain[k] = k ? plain[k - 1] + 1 : 1;
                    GOMP_doacross_post(&k);
                }
            while ((schedule & 7) == DYNAMIC ? GOMP_loop_dynamic_next(&from, &to)
                                             : GOMP_loop_static_next(&from, &to));
        GOMP_loop_end();
        ull ucount[1] = {TRIPS}, ufrom, uto;
        if (GOMP_loop_ull_doacross_start(1, ucount, schedule, 1, &ufrom, &uto, NULL, NULL)) do
                for (ull k = ufrom; k < uto; k++) {
                    if (k % 40 == 3) sched_yield();
                    if (k > 0) GOMP_doacross_ull_wait(k - 1);
                    CHECK_EQ(plain[k], k + 1);
                    plain[k] += k ? plain[k - 1] : 0;
                    GOMP_doacross_ull_post(&k);
                }
            while ((schedule & 7) == DYNAMIC ? GOMP_loop_ull_dynamic_next(&ufrom, &uto)
                                             : GOMP_loop_ull_static_next(&ufrom, &uto));
        GOMP_loop_end();
    }
    for (int k = 0; k < TRIPS; k++) CHECK_EQ(plain[k], (k + 1) * (k + 2) / 2);
}

#define COMBINED(kind, ...)                                                                        \
    void GOMP_parallel_loop_##kind(void (*)(void *), void *, unsigned, long, long, long,           \
                                   ##__VA_ARGS__, unsigned)
COMBINED(static, long);
COMBINED(dynamic, long);
COMBINED(guided, long);
COMBINED(nonmonotonic_dynamic, long);
COMBINED(nonmonotonic_guided, long);
COMBINED(runtime);
COMBINED(nonmonotonic_runtime);
COMBINED(maybe_nonmonotonic_runtime);

static void loop_member(void *argument) {
    next *follow = *(next **)argument;
    long from, to;
    while (follow(&from, &to)) chunk(from, to, STEP);
    GOMP_loop_end_nowait();
}

static void combined(unsigned size) {
    next *follow = GOMP_loop_static_next;
    GOMP_parallel_loop_static(loop_member, &follow, size, FIRST, LAST, STEP, 2, 0);
    expect("parallel_loop_static");
    follow = GOMP_loop_dynamic_next;
    GOMP_parallel_loop_dynamic(loop_member, &follow, size, FIRST, LAST, STEP, 2, 0);
    expect("parallel_loop_dynamic");
    follow = GOMP_loop_guided_next;
    GOMP_parallel_loop_guided(loop_member, &follow, size, FIRST, LAST, STEP, 2, 0);
    expect("parallel_loop_guided");
    follow = GOMP_loop_nonmonotonic_dynamic_next;
    GOMP_parallel_loop_nonmonotonic_dynamic(loop_member, &follow, size, FIRST, LAST, STEP, 2, 0);
    expect("parallel_loop_nonmonotonic_dynamic");
    follow = GOMP_loop_nonmonotonic_guided_next;
    GOMP_parallel_loop_nonmonotonic_guided(loop_member, &follow, size, FIRST, LAST, STEP, 2, 0);
    expect("parallel_loop_nonmonotonic_guided");
    follow = GOMP_loop_runtime_next;
    GOMP_parallel_loop_runtime(loop_member, &follow, size, FIRST, LAST, STEP, 0);
    expect("parallel_loop_runtime");
    follow = GOMP_loop_nonmonotonic_runtime_next;
    GOMP_parallel_loop_nonmonotonic_runtime(loop_member, &follow, size, FIRST, LAST, STEP, 0);
    expect("parallel_loop_nonmonotonic_runtime");
    follow = GOMP_loop_maybe_nonmonotonic_runtime_next;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(loop_member, &follow, size, FIRST, LAST, STEP, 0);
    expect("parallel_loop_maybe_nonmonotonic_runtime");
}

/* A loop with more iterations than a test can execute one by one: it adds up the chunks instead.
 * Members ask again when no chunk is left; the answer must stay no. */
static void huge_range(int size, bool up, ull chunk_size) {
    ull sum = 0;
    int chunks = 0;
#pragma omp parallel num_threads(size)
    {
        ull from = 0, to = 0, first = up ? 0 : ULLONG_MAX, last = up ? ULLONG_MAX : 0;
        bool some =
            GOMP_loop_ull_dynamic_start(up, first, last, up ? 1 : -1ULL, chunk_size, &from, &to);
        for (int asked = 0; asked < 40; asked++) {
            if (some) {
                __atomic_add_fetch(&sum, up ? to - from : from - to, __ATOMIC_ACQ_REL);
                INCREMENT(&chunks);
                CHECK((up ? to - from : from - to) <= chunk_size);
            }
            some = GOMP_loop_ull_dynamic_next(&from, &to);
        }
        CHECK(!some);
        GOMP_loop_end();
    }
    CHECK(sum == ULLONG_MAX);
    CHECK_EQ(chunks, ULLONG_MAX / chunk_size + (ULLONG_MAX % chunk_size != 0));
}

static void huge_ranges(int size) {
    for (int up = 0; up < 2; up++) {
        huge_range(size, up, 1ULL << 62);
        huge_range(size, up, (1ULL << 63) + 5);
        huge_range(size, up, ULLONG_MAX / 7);
        huge_range(size, up, ULLONG_MAX);
    }
}

unsigned GOMP_sections_start(unsigned);
unsigned GOMP_sections_next(void);

/* The ends of cancellable constructs are barriers, and say whether the region was cancelled. */
static void cancellable_ends(int size) {
    for (int late = 0; late < size; late++) {
        int arrived = 0;
#pragma omp parallel num_threads(size)
        {
            long from, to;
            if (GOMP_loop_dynamic_start(0, size, 1, 1, &from, &to)) do
                    continue;
                while (GOMP_loop_dynamic_next(&from, &to));
            if (omp_get_thread_num() == late) pause_ms(3);
            INCREMENT(&arrived);
            CHECK_EQ(GOMP_loop_end_cancel(), 0);
            CHECK_EQ(GET(&arrived), size);
#pragma omp barrier
            for (unsigned s = GOMP_sections_start(2); s; s = GOMP_sections_next()) continue;
            if (omp_get_thread_num() == late) pause_ms(3);
            INCREMENT(&arrived);
            CHECK_EQ(GOMP_sections_end_cancel(), 0);
            CHECK_EQ(GET(&arrived), 2 * size);
        }
    }
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 3; size++) {
        every_kind(size, 1);
        every_kind(size, 7);
        every_kind(size, 0);
        for (long schedule = RUNTIME; schedule <= AUTO; schedule++) one_start(size, schedule);
        one_start(size, MONOTONIC | DYNAMIC);
        for (long schedule = STATIC; schedule <= GUIDED; schedule++) ordered_start(size, schedule);
        doacross(size, STATIC);
        doacross(size, DYNAMIC);
        combined((unsigned)size);
        cancellable_ends(size);
        if (size > 1) huge_ranges(size); /* a team of one may take all iterations as one chunk */
    }
    return 0;
}
