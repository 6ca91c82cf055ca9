/* core/team/validate.h, and the validators of the pool, the deque and the table of dependences. In
 * builds with all checks a corrupt structure ends the process at its owner's next look. Each fault
 * is planted in a child, whose last message names the broken rule. */
#include "unit.h"

#include "abi/gomp/facts.h"
#include "core/base/deque.h"
#include "core/state/thread.h"
#include "core/task/depend.h"
#include "core/task/task.h"

#include <signal.h>
#include <sys/wait.h>

enum { ENTRIES = 64 }; /* the length of a deque's first buffer */

/* --- the child -------------------------------------------------------------------------- */

struct end {
    int status;
    char said[4096];
};

static struct end end_of(void (*plant)(void)) {
    struct end end = {.status = -1};
    int ends[2];
    size_t length = 0;
    ssize_t got;
    UNIT_EQUAL(pipe(ends), 0);
    pid_t child = fork();
    UNIT_CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL);
        alarm(30);
        plant();
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], end.said + length, sizeof end.said - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    UNIT_EQUAL(waitpid(child, &end.status, 0), child);
    return end;
}

/* `rule`: the check that must fail; NULL: none. */
static void expect(void (*plant)(void), const char *rule) {
    struct end end = end_of(plant);
    if (!rule) {
        if (end.status != 0) UNIT_STOP("ended with %#x: %s", end.status, end.said);
        return;
    }
    char wanted[200];
    snprintf(wanted, sizeof wanted, "internal check failed: %s", rule);
    if (!strstr(end.said, wanted)) UNIT_STOP("said \"%s\", not \"%s\"", end.said, wanted);
    UNIT_CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
}

/* --- seats, docks, the pool ----------------------------------------------------------------- */

static struct cst_seat *seat_of(uint32_t number) {
    return cst_team_seat(cst_self()->team, number);
}

/* Member 0 plants the fault in a region while the other member waits, as the lease protects all of
 * these fields. */
static void (*fault)(void);

static void plant_in_region(void *unused) {
    (void)unused;
    GOMP_barrier();
    if (cst_self()->number == 0 && fault) fault();
    GOMP_barrier();
}

static void region_of_two(void) {
    GOMP_parallel(plant_in_region, NULL, 2, 0);
}

static void region_of_three_then_two(void) {
    void (*planted)(void) = fault;
    fault = NULL;
    GOMP_parallel(plant_in_region, NULL, 3, 0);
    fault = planted;
    region_of_two();
}

static void wrong_size(void) {
    seat_of(0)->size = 1; /* no check looks at a member outside the team */
}
static void wrong_order(void) {
    seat_of(1)->dock.order.size = 3;
}
static void wrong_region(void) {
    cst_store_relaxed(&seat_of(1)->dock.go, cst_self()->team->region - 1);
}
static void wrong_number(void) {
    cst_team_seat(cst_self()->team, 2)->number = 1; /* the seat of a member that takes no part */
}
static void wrong_lease(void) {
    cst_store_relaxed(&cst_self()->team->leased, 2);
}
static void wrong_count(void) {
    cst_self()->team->counted = 3;
}
static void wrong_capacity(void) {
    cst_store_relaxed(&cst_self()->team->capacity, 2); /* one worker belongs to no team */
}
static void task_made(void) {
    cst_add_relaxed(&seat_of(0)->tasks_made, 1);
}
static void task_left(void) {
    static struct cst_task task;
    cst_deque_push(&seat_of(0)->deque, &task);
    cst_add_relaxed(&seat_of(0)->tasks_made, 1);
    cst_add_relaxed(&seat_of(0)->tasks_done, 1);
}

static void teams(void) {
    static const struct {
        void (*fault)(void), (*region)(void);
        const char *rule;
    } faults[] = {
        {NULL, region_of_two, NULL},
        {NULL, region_of_three_then_two, NULL},
        {wrong_size, region_of_two, "seat->region == team->region && seat->size == team->size"},
        {wrong_order, region_of_two, "dock->order.size == team->size"},
        {wrong_region, region_of_two, "go == team->region"},
        {wrong_number, region_of_three_then_two, "seat && seat->team == team && seat->number == i"},
        {wrong_lease, region_of_two, "cst_load_relaxed(&team->leased) == CST_LEASE_MASTER"},
        {wrong_count, region_of_two, "team->counted <= team->size"},
        {wrong_capacity, region_of_three_then_two, "cst_load_relaxed(&pool.workers) <= seats"},
        {task_made, region_of_two, "made == done"},
        {task_left, region_of_two, "cst_deque_is_empty(&seat->deque)"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fault = faults[i].fault;
        expect(faults[i].region, faults[i].rule);
    }
}

/* --- deques --------------------------------------------------------------------------------- */

static struct cst_deque deque;

static void fill(int64_t count) {
    static struct cst_task task;
    for (int64_t i = 0; i < count; i++) UNIT_CHECK(cst_deque_push(&deque, &task));
}
static void many_entries(void) {
    fill(5 * ENTRIES);
}
static void lost_entry(void) {
    fill(ENTRIES);
    cst_store_relaxed(&cst_load_relaxed(&deque.buffer)->entry[7], NULL);
    fill(1);
}
static void top_beyond_bottom(void) {
    fill(3);
    cst_store_relaxed(&deque.top, 4);
    cst_deque_validate(&deque);
}
static void lost_buffer(void) {
    fill(ENTRIES + 1);
    cst_load_relaxed(&deque.buffer)->retired = NULL;
    fill(ENTRIES);
}

static void deques(void) {
    expect(many_entries, NULL);
    expect(lost_entry, "cst_load_relaxed(&buffer->entry[i & buffer->mask]) != NULL");
    expect(top_beyond_bottom, "0 <= deque->top_seen && deque->top_seen <= top && top <= bottom");
    expect(lost_buffer, "buffer->mask + 1 == FIRST_CAPACITY");
}

/* --- dependences ------------------------------------------------------------------------------ */

static void nothing(void *unused) {
    (void)unused;
}

/* Makes `count` tasks; each names another address. */
static void make_tasks(size_t first, size_t count) {
    static char address[4096];
    for (size_t i = first; i < first + count; i++) {
        void *depend[] = {(void *)1, (void *)1, &address[i]};
        GOMP_task(nothing, NULL, NULL, 0, 1, true, GOMP_TASK_DEPEND, depend, 0, NULL);
    }
}

static size_t planted_after; /* 0: no fault */

static void tasks_by_one(void *unused) {
    (void)unused;
    if (cst_self()->number > 0) return;
    make_tasks(0, planted_after);
    uint32_t *count = (uint32_t *)cst_self()->task->children_depend; /* its first field */
    if (planted_after) ++*count;
    make_tasks(planted_after, 2000);
}

static void tasks(void) {
    GOMP_parallel(tasks_by_one, NULL, 2, 0);
}

static void tables(void) {
    static const char rule[] = "count == table->count && 2 * count <= table->capacity";
    planted_after = 0;
    expect(tasks, NULL);
    planted_after = 5;
    expect(tasks, rule);
    planted_after = 1500; /* the table is swept from then on */
    expect(tasks, rule);
}

int main(void) {
    unit_limit(60);
    UNIT_RUN(teams);
    UNIT_RUN(deques);
    UNIT_RUN(tables);
    return unit_result();
}
