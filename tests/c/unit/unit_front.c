/* core/front.h suffices to write a compiler's interface of a few entry points. This interface has a
 * region, a loop, tasks with dependences in two steps, and a reduction. A listener learns the
 * caller.
 */
#include "unit.h"

#include "core/front.h"

/* --- a front end: a compiler would call toy_* ------------------------------------------------- */

enum { TOY_IN, TOY_OUT };

CST_ENTRY(CST_FRONT_TEST, void, toy_parallel, (void (*body)(void *), void *data, int threads),
          (body, data, threads)) {
    struct cst_region region = {.function = body, .data = data, .threads = (uint32_t)threads};
    cst_region_run(cst_self(), &region);
}

static bool toy_loop_next(long *first, long *last) {
    uint64_t from, to;
    if (!cst_loop_next(cst_self(), &from, &to)) {
        cst_loop_end(cst_self());
        return false;
    }
    *first = (long)from;
    *last = (long)to;
    return true;
}

static bool toy_loop(long begin, long end, long chunk, long *first, long *last) {
    struct cst_loop_spec spec = {.start = (uint64_t)begin,
                                 .end = (uint64_t)end,
                                 .increment = 1,
                                 .chunk = (uint64_t)chunk,
                                 .schedule = CST_SCHEDULE_DYNAMIC,
                                 .up = true,
                                 .is_signed = true};
    cst_loop_start(cst_self(), &spec);
    return toy_loop_next(first, last);
}

/* The compiler's own form of a task: its function, then its data. */
struct toy_task {
    void (*run)(struct toy_task *task);
    int *value, add;
};

static void run_toy(void *data) {
    struct toy_task *task = data;
    task->run(task);
}

static const struct cst_task_request toy_request = {
    .function = run_toy, .alignment = _Alignof(struct toy_task), .deferrable = true};

static struct toy_task *toy_task_make(struct cst_task **record) {
    *record = cst_task_allocate(cst_self(), &toy_request, sizeof(struct toy_task));
    return cst_task_data(*record);
}

struct toy_depend {
    void *address;
    int kind;
};

static struct cst_depend_item item(const struct cst_depend_list *list, size_t index) {
    const struct toy_depend *depend = (void *)list->address;
    return (struct cst_depend_item){.address = depend[index].address,
                                    .kind = depend[index].kind == TOY_IN ? CST_DEPEND_IN
                                                                         : CST_DEPEND_OUT};
}

static void toy_task_submit(struct cst_task *record, struct toy_depend *depend, size_t count) {
    struct cst_depend_list list = {.count = count, .address = (void **)depend, .other = item};
    struct cst_task_request request = toy_request;
    if (count > 0) request.depend = &list;
    cst_task_submit(cst_self(), record, &request);
}

/* --- programs for it -------------------------------------------------------------------------- */

enum { THREADS = 4, TRIPS = 1000, CHAIN = 100 };

static _Atomic uint32_t hits[TRIPS], members;

static void loop_body(void *unused) {
    (void)unused;
    long first, last;
    cst_add_relaxed(&members, 1);
    for (bool more = toy_loop(0, TRIPS, 7, &first, &last); more;
         more = toy_loop_next(&first, &last))
        for (long i = first; i < last; i++) cst_add_relaxed(&hits[i], 1);
}

static void a_region_with_a_loop(void) {
    toy_parallel(loop_body, NULL, THREADS);
    UNIT_CHECK(cst_load_relaxed(&members) == THREADS);
    for (int i = 0; i < TRIPS; i++) UNIT_CHECK(cst_load_relaxed(&hits[i]) == 1);
}

/* The values come out right only in this order of tasks. */
static void twice_and_add(struct toy_task *task) {
    *task->value = (2 * *task->value + task->add) % 10007;
}

static void chain_body(void *data) {
    if (!cst_share_single(cst_self())) return;
    for (int i = 0; i < CHAIN; i++) {
        struct cst_task *record;
        *toy_task_make(&record) = (struct toy_task){.run = twice_and_add, .value = data, .add = i};
        struct toy_depend depend[] = {{data, TOY_OUT}, {&hits[i % 3], TOY_IN}};
        toy_task_submit(record, depend, 2);
    }
}

