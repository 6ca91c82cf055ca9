/* Addresses in depend clauses do not take memory for ever, although one sibling lives all the time,
 * so that the parent always has a child. The test names millions of addresses one after the other,
 * one address in millions of readers, and addresses that the parent only waits for.
 *
 * test: alone
 */
#include "process.h"
#include <omp.h>

enum { ADDRESSES = 10000000, READERS = 3000000, AWAITED = 1000000, WARM = 100000, MOST_KIB = 4096 };

static char *named; /* never written: a depend clause uses the address alone */
static long done;

static void write_each(long from, long to) {
    for (long i = from; i < to; i++) {
#pragma omp task depend(out : named[i]) shared(done)
        __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
    }
}

static void read_one(long from, long to) {
    for (long i = from; i < to; i++) {
#pragma omp task depend(in : named[0]) shared(done)
        __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
    }
}

/* Hundreds of readers, then a writer. The parent waits now and then, as tasks that cannot run yet
 * take memory. */
static void write_seldom(long from, long to) {
    for (long i = from; i < to; i++) {
        if (i % 500) {
#pragma omp task depend(in : named[1]) shared(done)
            __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
        } else {
#pragma omp taskwait depend(out : named[1])
#pragma omp task depend(out : named[1]) shared(done)
            __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
        }
    }
}

static void await_each(long from, long to) {
    for (long i = from; i < to; i++) {
#pragma omp task depend(in : named[i]) shared(done) if (0)
        __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
    }
}

/* The sibling completes when its event is fulfilled. */
static void measured(void (*part)(long, long), long count, const char *name) {
    done = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        omp_event_handle_t end;
#pragma omp task detach(end) depend(out : done)
        {}
        part(0, WARM);
        long before = status_number("VmRSS");
        part(WARM, count);
        long grown = status_number("VmRSS") - before;
        if (grown > MOST_KIB) fprintf(stderr, "%s: memory grew by %ld KiB\n", name, grown);
        CHECK(grown <= MOST_KIB);
        omp_fulfill_event(end);
    }
    CHECK_EQ(done, count);
}

int main(void) {
    test_limit(58);
    named = malloc(ADDRESSES);
    CHECK(named);
    measured(write_each, ADDRESSES, "addresses written");
    measured(read_one, READERS, "readers of an address");
    measured(write_seldom, READERS, "readers and writers");
    measured(await_each, AWAITED, "addresses awaited");
    free(named);
    return 0;
}
