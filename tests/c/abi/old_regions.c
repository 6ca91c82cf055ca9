/* The entry points of GCC before 4.9: a region has two halves, and the master's part runs in the
 * caller's own frame. Programs and libraries of that time still need them.
 * test: env OMP_SCHEDULE=dynamic,3
 */
#include "testing.h"
#include <omp.h>

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
_Bool GOMP_loop_dynamic_next(long *, long *);
_Bool GOMP_loop_static_next(long *, long *);
_Bool GOMP_loop_guided_next(long *, long *);
_Bool GOMP_loop_runtime_next(long *, long *);
_Bool GOMP_loop_static_start(long, long, long, long, long *, long *);
_Bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
_Bool GOMP_loop_guided_start(long, long, long, long, long *, long *);
_Bool GOMP_loop_runtime_start(long, long, long, long *, long *);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
void GOMP_parallel_loop_static_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(void (*)(void *), void *, unsigned, long, long, long);
void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
unsigned GOMP_sections_start(unsigned);
unsigned GOMP_sections_next(void);
void GOMP_sections_end(void);
void GOMP_sections_end_nowait(void);
_Bool GOMP_single_start(void);
void GOMP_barrier(void);

enum { TRIPS = 500 };

struct data {
    int members, size, times[TRIPS];
    _Bool (*next)(long *, long *);
};

static void member(void *argument) {
    struct data *data = argument;
    CHECK_EQ(omp_get_num_threads(), data->size);
    CHECK_EQ(omp_get_level(), 1);
    INCREMENT(&data->members);
    GOMP_barrier();
    CHECK_EQ(GET(&data->members), data->size);
}

static void plain_region(int size) {
    struct data data = {.size = size};
    GOMP_parallel_start(member, &data, (unsigned)size);
    member(&data);
    GOMP_parallel_end();
    CHECK_EQ(data.members, size);
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_num_threads(), 1);
}

/* A request for 0 members means the number of the control variable; 1 means that the if clause was
 * false. */
static void default_size(void) {
    struct data data = {.size = 3};
    omp_set_num_threads(3);
    GOMP_parallel_start(member, &data, 0);
    member(&data);
    GOMP_parallel_end();
    CHECK_EQ(data.members, 3);
}

static void loop_member(void *argument) {
    struct data *data = argument;
    long from, to;
    while (data->next(&from, &to))
        for (long i = from; i < to; i++) INCREMENT(&data->times[i]);
    GOMP_loop_end_nowait();
}

static void expect(struct data *data) {
    for (int i = 0; i < TRIPS; i++) {
        CHECK_EQ(data->times[i], 1);
        data->times[i] = 0;
    }
}

static void combined_loops(int size) {
    struct data data = {.size = size};
    data.next = GOMP_loop_static_next;
    GOMP_parallel_loop_static_start(loop_member, &data, (unsigned)size, 0, TRIPS, 1, 0);
    loop_member(&data);
    GOMP_parallel_end();
    expect(&data);
    GOMP_parallel_loop_static_start(loop_member, &data, (unsigned)size, 0, TRIPS, 1, 7);
    loop_member(&data);
    GOMP_parallel_end();
    expect(&data);
    data.next = GOMP_loop_dynamic_next;
    GOMP_parallel_loop_dynamic_start(loop_member, &data, (unsigned)size, 0, TRIPS, 1, 4);
    loop_member(&data);
    GOMP_parallel_end();
    expect(&data);
    data.next = GOMP_loop_guided_next;
    GOMP_parallel_loop_guided_start(loop_member, &data, (unsigned)size, 0, TRIPS, 1, 2);
    loop_member(&data);
    GOMP_parallel_end();
    expect(&data);
    data.next = GOMP_loop_runtime_next;
    GOMP_parallel_loop_runtime_start(loop_member, &data, (unsigned)size, 0, TRIPS, 1);
    loop_member(&data);
    GOMP_parallel_end();
    expect(&data);
}

/* Each member starts the loop, as in a loop inside a region; two loops follow each other. */
struct starts {
    struct data first, second;
};

static void two_loops(void *argument) {
    struct starts *starts = argument;
    long from, to;
    if (GOMP_loop_guided_start(0, TRIPS, 1, 1, &from, &to)) do {
            for (long i = from; i < to; i++) INCREMENT(&starts->first.times[i]);
        } while (GOMP_loop_guided_next(&from, &to));
    GOMP_loop_end();
    for (int i = 0; i < TRIPS; i++) CHECK_EQ(GET(&starts->first.times[i]), 1);
    if (GOMP_loop_runtime_start(0, TRIPS, 1, &from, &to)) do {
            for (long i = from; i < to; i++) INCREMENT(&starts->second.times[i]);
        } while (GOMP_loop_runtime_next(&from, &to));
    GOMP_loop_end_nowait();
}

static void separate_loops(int size) {
    static struct starts starts;
    GOMP_parallel_start(two_loops, &starts, (unsigned)size);
    two_loops(&starts);
    GOMP_parallel_end();
    expect(&starts.first);
    expect(&starts.second);
}

static void sections_member(void *argument) {
    struct data *data = argument;
    for (unsigned section; (section = GOMP_sections_next()) != 0;) INCREMENT(&data->times[section]);
    GOMP_sections_end_nowait();
}

static void combined_sections(int size) {
    struct data data = {.size = size};
    GOMP_parallel_sections_start(sections_member, &data, (unsigned)size, 9);
    sections_member(&data);
    GOMP_parallel_end();
    for (int section = 0; section < 20; section++)
        CHECK_EQ(data.times[section], section >= 1 && section <= 9);
}

/* A region in two halves inside another region. */
static void outer_member(void *argument) {
    int *count = argument;
    struct data data = {.size = 2};
    GOMP_parallel_start(loop_member, &data, 1);
    CHECK_EQ(omp_get_level(), 2);
    GOMP_parallel_end();
    CHECK_EQ(omp_get_level(), 1);
    INCREMENT(count);
}

static void nested(int size) {
    int count = 0;
    GOMP_parallel_start(outer_member, &count, (unsigned)size);
    outer_member(&count);
    GOMP_parallel_end();
    CHECK_EQ(count, size);
}

int main(void) {
    test_limit(30);
    for (int round = 0; round < 20; round++)
        for (int size = 1; size <= 4; size++) {
            plain_region(size);
            combined_loops(size);
            separate_loops(size);
            combined_sections(size);
            nested(size);
        }
    default_size();
    return 0;
}
