/* Random graphs: tasks with random dependences on a few variables. Each task checks that it sees
 * the variables like the sequential program: every earlier writer has finished, and no later writer
 * has begun. */
#include "testing.h"
#include <omp.h>
#include <stdint.h>

enum { VARIABLES = 6, TASKS = 400 };

struct variable {
    int writers_done; /* writes of finished tasks */
    int readers_done;
    int users; /* each reader inside counts 1, a writer 1000 */
};

static struct variable variable[VARIABLES];

struct access {
    int which; /* -1: none */
    int writes;
    int writers_before; /* in the program's order */
    int readers_before; /* since the beginning */
};

static void enter(struct access a) {
    if (a.which < 0) return;
    struct variable *v = &variable[a.which];
    CHECK_EQ(GET(&v->writers_done), a.writers_before);
    if (a.writes) {
        CHECK_EQ(GET(&v->readers_done), a.readers_before);
        CHECK_EQ(__atomic_add_fetch(&v->users, 1000, __ATOMIC_ACQ_REL), 1000);
    } else {
        CHECK(INCREMENT(&v->users) < 1000);
    }
}

static void leave(struct access a) {
    if (a.which < 0) return;
    struct variable *v = &variable[a.which];
    if (a.writes) {
        CHECK_EQ(__atomic_sub_fetch(&v->users, 1000, __ATOMIC_ACQ_REL), 0);
        INCREMENT(&v->writers_done);
    } else {
        DECREMENT(&v->users);
        INCREMENT(&v->readers_done);
    }
}

static void work(struct access a, struct access b, unsigned noise) {
    enter(a);
    enter(b);
    if (noise % 64 == 0)
        pause_ms(1);
    else if (noise % 4 == 0)
        sched_yield();
    leave(a);
    leave(b);
}

static uint32_t state;

static unsigned draw(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static int writers[VARIABLES], readers[VARIABLES];

static struct access plan(int which, int writes) {
    struct access a = {which, writes, writers[which], readers[which]};
    ++*(writes ? &writers[which] : &readers[which]);
    return a;
}

static void submit(unsigned noise) {
    const struct access none = {-1, 0, 0, 0};
    int first = (int)draw(VARIABLES), second = (int)draw(VARIABLES - 1);
    if (second >= first) second++;
    struct variable *x = &variable[first], *y = &variable[second];
    struct access a, b = none;
    switch (draw(6)) {
    case 0:
        a = plan(first, 1);
#pragma omp task depend(out : *x) firstprivate(a, b, noise)
        work(a, b, noise);
        break;
    case 1:
        a = plan(first, 0);
#pragma omp task depend(in : *x) firstprivate(a, b, noise)
        work(a, b, noise);
        break;
    case 2:
        a = plan(first, 1);
        b = plan(second, 0);
#pragma omp task depend(inout : *x) depend(in : *y) firstprivate(a, b, noise)
        work(a, b, noise);
        break;
    case 3:
        a = plan(first, 0);
        b = plan(second, 0);
#pragma omp task depend(in : *x, *y) firstprivate(a, b, noise) priority(3)
        work(a, b, noise);
        break;
    case 4:
        a = plan(first, 1);
        b = plan(second, 1);
#pragma omp task depend(out : *y) depend(inout : *x) firstprivate(a, b, noise) untied
        work(a, b, noise);
        break;
    default:
        a = plan(first, 1);
        b = plan(second, 0);
#pragma omp task depend(in : *y) depend(out : *x) firstprivate(a, b, noise) if (noise % 16 != 0)
        work(a, b, noise);
    }
}

int main(void) {
    test_limit(50);
    for (unsigned seed = 1; seed <= 24; seed++) {
        state = seed;
        for (int k = 0; k < VARIABLES; k++) {
            variable[k] = (struct variable){0};
            writers[k] = readers[k] = 0;
        }
#pragma omp parallel num_threads((int)(seed % 4) + 1)
#pragma omp single
        {
            for (int task = 0; task < TASKS; task++) submit(draw(1000));
            if (seed % 2) {
#pragma omp taskwait
                for (int k = 0; k < VARIABLES; k++) CHECK_EQ(GET(&variable[k].users), 0);
            }
        }
        for (int k = 0; k < VARIABLES; k++) {
            CHECK_EQ(variable[k].writers_done, writers[k]);
            CHECK_EQ(variable[k].readers_done, readers[k]);
        }
    }
    return 0;
}
