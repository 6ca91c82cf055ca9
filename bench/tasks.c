/* tasks.c: the cost of a task, and the gain of a second thread.
 *
 * The recursions have no cut-off on purpose: a task that does nothing shows the runtime alone.
 * Figures are nanoseconds of wall-clock time per task (fib, flat, n-queens, UTS, taskloop) or per
 * element (sort). Every case checks that each task ran once.
 */
#include "bench.h"
#include "depend.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define TEAM num_threads(b->threads)

/* A counter for each thread, so that a shared counter does not dominate the time. */
static _Thread_local long ran;

static long take_ran(void) {
    long mine = ran;
    ran = 0;
    return mine;
}

static void region(const struct bench *b, long n) {
    for (long i = 0; i < n; i++) {
#pragma omp parallel TEAM
        bench_keep();
    }
}

static void flat(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
#pragma omp single
        for (long i = 0; i < n; i++) {
#pragma omp task
            ran++;
        }
        sum += take_ran();
    }
    bench_equal("flat", sum, n);
}

/* One producer makes tasks that are worth stealing: about 500 ns each. */
static void flat_work(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
#pragma omp single
        for (long i = 0; i < n; i++) {
#pragma omp task
            {
                bench_work(500);
                ran++;
            }
        }
        sum += take_ran();
    }
    bench_equal("flat-work", sum, n);
}

static void producers(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
        for (long i = 0; i < n; i++) {
#pragma omp task
            ran++;
        }
#pragma omp barrier
        sum += take_ran();
    }
    bench_equal("producers", sum, n * b->threads);
}

static void undeferred(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
#pragma omp single
        for (long i = 0; i < n; i++) {
#pragma omp task if (0)
            ran++;
        }
        sum += take_ran();
    }
    bench_equal("undeferred", sum, n);
}

/* One task, and a wait for it at once: the latency of a task, not its throughput. */
static void task_wait(const struct bench *b, long n) {
    long count = 0;
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
#pragma omp task shared(count)
        count++;
#pragma omp taskwait
    }
    bench_equal("task-taskwait", count, n);
}

static void task_group(const struct bench *b, long n) {
    long count = 0;
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
#pragma omp taskgroup
        {
#pragma omp task shared(count)
            count++;
        }
    }
    bench_equal("task-taskgroup", count, n);
}

static long fib(int n) {
    if (n < 2) return n;
    long x, y;
#pragma omp task shared(x) firstprivate(n)
    x = fib(n - 1);
#pragma omp task shared(y) firstprivate(n)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

enum { FIB = 25, FIB_RESULT = 75025, FIB_TASKS = 242784 };

static void fib_tasks(const struct bench *b, long n) {
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) bench_equal("fib-25", fib(FIB), FIB_RESULT);
}

enum { QUEENS = 8, QUEENS_RESULT = 92, QUEENS_TASKS = 2056 };

static bool safe(const char *row, int placed, int column) {
    for (int i = 0; i < placed; i++)
        if (row[i] == column || abs(row[i] - column) == placed - i) return false;
    return true;
}

/* A task for each queen that can be placed; each task has its own board, as in BOTS. */
static long queens(const char *board, int placed) {
    if (placed == QUEENS) return 1;
    long found[QUEENS] = {0}, sum = 0;
    for (int c = 0; c < QUEENS; c++) {
        if (!safe(board, placed, c)) continue;
#pragma omp task shared(found, board) firstprivate(placed, c)
        {
            char mine[QUEENS];
            memcpy(mine, board, (size_t)placed);
            mine[placed] = (char)c;
            found[c] = queens(mine, placed + 1);
        }
    }
#pragma omp taskwait
    for (int c = 0; c < QUEENS; c++) sum += found[c];
    return sum;
}

static void queens_tasks(const struct bench *b, long n) {
    char empty[QUEENS] = {0};
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) bench_equal("queens-8", queens(empty, 0), QUEENS_RESULT);
}

enum { SORT = 1 << 15, SORT_CUT = 64 };

