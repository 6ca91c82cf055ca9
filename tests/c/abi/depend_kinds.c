/* GOMP_task with the two forms of the depend array. The old form lists addresses, outs first. The
 * form of GCC 9 begins with a 0 and counts, and has depobj objects; newer compilers emit more kinds
 * in it. */
#include "testing.h"
#include <omp.h>
#include <stdint.h>

void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, _Bool, unsigned,
               void **, int, void *);
void GOMP_taskwait(void);
void GOMP_taskwait_depend(void **);

enum { DEPEND = 8 };
enum kind { IN = 1, OUT = 2, INOUT = 3, MUTEXINOUTSET = 4, INOUTSET = 5 };

static int x, y, step, members, inside;

static void first(void *unused) {
    (void)unused;
    pause_ms(2);
    x = 1;
}

static void second(void *unused) {
    (void)unused;
    CHECK_EQ(x, 1);
    y = 2;
}

static void third(void *unused) {
    (void)unused;
    CHECK_EQ(y, 2);
    step = 3;
}

static void make(void (*function)(void *), void **depend) {
    void *nothing = NULL;
    GOMP_task(function, &nothing, NULL, sizeof nothing, _Alignof(void *), 1, DEPEND, depend, 0,
              NULL);
}

/* The old form: { number, number of outs, addresses of the outs, addresses of the ins }. */
static void old_form(void) {
    x = y = step = 0;
    make(first, (void *[]){(void *)1, (void *)1, &x});
    make(second, (void *[]){(void *)2, (void *)1, &y, &x});
    make(third, (void *[]){(void *)1, (void *)0, &y});
    GOMP_taskwait_depend((void *[]){(void *)1, (void *)0, &y});
    CHECK_EQ(y, 2);
    GOMP_taskwait();
    CHECK_EQ(step, 3);
}

/* The new form: { 0, number, numbers of out and inout, of mutexinoutset and of in, addresses, then
 * depobj objects }. */
static void new_form(void) {
    void *on_y[2] = {&y, (void *)IN};
    x = y = step = 0;
    make(first, (void *[]){NULL, (void *)1, (void *)1, NULL, NULL, &x});
    make(second, (void *[]){NULL, (void *)2, (void *)1, NULL, (void *)1, &y, &x});
    make(third, (void *[]){NULL, (void *)1, NULL, NULL, NULL, on_y});
    GOMP_taskwait();
    CHECK_EQ(step, 3);
}

static void member(void *unused) {
    (void)unused;
    CHECK_EQ(x, 1);
    CHECK_EQ(INCREMENT(&inside), 1);
    sched_yield();
    CHECK_EQ(DECREMENT(&inside), 0);
    members++;
}

static void free_member(void *unused) {
    (void)unused;
    CHECK_EQ(x, 1);
    sched_yield();
    INCREMENT(&members);
}

static void behind_members(void *unused) {
    (void)unused;
    CHECK_EQ(members, 6);
}

static void sets(enum kind kind) {
    void *object[2] = {&x, (void *)(uintptr_t)kind};
    x = members = 0;
    make(first, (void *[]){NULL, (void *)1, (void *)1, NULL, NULL, &x});
    for (int i = 0; i < 6; i++)
        make(kind == MUTEXINOUTSET ? member : free_member,
             i % 2 && kind == MUTEXINOUTSET
                 ? (void *[]){NULL, (void *)1, NULL, (void *)1, NULL, &x, NULL}
                 : (void *[]){NULL, (void *)1, NULL, NULL, NULL, object, NULL});
    make(behind_members, (void *[]){(void *)1, (void *)0, &x});
    GOMP_taskwait();
    CHECK_EQ(members, 6);
}

int main(void) {
    test_limit(30);
    for (int size = 1; size <= 4; size++) {
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int round = 0; round < 5; round++) {
            old_form();
            new_form();
            sets(MUTEXINOUTSET);
            sets(INOUT);
        }
    }
    return 0;
}
