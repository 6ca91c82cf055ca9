/* Five ordinary programs that are right with teams of any size. If a call of a program fails, the
 * program does without: fewer masters, no timer. */
#ifndef FAIL_PROGRAMS_H
#define FAIL_PROGRAMS_H

#include "testing.h"

#include <capstan.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>

enum { WRONG = 3 };

/* A wrong result must differ from the end of a process that reports a lack. */
#define RIGHT(condition) ((condition) ? (void)0 : wrong_result(__LINE__, #condition))

static void say(const char *text) {
    ssize_t written = write(2, text, strlen(text));
    (void)written;
}

static void wrong_result(int line, const char *text) {
    char number[16];
    snprintf(number, sizeof number, "%d", line);
    say("wrong result, line ");
    say(number);
    say(": ");
    say(text);
    say("\n");
    _exit(WRONG);
}

static void regions(void) {
    for (int round = 0; round < 12; round++) {
        int count = 0, size = 0, second = 0, singles = 0;
#pragma omp parallel num_threads(2 + round % 4)
        {
            INCREMENT(&count);
#pragma omp barrier
#pragma omp single
            size = GET(&count);
            RIGHT(size == omp_get_num_threads());
            for (int i = 0; i < 3; i++) {
                INCREMENT(&second);
#pragma omp barrier
                RIGHT(GET(&second) == (i + 1) * size);
#pragma omp barrier
            }
            for (int i = 0; i < 20; i++) {
#pragma omp single nowait
                INCREMENT(&singles);
            }
        }
        RIGHT(count == size && second == 3 * size && singles == 20);
    }
}

static long fibonacci(int n) {
    long a = 0, b = 0;
    if (n < 2) return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(void) {
    enum { CELLS = 40, STEPS = 6 };
    int cell[CELLS] = {0}, urgent = 0, reduced = 0;
    long number = 0;
    char large[3000] = {1};
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int step = 0; step < STEPS; step++) {
            for (int i = 1; i < CELLS; i++) {
#pragma omp task depend(in : cell[i - 1]) depend(inout : cell[i]) shared(cell)
                cell[i] += 1 + (cell[i - 1] - cell[i] > 1);
            }
        }
        for (int i = 0; i < 70; i++) {
#pragma omp task priority(i % 3) depend(in : cell[i % CELLS]) shared(urgent)
            INCREMENT(&urgent);
        }
#pragma omp task depend(in : cell[0]) firstprivate(large) shared(number)
        number = fibonacci(12) + large[0] - 1;
#pragma omp taskgroup task_reduction(+ : reduced)
        for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : reduced)
            reduced += i;
        }
#pragma omp taskwait depend(in : cell[CELLS - 1])
        RIGHT(cell[CELLS - 1] == STEPS);
    }
    for (int i = 1; i < CELLS; i++) RIGHT(cell[i] == STEPS);
    RIGHT(urgent == 70 && number == 144 && reduced == 45);
}

static int inner_sum(int masters) {
    int sum = 0;
#pragma omp parallel num_threads(masters) reduction(+ : sum)
    {
        int mine = 0;
#pragma omp parallel num_threads(2) reduction(+ : mine)
        {
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < 30; i++) mine += i;
        }
        sum += mine == 435;
        RIGHT(mine == 435);
    }
    return sum;
}

static void *master(void *done) {
    omp_set_max_active_levels(2);
    for (int round = 0; round < 4; round++) RIGHT(inner_sum(3) >= 1);
    INCREMENT((int *)done);
    return NULL;
}

static void masters(void) {
    enum { MASTERS = 6 };
    pthread_t thread[MASTERS];
    int made = 0, done = 0;
    while (made < MASTERS && pthread_create(&thread[made], NULL, master, &done) == 0) made++;
    master(&done);
    for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
    RIGHT(done == made + 1);
}