static void sort_short(int *a, int count) {
    for (int i = 1; i < count; i++) {
        int x = a[i], j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* Sorts `a`; `space` has the size of `a`. */
static void merge_sort(int *a, int *space, int count) {
    if (count <= SORT_CUT) {
        sort_short(a, count);
        return;
    }
    int half = count / 2;
#pragma omp task firstprivate(a, space, half)
    merge_sort(a, space, half);
    merge_sort(a + half, space + half, count - half);
#pragma omp taskwait
    int i = 0, j = half, k = 0;
    while (i < half && j < count) space[k++] = a[j] < a[i] ? a[j++] : a[i++];
    memcpy(space + k, a + i, (size_t)(half - i) * sizeof *a);
    memcpy(a, space, (size_t)(k + half - i) * sizeof *a);
}

static void sort_tasks(const struct bench *b, long n) {
    static int start[SORT], a[SORT], space[SORT];
    for (int i = 0; i < SORT; i++) start[i] = (int)(bench_mix((uint64_t)i) >> 33);
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
        memcpy(a, start, sizeof a);
        merge_sort(a, space, SORT);
    }
    long wrong = 0;
    for (int i = 1; i < SORT; i++) wrong += a[i - 1] > a[i];
    bench_equal("sort", wrong, 0);
}

/* Unbalanced tree search (S. Olivier and others): a binomial tree. The root has ROOT children,
 * every other node CHILDREN with a probability just below 1 / CHILDREN, else none. The hash is not
 * the original's SHA-1, since cheap nodes show the scheduler. */
enum { ROOT = 2000, CHILDREN = 4 };
#define CHANCE 0.2450

static bool has_children(uint64_t node) {
    return (double)(node >> 11) * 0x1p-53 < CHANCE;
}

static void search(uint64_t node, int children) {
    ran++;
    for (int i = 0; i < children; i++) {
        uint64_t child = bench_mix(node + (uint64_t)i);
#pragma omp task firstprivate(child)
        search(child, has_children(child) ? CHILDREN : 0);
    }
}

static long count_nodes(uint64_t node, int children) {
    long sum = 1;
    for (int i = 0; i < children; i++) {
        uint64_t child = bench_mix(node + (uint64_t)i);
        sum += count_nodes(child, has_children(child) ? CHILDREN : 0);
    }
    return sum;
}

static void uts(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
#pragma omp single
        for (long i = 0; i < n; i++) {
#pragma omp taskgroup
            search(1, ROOT);
        }
        sum += take_ran();
    }
    bench_equal("uts", sum, n * count_nodes(1, ROOT));
}

enum { ITERATIONS = 1024 };

static void taskloop(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM reduction(+ : sum)
    {
#pragma omp single
        for (long i = 0; i < n; i++) {
#pragma omp taskloop grainsize(1)
            for (int j = 0; j < ITERATIONS; j++) ran++;
        }
        sum += take_ran();
    }
    bench_equal("taskloop", sum, n * ITERATIONS);
}

static void taskloop_sum(const struct bench *b, long n) {
    long sum = 0;
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
#pragma omp taskloop num_tasks(4 * b->threads) reduction(+ : sum)
        for (int j = 0; j < ITERATIONS; j++) sum += 1;
    }
    bench_equal("taskloop-reduction", sum, n * ITERATIONS);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    omp_set_dynamic(0);
    bench_amortize(b, region);
    bench_case(b, "flat", flat, 1);
    bench_case(b, "flat-work", flat_work, 1);
    bench_case(b, "producers", producers, b->threads);
    bench_case(b, "undeferred", undeferred, 1);
    bench_case(b, "task-taskwait", task_wait, 1);
    bench_case(b, "task-taskgroup", task_group, 1);
    bench_case(b, "fib-25", fib_tasks, FIB_TASKS);
    bench_case(b, "queens-8", queens_tasks, QUEENS_TASKS);
    bench_case(b, "sort", sort_tasks, SORT);
    bench_case(b, "uts", uts, (double)count_nodes(1, ROOT));
    bench_case(b, "taskloop", taskloop, ITERATIONS);
    bench_case(b, "taskloop-reduction", taskloop_sum, 1);
    bench_dependences(b);
    return 0;
}
