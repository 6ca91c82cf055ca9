/* Calls of later compilers and of libraries: lists in num_threads clauses, tasks that other threads
 * complete, numbers of tasks, handles of allocators as variables.
 *
 * test: flags -Lbuild/lib -ldl
 * test: not clang-stock libomp 14 has fewer
 */
#include "testing.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

int __kmpc_global_thread_num(void *);
void __kmpc_push_num_threads_list(void *, int, unsigned, const int *);
void __kmpc_push_num_threads_list_strict(void *, int, unsigned, const int *, int, const char *);
void __kmpc_serialized_parallel(void *, int);
void __kmpc_end_serialized_parallel(void *, int);
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);
int __kmpc_pause_resource(int);

struct task {
    void *shared;
    int (*routine)(int, struct task *);
    int part;
    void *data[2];
};
struct task *__kmpc_omp_task_alloc(void *, int, int, size_t, size_t, int (*)(int, struct task *));
int __kmpc_omp_task(void *, int, struct task *);
void __kmpc_proxy_task_completed_ooo(struct task *);
void __kmpc_proxy_task_completed(int, struct task *);

static int self(void) {
    return __kmpc_global_thread_num(NULL);
}

/* --- num_threads(3, 2, 1) ------------------------------------------------------------------ */

static int sizes[4];

static void note_sizes(int level) {
    if (level == 4) return;
#pragma omp parallel
    {
#pragma omp master
        SET(&sizes[level], omp_get_num_threads());
        note_sizes(level + 1);
    }
}

static void expect(const int *expected) {
    for (int i = 0; i < 4; i++) CHECK_EQ(sizes[i], expected[i]);
}

static void lists(void) {
    static const int list[] = {3, 2, 1};
    omp_set_max_active_levels(4);
    omp_set_num_threads(2);
    __kmpc_push_num_threads_list(NULL, self(), 3, list);
    note_sizes(0);
    expect((int[]){3, 2, 1, 1}); /* the last number of the list holds for deeper levels */
    note_sizes(0);
    expect((int[]){2, 2, 2, 2}); /* the clause held for one region */
    __kmpc_push_num_threads_list(NULL, self(), 1, list);
    note_sizes(0);
    expect((int[]){3, 2, 2, 2});

    /* A clause of an inner region takes precedence, and ends with that region. */
    static const int inner[] = {1, 3};
    __kmpc_push_num_threads_list(NULL, self(), 2, (int[]){1, 2});
#pragma omp parallel
    {
        __kmpc_push_num_threads_list(NULL, self(), 2, inner);
        note_sizes(1);
        expect((int[]){3, 1, 3, 3});
        note_sizes(1);
        expect((int[]){3, 2, 2, 2});
    }

    /* A region that if(0) reduces to one thread passes the rest of the clause's list to its inner
     * regions. */
    __kmpc_push_num_threads_list(NULL, self(), 2, (int[]){4, 3});
    __kmpc_serialized_parallel(NULL, self());
    note_sizes(1);
    expect((int[]){3, 3, 3, 3});
    __kmpc_end_serialized_parallel(NULL, self());

    __kmpc_push_num_threads_list_strict(NULL, self(), 2, (int[]){2, 3}, 2, "two are to be had");
    note_sizes(0);
    expect((int[]){2, 3, 3, 3});
}

/* --- tasks --------------------------------------------------------------------------------- */

enum { PROXY = 1 << 4 };
static int ran;

static int begin_proxy(int thread, struct task *task) {
    (void)thread, (void)task;
    SET(&ran, 1);
    return 0;
}

static void *complete(void *task) {
    while (!GET(&ran)) sched_yield();
    struct timespec moment = {.tv_nsec = 20000000};
    nanosleep(&moment, NULL);
    SET(&ran, 2);
    __kmpc_proxy_task_completed_ooo(task);
    return NULL;
}

/* A proxy task is complete only when another thread says so, although its body has returned. */
static void proxies(void) {
    pthread_t other;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        struct task *task =
            __kmpc_omp_task_alloc(NULL, self(), 1 | PROXY, sizeof *task, 0, begin_proxy);
        CHECK_EQ(pthread_create(&other, NULL, complete, task), 0);
        __kmpc_omp_task(NULL, self(), task);
#pragma omp taskwait
        CHECK_EQ(GET(&ran), 2);
        pthread_join(other, NULL);
        task = __kmpc_omp_task_alloc(NULL, self(), 1 | PROXY, sizeof *task, 0, begin_proxy);
        __kmpc_omp_task(NULL, self(), task);
        __kmpc_proxy_task_completed(self(), task);
#pragma omp taskwait
    }
}

static void numbers(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        uint64_t mine = __kmpc_get_taskid(), inner = 0, parent = 0;
        CHECK(mine != 0);
#pragma omp task shared(inner, parent)
        {
            inner = __kmpc_get_taskid();
            parent = __kmpc_get_parent_taskid();
        }
#pragma omp taskwait
        CHECK(inner != 0 && inner != mine);
        CHECK_EQ(parent, mine);
        CHECK_EQ(__kmpc_get_taskid(), mine);
    }
}

/* --- handles ------------------------------------------------------------------------------- */

static void handle(const char *name, uintptr_t value) {
    const uintptr_t *at = dlsym(RTLD_DEFAULT, name);
    CHECK(at != NULL);
    CHECK_EQ(*at, value);
}

static void handles(void) {
    handle("omp_null_allocator", omp_null_allocator);
    handle("omp_default_mem_alloc", omp_default_mem_alloc);
    handle("omp_large_cap_mem_alloc", omp_large_cap_mem_alloc);
    handle("omp_const_mem_alloc", omp_const_mem_alloc);
    handle("omp_high_bw_mem_alloc", omp_high_bw_mem_alloc);
    handle("omp_low_lat_mem_alloc", omp_low_lat_mem_alloc);
    handle("omp_cgroup_mem_alloc", omp_cgroup_mem_alloc);
    handle("omp_pteam_mem_alloc", omp_pteam_mem_alloc);
    handle("omp_thread_mem_alloc", omp_thread_mem_alloc);
    handle("omp_default_mem_space", omp_default_mem_space);
    handle("omp_large_cap_mem_space", omp_large_cap_mem_space);
    handle("omp_const_mem_space", omp_const_mem_space);
    handle("omp_high_bw_mem_space", omp_high_bw_mem_space);
    handle("omp_low_lat_mem_space", omp_low_lat_mem_space);
    handle("kmp_max_mem_alloc", UINTPTR_MAX);
}

int main(void) {
    test_limit(50);
    lists();
    proxies();
    numbers();
    handles();
#pragma omp parallel num_threads(2)
    CHECK(__kmpc_pause_resource(1) != 0); /* not inside a region */
    CHECK_EQ(__kmpc_pause_resource(1), 0);
    return 0;
}
