/* depend.c: the cost of a task with dependences.
 *
 * Four graphs: a chain (no parallelism: pure hand-over), one writer with many readers, a stencil
 * (three in, one out, wide) and the tiles of a Cholesky factorization (irregular). The bodies are
 * tiny and their results are checked, so that a lost dependence ends the program. Figures are
 * nanoseconds per task.
 */
#include "depend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEAM num_threads(b->threads)

enum { BATCH = 512 }; /* tasks alive at once in a chain, as in a program with taskwaits */

static void chain(const struct bench *b, long n) {
    unsigned long value = 0, expected = 0;
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
#pragma omp task depend(inout : value) shared(value) firstprivate(i)
        value = value * 3 + (unsigned long)i;
        if (i % BATCH == BATCH - 1) {
#pragma omp taskwait
        }
    }
    for (long i = 0; i < n; i++) expected = expected * 3 + (unsigned long)i;
    bench_equal("depend-chain", (long long)value, (long long)expected);
}

/* There is one chain for each thread, so each thread can follow a chain. */
static void chains(const struct bench *b, long n) {
    struct {
        _Alignas(BENCH_LINE) unsigned long value;
    } *line = aligned_alloc(BENCH_LINE, (size_t)b->threads * sizeof *line);
    for (int c = 0; c < b->threads; c++) line[c].value = 0;
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
        for (int c = 0; c < b->threads; c++) {
            unsigned long *value = &line[c].value;
#pragma omp task depend(inout : value[0]) firstprivate(i)
            value[0] = value[0] * 3 + (unsigned long)i;
        }
        if (i % BATCH == BATCH - 1) {
#pragma omp taskwait
        }
    }
    unsigned long expected = 0;
    for (long i = 0; i < n; i++) expected = expected * 3 + (unsigned long)i;
    for (int c = 0; c < b->threads; c++)
        bench_equal("depend-chains", (long long)line[c].value, (long long)expected);
    free(line);
}

enum { READERS = 15 };

static void fan(const struct bench *b, long n) {
    long value = 0, wrong = 0;
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
#pragma omp task depend(out : value) shared(value) firstprivate(i)
        value = i;
        for (int r = 0; r < READERS; r++) {
#pragma omp task depend(in : value) shared(value, wrong) firstprivate(i)
            if (value != i) {
#pragma omp atomic
                wrong++;
            }
        }
        if (i % 32 == 31) {
#pragma omp taskwait
        }
    }
    bench_equal("depend-fan", wrong, 0);
}

enum { WIDTH = 32, STEPS = 16 };

static unsigned long stencil_step(unsigned long left, unsigned long here, unsigned long right) {
    return left + 2 * here + 3 * right;
}

static void stencil_start(unsigned long *row) {
    for (int x = 0; x < WIDTH; x++) row[x] = bench_mix((uint64_t)x);
}

static void stencil_tasks(unsigned long row[2][WIDTH]) {
    for (int s = 0; s < STEPS; s++) {
        unsigned long *from = row[s % 2], *to = row[(s + 1) % 2];
        for (int x = 0; x < WIDTH; x++) {
            int l = (x + WIDTH - 1) % WIDTH, r = (x + 1) % WIDTH;
#pragma omp task depend(in : from[l], from[x], from[r]) depend(out : to[x]) firstprivate(l, x, r)
            to[x] = stencil_step(from[l], from[x], from[r]);
        }
    }
#pragma omp taskwait
}

static void stencil(const struct bench *b, long n) {
    unsigned long row[2][WIDTH], plain[2][WIDTH];
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
        stencil_start(row[0]);
        stencil_tasks(row);
    }
    stencil_start(plain[0]);
    for (int s = 0; s < STEPS; s++)
        for (int x = 0; x < WIDTH; x++)
            plain[(s + 1) % 2][x] = stencil_step(plain[s % 2][(x + WIDTH - 1) % WIDTH],
                                                 plain[s % 2][x], plain[s % 2][(x + 1) % WIDTH]);
    for (int x = 0; x < WIDTH; x++)
        bench_equal("depend-stencil", (long long)row[STEPS % 2][x], (long long)plain[STEPS % 2][x]);
}

/* Cholesky factorization of a symmetric positive definite matrix by tiles, lower triangle, in the
 * order of J. Kurzak and J. Dongarra's tile algorithm. */
enum { TILES = 10, TILE = 4, SIDE = TILES * TILE };
enum { CHOLESKY_TASKS = TILES * (TILES + 1) * (TILES + 2) / 6 };

typedef double tile[TILE][TILE];

static void factor(tile a) {
    for (int k = 0; k < TILE; k++) {
        a[k][k] = sqrt(a[k][k]);
        for (int i = k + 1; i < TILE; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j <= i; j++) a[i][j] -= a[i][k] * a[j][k];
        }
    }
}

static void solve(tile l, tile a) {
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * l[j][k];
            a[i][j] /= l[j][j];
        }
}

static void update(tile x, tile y, tile a) {
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            for (int k = 0; k < TILE; k++) a[i][j] -= x[i][k] * y[j][k];
}

static void cholesky_tasks(tile (*a)[TILES]) {
    for (int k = 0; k < TILES; k++) {
#pragma omp task depend(inout : a[k][k])
        factor(a[k][k]);
        for (int i = k + 1; i < TILES; i++) {
#pragma omp task depend(in : a[k][k]) depend(inout : a[i][k])
            solve(a[k][k], a[i][k]);
        }
        for (int i = k + 1; i < TILES; i++)
            for (int j = k + 1; j <= i; j++) {
#pragma omp task depend(in : a[i][k], a[j][k]) depend(inout : a[i][j])
                update(a[i][k], a[j][k], a[i][j]);
            }
    }
#pragma omp taskwait
}

static double entry(int i, int j) {
    int low = i < j ? i : j, high = i < j ? j : i;
    return i == j ? SIDE : (double)(bench_mix((uint64_t)(low * SIDE + high)) >> 11) * 0x1p-53;
}

static void cholesky(const struct bench *b, long n) {
    static tile a[TILES][TILES], start[TILES][TILES];
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) start[i / TILE][j / TILE][i % TILE][j % TILE] = entry(i, j);
#pragma omp parallel TEAM
#pragma omp single
    for (long i = 0; i < n; i++) {
        memcpy(a, start, sizeof a);
        cholesky_tasks(a);
    }
    int wrong = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += a[i / TILE][k / TILE][i % TILE][k % TILE] *
                       a[j / TILE][k / TILE][j % TILE][k % TILE];
            wrong += !(fabs(sum - entry(i, j)) < 1e-9);
        }
    bench_equal("depend-cholesky", wrong, 0);
}

void bench_dependences(const struct bench *b) {
    bench_case(b, "depend-chain", chain, 1);
    bench_case(b, "depend-chains", chains, b->threads);
    bench_case(b, "depend-fan", fan, READERS + 1);
    bench_case(b, "depend-stencil", stencil, WIDTH * STEPS);
    bench_case(b, "depend-cholesky", cholesky, CHOLESKY_TASKS);
}
