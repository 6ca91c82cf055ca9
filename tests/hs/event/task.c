/* For the Haskell tests: C functions as targets, and an OpenMP task that Haskell completes. */
#include <omp.h>
#include <stdint.h>

int test_fd_calls, test_timer_calls, test_post_calls;
void *test_data;

void test_fd_function(void *manager, uint64_t watch, int fd, unsigned events, void *data) {
    (void)manager, (void)watch, (void)fd;
    test_data = data;
    __atomic_add_fetch(&test_fd_calls, (int)events, __ATOMIC_ACQ_REL);
}

void test_timer_function(void *manager, uint64_t timer, uint64_t expirations, void *data) {
    (void)manager, (void)timer;
    test_data = data;
    __atomic_add_fetch(&test_timer_calls, (int)expirations, __ATOMIC_ACQ_REL);
}

void test_post_function(void *manager, void *data) {
    (void)manager;
    test_data = data;
    __atomic_add_fetch(&test_post_calls, 1, __ATOMIC_ACQ_REL);
}

/* Writes the event of a detached task to *event, and returns when the dependent task has run.
 * Returns 1 if that task ran after *completed was set. */
int test_detached(uintptr_t *event, int *completed) {
    int after = 0, x = 0;
    (void)x;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t handle;
#pragma omp task detach(handle) depend(out : x)
        __atomic_store_n(event, (uintptr_t)handle, __ATOMIC_RELEASE);
#pragma omp task depend(in : x) shared(after)
        after = __atomic_load_n(completed, __ATOMIC_ACQUIRE);
    }
    return after;
}
