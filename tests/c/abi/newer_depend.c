/* GCC 13 added inoutset objects (kind 5) and omp_all_memory (the null address) to the depend array.
 * The test calls the library directly, as its own compiler may be older.
 * test: not stock GCC 12's library does not know them
 */
#include "testing.h"
#include <omp.h>
#include <stdint.h>

void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, _Bool, unsigned,
               void **, int, void *);
void GOMP_taskwait(void);

enum { DEPEND = 8, INOUTSET = 5 };

static int x, members, all;

static void make(void (*function)(void *), void **depend) {
    void *nothing = NULL;
    GOMP_task(function, &nothing, NULL, sizeof nothing, _Alignof(void *), 1, DEPEND, depend, 0,
              NULL);
}

static void writer(void *unused) {
    (void)unused;
    pause_ms(2);
    x = 1;
}

static void member(void *unused) {
    (void)unused;
    CHECK_EQ(x, 1);
    INCREMENT(&members);
}

static void reader(void *unused) {
    (void)unused;
    CHECK_EQ(members, 6);
}

static void inoutset(void) {
    void *object[2] = {&x, (void *)INOUTSET};
    x = members = 0;
    make(writer, (void *[]){(void *)1, (void *)1, &x});
    for (int i = 0; i < 6; i++) make(member, (void *[]){NULL, (void *)1, NULL, NULL, NULL, object});
    make(reader, (void *[]){(void *)1, (void *)0, &x});
    GOMP_taskwait();
}

static int one, two;

static void write_one(void *unused) {
    (void)unused;
    pause_ms(1);
    one = 1;
}

static void write_two(void *unused) {
    (void)unused;
    pause_ms(1);
    two = 1;
}

static void touch_all(void *unused) {
    (void)unused;
    CHECK_EQ(one + two, 2);
    pause_ms(1);
    all = 1;
}

static void behind_all(void *unused) {
    (void)unused;
    CHECK_EQ(all, 1);
}

/* A task with an out on all memory runs after every earlier task with dependences and before every
 * later one. */
static void all_memory(void) {
    one = two = all = 0;
    make(write_one, (void *[]){(void *)1, (void *)1, &one});
    make(write_two, (void *[]){(void *)1, (void *)1, &two});
    make(touch_all, (void *[]){(void *)1, (void *)1, NULL});
    make(behind_all, (void *[]){(void *)1, (void *)0, &one});
    make(behind_all, (void *[]){(void *)1, (void *)1, &x});
    GOMP_taskwait();
    CHECK_EQ(all, 1);
}

int main(void) {
    test_limit(30);
    for (int size = 1; size <= 4; size++) {
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int round = 0; round < 10; round++) {
            inoutset();
            all_memory();
        }
    }
    return 0;
}
