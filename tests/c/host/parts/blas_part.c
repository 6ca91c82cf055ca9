/* A library with its own pool that behaves like OpenBLAS, and counts violations of its rules.
 *
 * The library makes its threads when it is loaded, and ends them when the process forks. The jobs
 * of a section wait for each other, and yield just often enough that tests on crowded processors
 * end. Each job works in the memory of its number, which belongs to one job at a time;
 * blas_part_clashes counts the jobs that found another job there. A factorisation uses the
 * library's own threads whatever function it was told. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { MOST = 16, LINE = 64 };

typedef void job_function(int number, void *data, int buffer);
typedef void section_function(int sync, job_function *job, int jobs, size_t size, void *data,
                              int buffer);

struct sum {
    const long *values;
    int count, jobs;
    struct {
        _Alignas(LINE) long value;
        int there;
    } parts[MOST];
    long totals[MOST];
};

struct queue {
    struct sum *sum;
    int position;
    int assigned;
    struct queue *next;
};

struct server {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct queue *queue; /* (void *)-1: end */
};

int blas_num_threads;   /* all threads, including the caller */
int blas_part_clashes;  /* jobs that met another job in the memory of their number */
int blas_part_own_jobs; /* jobs that the library's own threads executed */
static int wanted;      /* threads for the next section */
static int available;   /* the servers run */
static section_function *section;
static struct server servers[MOST];
static long *buffers[MOST];
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

static void pause_in_turn(unsigned turn) {
    if (turn % 1000 == 999)
        sched_yield();
    else
        __asm__ volatile("nop");
}

static void run_job(int number, void *data, int buffer) {
    struct queue *queue = data;
    struct sum *sum = queue->sum;
    int self = queue->position;
    (void)buffer;
    if (!buffers[number]) buffers[number] = calloc(1, sizeof(long));
    long *memory = buffers[number];
    if (__atomic_exchange_n(memory, 1, __ATOMIC_ACQ_REL) != 0)
        __atomic_add_fetch(&blas_part_clashes, 1, __ATOMIC_ACQ_REL);
    long value = 0;
    for (int i = self; i < sum->count; i += sum->jobs) value += sum->values[i];
    sum->parts[self].value = value;
    __atomic_store_n(&sum->parts[self].there, 1, __ATOMIC_RELEASE);
    long total = 0;
    for (int i = 0; i < sum->jobs; i++) {
        for (unsigned turn = 0; !__atomic_load_n(&sum->parts[i].there, __ATOMIC_ACQUIRE); turn++)
            pause_in_turn(turn);
        total += sum->parts[i].value;
    }
    sum->totals[self] = total;
    if (__atomic_exchange_n(memory, 0, __ATOMIC_ACQ_REL) != 1)
        __atomic_add_fetch(&blas_part_clashes, 1, __ATOMIC_ACQ_REL);
}

static void *serve(void *argument) {
    struct server *server = argument;
    for (;;) {
        pthread_mutex_lock(&server->lock);
        while (!server->queue) pthread_cond_wait(&server->wake, &server->lock);
        struct queue *queue = server->queue;
        pthread_mutex_unlock(&server->lock);
        if (queue == (void *)-1) return NULL;
        run_job((int)(server - servers), queue, 0);
        __atomic_add_fetch(&blas_part_own_jobs, 1, __ATOMIC_ACQ_REL);
        __atomic_store_n(&server->queue, NULL, __ATOMIC_RELEASE);
    }
}

static void make_servers(int from, int to) {
    for (int i = from; i < to - 1; i++) {
        servers[i].queue = NULL;
        pthread_mutex_init(&servers[i].lock, NULL);
        pthread_cond_init(&servers[i].wake, NULL);
        if (pthread_create(&servers[i].thread, NULL, serve, &servers[i]) != 0) abort();
    }
}

static void start_servers(void) {
    make_servers(0, blas_num_threads);
    available = 1;
}

static void give(struct server *server, struct queue *queue) {
    pthread_mutex_lock(&server->lock);
    server->queue = queue;
    pthread_cond_signal(&server->wake);
    pthread_mutex_unlock(&server->lock);
}

static void end_servers(void) {
    for (int i = 0; available && i < blas_num_threads - 1; i++) give(&servers[i], (void *)-1);
    for (int i = 0; available && i < blas_num_threads - 1; i++)
        pthread_join(servers[i].thread, NULL);
    for (int i = 0; i < MOST; i++) {
        free(buffers[i]);
        buffers[i] = NULL;
    }
    available = 0;
}

