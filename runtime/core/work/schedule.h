/* Arithmetic of loop schedules: pure, for signed and unsigned loops alike.
 *
 * A loop is turned into iterations 0..trip-1. Iteration i has the value start + i * increment,
 * modulo 2^64. This is right for both kinds of loop variable and both signs of the increment. */
#ifndef CST_CORE_WORK_SCHEDULE_H
#define CST_CORE_WORK_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* The number of iterations of `for (v = start; v < end; v += increment)`, or with > where `up` is
 * false. */
static inline uint64_t cst_schedule_trip(uint64_t start, uint64_t end, uint64_t increment, bool up,
                                         bool is_signed) {
    if (up) {
        if (is_signed ? (int64_t)start >= (int64_t)end : start >= end) return 0;
        return (end - start - 1) / increment + 1;
    }
    if (is_signed ? (int64_t)start <= (int64_t)end : start <= end) return 0;
    return (start - end - 1) / (0 - increment) + 1;
}

/* As cst_schedule_trip, for a loop that includes both ends. The result is 0 also for 2^64
 * iterations, which no program could finish. */
static inline uint64_t cst_schedule_trip_closed(uint64_t lower, uint64_t upper, uint64_t increment,
                                                bool up, bool is_signed) {
    uint64_t low = up ? lower : upper, high = up ? upper : lower;
    if (is_signed ? (int64_t)low > (int64_t)high : low > high) return 0;
    return (high - low) / (up ? increment : 0 - increment) + 1;
}

/* Size of a guided chunk: an equal share of the iterations that are left, not below `chunk`. */
static inline uint64_t cst_schedule_guided(uint64_t left, uint64_t chunk, uint32_t threads) {
    uint64_t share = left / threads + (left % threads != 0);
    if (share < chunk) share = chunk;
    return share < left ? share : left;
}

/* Static without a chunk: member `number` of `threads` gets [*first, *last). The first
 * trip mod threads members get one more. */
static inline void cst_schedule_block(uint64_t trip, uint32_t threads, uint32_t number,
                                      uint64_t *first, uint64_t *last) {
    uint64_t each = trip / threads, rest = trip % threads;
    *first = number * each + (number < rest ? number : rest);
    *last = *first + each + (number < rest);
}

/* Number of chunks of `chunk` iterations. */
static inline uint64_t cst_schedule_chunks(uint64_t trip, uint64_t chunk) {
    return trip / chunk + (trip % chunk != 0);
}

/* The division of a taskloop into `count` tasks. The first `longer` tasks have one iteration more
 * than `each`. If it is cut strictly by size, all tasks but the last have `each` iterations. */
struct cst_schedule_cut {
    uint64_t count, each, longer;
};

enum cst_schedule_cutting { CST_CUT_FREELY, CST_CUT_BY_SIZE, CST_CUT_BY_COUNT };

/* The division of a loop with at least one iteration. `wanted` is a size or a count. The runtime's
 * own choice is a task for each member. */
static inline struct cst_schedule_cut cst_schedule_cut(uint64_t trip, uint64_t wanted,
                                                       enum cst_schedule_cutting how, bool strict,
                                                       uint32_t members) {
    if (how == CST_CUT_BY_SIZE && wanted == 0) wanted = 1; /* a program may compute a size of 0 */
    if (how == CST_CUT_BY_SIZE && strict)
        return (struct cst_schedule_cut){.count = cst_schedule_chunks(trip, wanted),
                                         .each = wanted};
    uint64_t count = how == CST_CUT_BY_SIZE ? trip / wanted : how == CST_CUT_BY_COUNT ? wanted : 0;
    if (count == 0) count = how == CST_CUT_BY_SIZE ? 1 : members;
    if (count > trip) count = trip;
    return (struct cst_schedule_cut){.count = count, .each = trip / count, .longer = trip % count};
}

#endif
