/* Steps of the members together: worksharing, barriers, mutual exclusion. */
#ifndef STRESS_SHARE_H
#define STRESS_SHARE_H

#include "region.h"

static void step_barrier(struct member *m, struct slot *slot) {
    struct region *r = m->region;
    int value = (int)(slot - r->slot) + 1;
    r->mark[m->number] = value;
#pragma omp barrier
    for (int other = 0; other < r->size; other++) CHECK_EQ(r->mark[other], value);
#pragma omp barrier
}

/* Loops with nowait: the master alone checks the slot, behind the region. */
static void step_loop(struct member *m, struct slot *slot) {
    int trips = (int)draw(&m->common, 60), chunk = 1 + (int)draw(&m->common, 9);
    if (m->number == 0) slot->expected = trips;
    switch (draw(&m->common, 4)) {
    case 0:
#pragma omp for schedule(dynamic, chunk) nowait
        for (int i = 0; i < trips; i++) {
            INCREMENT(&slot->count);
            delay(m);
        }
        break;
    case 1:
#pragma omp for schedule(guided, chunk) nowait
        for (unsigned long long i = 0; i < (unsigned long long)trips; i++) INCREMENT(&slot->count);
        break;
    case 2:
        omp_set_schedule((omp_sched_t)(1 + draw(&m->common, 3)), chunk);
#pragma omp for schedule(runtime) nowait
        for (int i = trips; i > 0; i--) INCREMENT(&slot->count);
        break;
    default:
#pragma omp for schedule(monotonic : dynamic, chunk)
        for (long i = 0; i < trips; i++) INCREMENT(&slot->count);
        CHECK_EQ(GET(&slot->count), trips);
    }
}

static void step_ordered(struct member *m, struct slot *slot) {
    int trips = (int)draw(&m->common, 20);
    if (m->number == 0) slot->expected = trips;
    if (draw(&m->common, 2)) {
#pragma omp for ordered schedule(dynamic, 1) nowait
        for (int i = 0; i < trips; i++) {
            delay(m);
#pragma omp ordered
            CHECK_EQ(slot->next++, i);
            INCREMENT(&slot->count);
        }
    } else {
#pragma omp for ordered(1) schedule(static, 1) nowait
        for (int i = 0; i < trips; i++) {
#pragma omp ordered depend(sink : i - 1)
            CHECK_EQ(slot->next++, i);
#pragma omp ordered depend(source)
            INCREMENT(&slot->count);
        }
    }
}

static void step_single(struct member *m, struct slot *slot) {
    if (m->number == 0) slot->expected = 1;
    int value = 0;
    switch (draw(&m->common, 3)) {
    case 0:
#pragma omp single nowait
        INCREMENT(&slot->count);
        break;
    case 1:
#pragma omp single
    {
        slot->plain = 77;
        INCREMENT(&slot->count);
    }
        CHECK_EQ(slot->plain, 77);
        break;
    default:
#pragma omp single copyprivate(value)
    {
        value = (int)m->region->seed;
        INCREMENT(&slot->count);
    }
        CHECK_EQ(value, (int)m->region->seed);
    }
}

static void step_sections(struct member *m, struct slot *slot) {
    if (m->number == 0) slot->expected = 4;
#pragma omp sections nowait
    {
#pragma omp section
        INCREMENT(&slot->count);
#pragma omp section
        {
            delay(m);
            INCREMENT(&slot->count);
        }
#pragma omp section
        INCREMENT(&slot->count);
#pragma omp section
        INCREMENT(&slot->count);
    }
}

static int global_sum; /* under the critical section of the whole process */

static void step_exclusion(struct member *m, struct slot *slot) {
    struct region *r = m->region;
    int rounds = 1 + (int)draw(&m->common, 8);
    if (m->number == 0) slot->expected = rounds * r->size;
    for (int round = 0; round < rounds; round++) {
        delay(m);
#pragma omp critical(stress)
        {
            int seen = global_sum;
            delay(m);
            global_sum = seen + 1;
            slot->plain++;
        }
        omp_set_lock(&r->lock);
        r->locked_sum++;
        omp_unset_lock(&r->lock);
        omp_set_nest_lock(&r->nest_lock);
        omp_set_nest_lock(&r->nest_lock);
        slot->count++;
        omp_unset_nest_lock(&r->nest_lock);
        omp_unset_nest_lock(&r->nest_lock);
#pragma omp atomic
        r->critical_sum++;
    }
}

#endif