__attribute__((constructor)) static void start(void) {
    pthread_atfork(end_servers, NULL, NULL);
    const char *threads = getenv("BLAS_PART_THREADS");
    wanted = blas_num_threads = threads ? atoi(threads) : 3;
    start_servers();
}

static void execute_own(struct queue *queue) {
    pthread_mutex_lock(&queue_lock);
    for (struct queue *next = queue; next; next = next->next) {
        int i = 0;
        for (unsigned turn = 0; __atomic_load_n(&servers[i].queue, __ATOMIC_ACQUIRE); turn++) {
            if (++i >= blas_num_threads - 1) i = 0;
            pause_in_turn(turn);
        }
        next->assigned = i;
        give(&servers[i], next);
    }
    pthread_mutex_unlock(&queue_lock);
}

static void await_own(struct queue *queue) {
    for (; queue; queue = queue->next)
        for (unsigned turn = 0;
             __atomic_load_n(&servers[queue->assigned].queue, __ATOMIC_ACQUIRE) == queue; turn++)
            pause_in_turn(turn);
}

/* The caller's share of the work, outside run_job, has its own memory. */
static void run_here(struct sum *sum) {
    struct queue own = {.sum = sum};
    long value = 0;
    for (int i = own.position; i < sum->count; i += sum->jobs) value += sum->values[i];
    sum->parts[0].value = value;
    __atomic_store_n(&sum->parts[0].there, 1, __ATOMIC_RELEASE);
}

int exec_blas(long jobs, struct queue *queue) {
    section_function *told = __atomic_load_n(&section, __ATOMIC_ACQUIRE);
    if (told) {
        told(1, run_job, (int)jobs, sizeof *queue, queue, 0);
        return 0;
    }
    if (!available) start_servers();
    if (queue->next) execute_own(queue->next);
    run_here(queue->sum);
    await_own(queue->next);
    return 0;
}

static void set_up(struct sum *sum, struct queue *queue, const long *values, int count) {
    *sum = (struct sum){.values = values, .count = count};
    sum->jobs = __atomic_load_n(&wanted, __ATOMIC_RELAXED);
    for (int i = 0; i < sum->jobs; i++)
        queue[i] = (struct queue){
            .sum = sum, .position = i, .next = i + 1 < sum->jobs ? &queue[i + 1] : NULL};
}

/* Returns the sum, or -1 if some job found another sum; *jobs is the number of jobs. */
static long result(const struct sum *sum, int first, int *jobs) {
    long total = 0;
    for (int i = 0; i < sum->jobs; i++) total += sum->parts[i].value;
    for (int i = first; i < sum->jobs; i++)
        if (sum->totals[i] != total) return -1;
    *jobs = sum->jobs;
    return total;
}

/* Computes the sum in a parallel section. */
long blas_part_sum(const long *values, int count, int *jobs) {
    struct sum sum;
    struct queue queue[MOST];
    set_up(&sum, queue, values, count);
    exec_blas(sum.jobs, queue);
    return result(&sum, 1, jobs);
}

/* Computes the sum by the library's own threads. */
long blas_part_factor(const long *values, int count, int *jobs) {
    struct sum sum;
    struct queue queue[MOST];
    if (!available) start_servers();
    set_up(&sum, queue, values, count);
    if (queue->next) execute_own(queue->next);
    run_here(&sum);
    await_own(queue->next);
    return result(&sum, 1, jobs);
}

void openblas_set_threads_callback_function(section_function *function) {
    __atomic_store_n(&section, function, __ATOMIC_RELEASE);
}

int openblas_get_parallel(void) {
    return 1;
}

char *openblas_get_config(void) {
    static char config[] = "Part 0.3.29 MAX_THREADS=16";
    return config;
}

int openblas_get_num_threads(void) {
    return wanted;
}

void openblas_set_num_threads(int threads) {
    if (!available) start_servers();
    if (threads > MOST) threads = MOST;
    if (threads > blas_num_threads) {
        make_servers(blas_num_threads - 1, threads);
        blas_num_threads = threads;
    }
    __atomic_store_n(&wanted, threads, __ATOMIC_RELAXED);
}
