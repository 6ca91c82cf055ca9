/* The summed-area table of examples/tasks/SummedArea.hs by threads of C, with the same bands of
 * rows, tiles and loop. Each thread has its own processor from before the beginning, and a thread
 * that waits for a tile only spins. The figure shows the gain that several threads can have on this
 * machine.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 64, LINE = 128 };

static uint32_t *table;
static long width, fours, height, tiles, threads;

/* The number of tiles that a thread has computed. */
static struct { _Alignas(LINE) _Atomic long done; } progress[MOST_THREADS];

static _Atomic long arrived;
static _Atomic bool begun;
static int64_t ends[MOST_THREADS];

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Computes a tile: some groups of four rows, and some of their columns. The first row is zeros. */
static void block(long top, long bottom, long left, long right) {
    const long wide = width;
    for (long k = top; k < bottom; k++) {
        uint32_t *row = table + (4 * k + 1) * wide;
        uint64_t a = 0, b = 0, c = 0, d = 0;
        if (left > 0) {
            const uint32_t *last = row + left - 1;
            a = last[0] - last[-wide];
            b = last[wide] - last[0];
            c = last[2 * wide] - last[wide];
            d = last[3 * wide] - last[2 * wide];
        }
        for (long j = left; j < right; j++) {
            uint64_t above = row[j - wide];
            row[j] = (uint32_t)(above += a += row[j]);
            row[j + wide] = (uint32_t)(above += b += row[j + wide]);
            row[j + 2 * wide] = (uint32_t)(above += c += row[j + 2 * wide]);
            row[j + 3 * wide] = (uint32_t)(above += d += row[j + 3 * wide]);
        }
    }
}

static long least(long a, long b) {
    return a < b ? a : b;
}

static void pin(long number) {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || number-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *compute(void *argument) {
    long me = (long)(intptr_t)argument, before = (me + threads - 1) % threads;
    pin(me);
    atomic_fetch_add(&arrived, 1);
    while (!atomic_load(&begun)) continue;
    for (long band = me; band * height < fours; band += threads) {
        for (long tile = 0; tile < tiles; tile++) {
            long above = band == 0 ? 0 : (band - 1) / threads * tiles + tile + 1;
            while (atomic_load_explicit(&progress[before].done, memory_order_acquire) < above)
                continue;
            block(band * height, least(fours, (band + 1) * height), tile * width / tiles,
                  (tile + 1) * width / tiles);
            atomic_store_explicit(&progress[me].done, band / threads * tiles + tile + 1,
                                  memory_order_release);
        }
    }
    ends[me] = now();
    return NULL;
}

static uint32_t fill(void) {
    uint32_t x = 1, all = 0;
    for (long i = 0; i < width * (1 + 4 * fours); i++) {
        x = x * 1664525 + 1013904223;
        table[i] = i < width ? 0 : x >> 24;
        all += table[i];
    }
    return all;
}

/* Returns the nanoseconds of `count` threads for such a table; negative if the result is wrong. */
double bench_bands(long columns, long rows, long band, long across, long count) {
    pthread_t handles[MOST_THREADS];
    width = columns, fours = rows, height = band, tiles = across;
    threads = least(count, MOST_THREADS);
    table = malloc((size_t)(width * (1 + 4 * fours)) * sizeof *table);
    if (!table) return -1;
    uint32_t all = fill();
    atomic_store(&arrived, 0);
    atomic_store(&begun, false);
    for (long i = 0; i < threads; i++) {
        atomic_store(&progress[i].done, 0);
        if (pthread_create(&handles[i], NULL, compute, (void *)(intptr_t)i) != 0) abort();
    }
    while (atomic_load(&arrived) < threads) sched_yield();
    int64_t begin = now(), end = begin;
    atomic_store(&begun, true);
    for (long i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        if (ends[i] > end) end = ends[i];
    }
    bool right = table[width * (1 + 4 * fours) - 1] == all;
    free(table);
    return right ? (double)(end - begin) : -1;
}