static void doacross(int *grid, int rows, int columns) {
#pragma omp parallel num_threads(4)
    {
#pragma omp for ordered(2) schedule(dynamic, 2)
        for (int i = 1; i < rows; i++)
            for (int j = 1; j < columns; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                grid[i * columns + j] =
                    grid[(i - 1) * columns + j] + grid[i * columns + j - 1] == i + j ? 1 : i + j;
#pragma omp ordered depend(source)
            }
    }
}

static void loops(void) {
    enum { ROWS = 20, COLUMNS = 15 };
    static int found[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
    for (int i = 1; i < ROWS; i++)
        for (int j = 1; j < COLUMNS; j++)
            wanted[i * COLUMNS + j] =
                wanted[(i - 1) * COLUMNS + j] + wanted[i * COLUMNS + j - 1] == i + j ? 1 : i + j;
    for (int round = 0; round < 5; round++) {
        memset(found, 0, sizeof found);
        doacross(found, ROWS, COLUMNS);
        RIGHT(memcmp(found, wanted, sizeof found) == 0);
        int sum = 0, next = 0, last = -1, pieces = 0;
#pragma omp parallel num_threads(4)
        {
            for (int k = 0; k < 40; k++) {
#pragma omp for schedule(guided) nowait
                for (int i = 0; i < 4; i++) INCREMENT(&pieces);
            }
#pragma omp barrier
#pragma omp for ordered schedule(dynamic, 3)
            for (int i = 0; i < 50; i++) {
#pragma omp ordered
                {
                    RIGHT(next == i);
                    next = i + 1;
                }
            }
#pragma omp for reduction(task, + : sum) lastprivate(conditional : last)
            for (int i = 0; i < 60; i++) {
#pragma omp task in_reduction(+ : sum)
                sum += i;
                if (i % 7 == 0) last = i;
            }
        }
        RIGHT(sum == 1770 && next == 50 && last == 56 && pieces == 160);
    }
}

static void expired(capstan_manager *manager, capstan_timer timer, uint64_t times, void *fired) {
    (void)manager, (void)timer, (void)times;
    INCREMENT((int *)fired);
}

static void timers(void) {
    capstan_manager *manager;
    int fired = 0, started = 0;
    if (capstan_manager_new(&manager, NULL) != 0) return;
    for (int i = 0; i < 300; i++)
        started += capstan_timer_start(manager, 1000, 0, expired, &fired, NULL) == 0;
    while (GET(&fired) < started)
        if (capstan_step(manager, 100000000, NULL) != 0) break;
    RIGHT(fired == started);
    RIGHT(capstan_manager_free(manager) == 0);
}

static void waits_and_memory(void) {
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 100000}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int counted = 0, expected = 0, after = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    timers();
#pragma omp parallel num_threads(4) reduction(+ : expected)
    for (int i = 0; i < 30; i++) {
        char *memory = pool == omp_null_allocator ? NULL : omp_alloc(500, pool);
        if (memory) memset(memory, i, 500);
        omp_set_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        counted++;
        expected++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        omp_unset_lock(&lock);
        if (memory) {
            RIGHT(memory[0] == i && memory[499] == i);
            memory = omp_realloc(memory, 2000, pool, pool) ?: memory;
            RIGHT(memory[0] == i && memory[499] == i);
            omp_free(memory, pool);
        }
    }
    RIGHT(counted == expected);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 10; i++) {
        omp_event_handle_t event;
        int x = 0;
        (void)x;
#pragma omp task detach(event) depend(out : x)
        if (capstan_await_timer(100000, event) != 0) omp_fulfill_event(event);
#pragma omp task depend(in : x) shared(after)
        INCREMENT(&after);
    }
    RIGHT(after == 10);
    if (pool != omp_null_allocator) omp_destroy_allocator(pool);
}

static const struct program {
    const char *name;
    void (*run)(void);
} programs[] = {{"regions", regions},
                {"tasks", tasks},
                {"masters", masters},
                {"loops", loops},
                {"waits", waits_and_memory}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

#endif