static void a_graph_of_tasks(void) {
    int value = 1, expected = 1;
    for (int i = 0; i < CHAIN; i++) expected = (2 * expected + i) % 10007;
    toy_parallel(chain_body, &value, THREADS);
    UNIT_CHECK(value == expected);
}

static void begin_largest(void *copy) {
    *(long *)copy = -1;
}

static void keep_larger(void *to, void *from) {
    if (*(long *)from > *(long *)to) *(long *)to = *(long *)from;
}

static void offer(struct toy_task *task) {
    long *largest = cst_reduce_copy(cst_self(), cst_reduce_list(cst_self()));
    long mine = task->add * 7919L % 1009;
    keep_larger(largest, &mine);
}

static void reduction_body(void *data) {
    if (!cst_share_single(cst_self())) return;
    struct cst_reduction reduction = {.bytes = sizeof(long),
                                      .alignment = _Alignof(long),
                                      .initialise = begin_largest,
                                      .combine = keep_larger,
                                      .original = data};
    struct cst_group group;
    cst_group_begin(cst_self(), &group);
    cst_reduce_register(cst_self(), &reduction);
    for (int i = 0; i < TRIPS; i++) {
        struct cst_task *record;
        *toy_task_make(&record) = (struct toy_task){.run = offer, .add = i};
        toy_task_submit(record, NULL, 0);
    }
    cst_group_end(cst_self());
    cst_reduce_combine(&reduction);
    cst_reduce_free(&reduction);
}

static void a_reduction(void) {
    long largest = -1, expected = -1;
    for (long i = 0; i < TRIPS; i++) keep_larger(&expected, &(long){i * 7919 % 1009});
    toy_parallel(reduction_body, &largest, THREADS);
    UNIT_CHECK(largest == expected);
}

/* The data of each round lie on the members' stacks, and are overwritten at once; large teams
 * reduce by the tree. */
static void add(void *to, void *from) {
    *(long *)to += *(long *)from;
}

static void gather_body(void *data) {
    for (long round = 0; round < 200; round++) {
        long mine = cst_ask_number() + round;
        bool root = cst_gather(cst_self(), &mine, add);
        UNIT_CHECK(root == (cst_ask_number() == 0));
        if (root) UNIT_CHECK(mine == *(long *)data + round * cst_ask_size());
        mine = -1000000;
    }
}

static void a_reduction_by_a_tree(void) {
    for (int size = 1; size <= 22; size += 7) {
        long numbers = (long)size * (size - 1) / 2;
        toy_parallel(gather_body, &numbers, size);
    }
}

/* --- the caller ------------------------------------------------------------------------------- */

static struct cst_origin seen;

static void listen(enum cst_trace_event event, unsigned number, unsigned size,
                   const struct cst_origin *origin) {
    (void)number, (void)size;
    if (event == CST_TRACE_REGION_BEGINS) seen = *origin;
}

static void nothing(void *unused) {
    (void)unused;
}

static __attribute__((noinline)) void call_it(void) {
    toy_parallel(nothing, NULL, 1);
    __asm__ volatile("");
}

static void a_listener_knows_the_caller(void) {
    toy_parallel(nothing, NULL, 1);
    UNIT_CHECK(seen.front == CST_FRONT_NONE); /* there was no listener */
    cst_store_relaxed(&cst_trace_to, listen);
    call_it();
    cst_store_relaxed(&cst_trace_to, NULL);
    UNIT_CHECK(seen.front == CST_FRONT_TEST && seen.address && !seen.source);
}

int main(void) {
    UNIT_RUN(a_region_with_a_loop);
    UNIT_RUN(a_graph_of_tasks);
    UNIT_RUN(a_reduction);
    UNIT_RUN(a_reduction_by_a_tree);
    UNIT_RUN(a_listener_knows_the_caller);
    return unit_result();
}
