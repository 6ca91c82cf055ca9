/* While regions run, many threads request, change and release permits, and receive calls about
 * them. No permit has more threads than it requested, and in the end all threads are free again.
 *
 * test: env CAPSTAN_ADOPT=onetbb
 * test: flags -ldl -lpthread
 * test: not check the library is looked for by its name
 * test: not qemu the file of names is made for this machine alone
 * test: not stock GCC's runtime gives no permits
 * test: not clang-stock LLVM's runtime gives no permits
 * test: not thread the library is looked for by its name
 * test: not address the library is looked for by its name
 * test: not undefined the library is looked for by its name
 */
#include "../host/tcm.h"
#include <omp.h>
#include <pthread.h>

enum { THREADS = 8, ROUNDS = 2000 };

static int processors;
static uint64_t pool;
static int calls;

/* Queries the permit inside the callback, as a pool may. */
static int told(handle permit, void *argument, uint32_t flags) {
    uint32_t threads = 0;
    struct permit data = {.concurrencies = &threads, .size = 1};
    (void)argument, (void)flags;
    int result = tcm.data(permit, &data);
    CHECK(result == TCM_SUCCESS || result == TCM_INVALID); /* the permit may be gone */
    CHECK((int)threads <= processors);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return 0;
}

static void run_region(void) {
    int sum = 0, size = 0;
#pragma omp parallel reduction(+ : sum)
    {
        sum++;
#pragma omp single
        size = omp_get_num_threads();
    }
    CHECK_EQ(sum, size);
}

static void *client(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    handle permit = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        int most = (int)(rand_r(&seed) % (unsigned)(processors + 1));
        int least = most ? (int)(rand_r(&seed) % 2) : 0;
        CHECK_EQ(tcm.request(pool, ask(least, most, 0), NULL, &permit, NULL), TCM_SUCCESS);
        uint32_t threads = 0;
        struct permit data = {.concurrencies = &threads, .size = 1};
        CHECK_EQ(tcm.data(permit, &data), TCM_SUCCESS);
        CHECK((int)threads <= most);
        switch (rand_r(&seed) % 4) {
        case 0:
            tcm.idle(permit);
            break;
        case 1:
            CHECK_EQ(tcm.deactivate(permit), TCM_SUCCESS);
            CHECK_EQ(threads_of(permit, INACTIVE), 0);
            break;
        case 2:
            CHECK_EQ(tcm.release(permit), TCM_SUCCESS);
            permit = NULL;
            break;
        default:
            run_region();
        }
    }
    if (permit) CHECK_EQ(tcm.release(permit), TCM_SUCCESS);
    return NULL;
}

int main(void) {
    test_limit(60);
    processors = omp_get_num_procs();
    tcm_open();
    CHECK_EQ(tcm.connect(told, &pool), TCM_SUCCESS);
    /* This permit lives all the time, so it must give up threads. */
    handle witness = NULL;
    CHECK_EQ(tcm.request(pool, ask(0, processors, 0), NULL, &witness, NULL), TCM_SUCCESS);
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, client, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(__atomic_load_n(&calls, __ATOMIC_RELAXED) > 0 || processors == 1);
    pause_ms(50); /* longer than a claim of a region lasts */
    CHECK_EQ(tcm.activate(witness), TCM_SUCCESS);
    CHECK_EQ(threads_of(witness, ACTIVE), processors);
    CHECK_EQ(tcm.release(witness), TCM_SUCCESS);
    handle all = NULL;
    CHECK_EQ(tcm.request(pool, ask(processors, processors, 0), NULL, &all, NULL), TCM_SUCCESS);
    CHECK_EQ(threads_of(all, ACTIVE), processors);
    CHECK_EQ(tcm.disconnect(pool), TCM_SUCCESS);
    return 0;
}
