/* GCC compiles this part, so it calls libgomp.so.1. */
#include <omp.h>

int gcc_members(int threads) {
    int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
    members++;
    return members;
}

/* Returns the number of this thread in the caller's region. */
int gcc_number(void) {
    return omp_get_thread_num();
}

int gcc_level(void) {
    return omp_get_level();
}

void gcc_schedule(int *kind, int *chunk) {
    omp_sched_t found;
    omp_get_schedule(&found, chunk);
    *kind = (int)(found & ~omp_sched_monotonic);
}

/* Takes a lock that the caller made. */
void gcc_lock(omp_lock_t *lock, long *sum, int times) {
    for (int i = 0; i < times; i++) {
        omp_set_lock(lock);
        *sum += 1;
        omp_unset_lock(lock);
    }
}

int gcc_nest(omp_nest_lock_t *lock) {
    omp_set_nest_lock(lock);
    int count = omp_test_nest_lock(lock);
    omp_unset_nest_lock(lock);
    omp_unset_nest_lock(lock);
    return count;
}

/* Makes tasks in the caller's region; the caller waits for them. */
void gcc_tasks(int count, int *done) {
    for (int i = 0; i < count; i++) {
#pragma omp task
        __atomic_add_fetch(done, 1, __ATOMIC_RELAXED);
    }
}
