/* Dependences between sibling tasks: every kind gives the required order and, for readers, no more
 * than that.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>

static void chain(int size) {
    enum { LENGTH = 200 };
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int x = 0;
        for (int i = 0; i < LENGTH; i++) {
#pragma omp task depend(inout : x) shared(x) firstprivate(i)
            {
                if (i % 50 == 0) pause_ms(1);
                CHECK_EQ(x, i); /* plain: the dependence orders it */
                x = i + 1;
            }
        }
#pragma omp taskwait
        CHECK_EQ(x, LENGTH);
    }
}

/* One writer, many readers, the next writer: no writer overtakes a reader, and no reader a
 * writer. */
static void writers_and_readers(int size) {
    enum { ROUNDS = 30, READERS = 6 };
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int x = -1, readers = 0;
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp task depend(out : x) shared(x, readers) firstprivate(round)
            {
                CHECK_EQ(GET(&readers), round * READERS);
                if (round % 8 == 0) pause_ms(1);
                x = round;
            }
            for (int reader = 0; reader < READERS; reader++) {
#pragma omp task depend(in : x) shared(x, readers) firstprivate(round, reader)
                {
                    if (reader == 3) sched_yield();
                    CHECK_EQ(x, round);
                    INCREMENT(&readers);
                }
            }
        }
#pragma omp taskwait
        CHECK_EQ(readers, ROUNDS * READERS);
    }
}

/* Tasks of a mutexinoutset exclude each other, in any order, and keep their place between earlier
 * and later tasks. */
static void mutexinoutset(int size) {
    enum { ROUNDS = 20, SET_SIZE = 8 };
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int x = 0, inside = 0;
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp task depend(out : x) shared(x)
            x = 100;
            for (int member = 0; member < SET_SIZE; member++) {
#pragma omp task depend(mutexinoutset : x) shared(x, inside)
                {
                    CHECK_EQ(INCREMENT(&inside), 1);
                    int seen = x;
                    sched_yield();
                    x = seen + 1;
                    CHECK_EQ(DECREMENT(&inside), 0);
                }
            }
#pragma omp task depend(in : x) shared(x)
            CHECK_EQ(x, 100 + SET_SIZE);
        }
#pragma omp taskwait
    }
}

#if __GNUC__ >= 13
/* Tasks of an inoutset do not wait for each other; readers wait for all of them. */
static void inoutset(int size) {
    enum { ROUNDS = 20, SET_SIZE = 5 };
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int x = 0, count = 0;
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp task depend(in : x) shared(x, count)
            {
                if (round % 4 == 0) pause_ms(1);
                CHECK_EQ(GET(&count), round * SET_SIZE);
            }
            for (int member = 0; member < SET_SIZE; member++) {
#pragma omp task depend(inoutset : x) shared(count)
                {
                    sched_yield();
                    INCREMENT(&count);
                }
            }
#pragma omp task depend(in : x) shared(count) firstprivate(round)
            CHECK_EQ(GET(&count), (round + 1) * SET_SIZE);
        }
#pragma omp taskwait
    }
}

#else
/* This compiler does not know inoutset; tests/c/abi/depend_kinds.c calls the library directly. */
static void inoutset(int size) {
    (void)size;
}
#endif

static void objects(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int x = 0, y = 0;
        omp_depend_t on_x, on_both;
#pragma omp depobj(on_x) depend(inout : x)
#pragma omp depobj(on_both) depend(out : y)
        for (int i = 0; i < 50; i++) {
#pragma omp task depend(depobj : on_x) shared(x)
            {
                if (i % 25 == 0) pause_ms(1);
                x++;
            }
#pragma omp task depend(depobj : on_both) depend(in : x) shared(x, y)
            {
                CHECK_EQ(x, i + 1);
                y++;
            }
        }
#pragma omp depobj(on_both) update(in)
#pragma omp task depend(depobj : on_both) shared(y)
        CHECK_EQ(y, 50);
#pragma omp depobj(on_x) destroy
#pragma omp depobj(on_both) destroy
#pragma omp taskwait
        CHECK_EQ(x, 50);
        CHECK_EQ(y, 50);
    }
}

static void iterators_and_sections(int size) {
    enum { COUNT = 12 };
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int cell[COUNT] = {0};
        for (int round = 0; round < 10; round++) {
            for (int k = 0; k < COUNT; k++) {
#pragma omp task depend(out : cell[k]) shared(cell) firstprivate(k)
                {
                    if (k == round) pause_ms(1);
                    cell[k] = round + k;
                }
            }
#pragma omp task depend(iterator(int j = 0 : COUNT), inout : cell[j]) shared(cell)
            for (int k = 0; k < COUNT; k++) {
                CHECK_EQ(cell[k], round + k);
                cell[k] = 0;
            }
#pragma omp task depend(in : cell [0:1]) shared(cell)
            CHECK_EQ(cell[0], 0);
        }
#pragma omp taskwait
    }
}

/* taskwait with a depend clause waits for the tasks that the clause names, and for no others. */
static void taskwait_depend(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 10; round++) {
        int x = 0, y = 0;
        omp_event_handle_t event;
#pragma omp task depend(out : y) shared(y) detach(event)
        y = 1;
#pragma omp task depend(out : x) shared(x)
        {
            pause_ms(1);
            x = 1;
        }
#pragma omp taskwait depend(in : x)
        CHECK_EQ(x, 1);
        omp_fulfill_event(event); /* y's task cannot have completed before */
#pragma omp taskwait depend(inout : y)
        CHECK_EQ(y, 1);
    }
}

/* An undeferred task with dependences waits for its predecessors, also in a team of one thread. */
static void undeferred(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        int x = 0;
#pragma omp task depend(out : x) shared(x)
        {
            pause_ms(1);
            x = 1;
        }
#pragma omp task depend(inout : x) shared(x) if (0)
        {
            CHECK_EQ(x, 1);
            x = 2;
        }
        CHECK_EQ(x, 2);
    }
}

/* The same address in tasks of different parents makes no dependence. */
static void only_siblings(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int x = 0, inner = 0;
        (void)x;
#pragma omp task depend(inout : x) shared(x, inner)
        {
#pragma omp task depend(inout : x) shared(inner)
            INCREMENT(&inner);
#pragma omp taskwait
            CHECK_EQ(GET(&inner), 1);
        }
#pragma omp taskwait
    }
}

/* Two readers are in their tasks at the same time in at least one of many tries. A reader does not
 * wait for ever, as a runtime is free to run them one after the other. */
static void readers_overlap(void) {
    for (int attempt = 0; attempt < 200; attempt++) {
        int inside = 0, together = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            int x = 0;
#pragma omp task depend(out : x) shared(x)
            x = 1;
            for (int reader = 0; reader < 2; reader++) {
#pragma omp task depend(in : x) shared(inside, together)
                {
                    INCREMENT(&inside);
                    for (int i = 0; i < 50 && GET(&inside) < 2; i++) pause_ms(1);
                    if (GET(&inside) == 2) SET(&together, 1);
                }
            }
#pragma omp taskwait
        }
        /* A single try proves nothing: both readers may also have run one after the other. */
        if (together) return;
    }
    CHECK(!"readers never ran together");
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        chain(size);
        writers_and_readers(size);
        mutexinoutset(size);
        inoutset(size);
        objects(size);
        iterators_and_sections(size);
        taskwait_depend(size);
        undeferred(size);
        only_siblings(size);
    }
    readers_overlap();
    return 0;
}
