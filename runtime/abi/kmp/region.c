/* Regions, teams on the host, cancellation: clang's calls, decoded. */
#include "abi/kmp/facts.h"
#include "abi/kmp/note.h"
#include "abi/omp/prototypes.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/invoke.h"
#include "platform/platform.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names are no expressions */

CST_WHOLE(kmp_region);

/* --- threads ------------------------------------------------------------------------------- */

void __kmpc_begin(kmp_loc *loc, int32_t flags) {
    (void)loc, (void)flags;
}
void __kmpc_end(kmp_loc *loc) {
    (void)loc;
}

int32_t __kmpc_global_thread_num(kmp_loc *loc) {
    (void)loc;
    return (int32_t)cst_own_record(cst_self());
}

int32_t __kmpc_global_num_threads(kmp_loc *loc) {
    (void)loc;
    return (int32_t)cst_pool_workers_made() + 1;
}

int32_t __kmpc_bound_thread_num(kmp_loc *loc) {
    (void)loc;
    return (int32_t)cst_ask_number();
}

int32_t __kmpc_bound_num_threads(kmp_loc *loc) {
    (void)loc;
    return (int32_t)cst_ask_size();
}

int32_t __kmpc_ok_to_fork(kmp_loc *loc) {
    (void)loc;
    return 1;
}

/* Returns 0 on success. No resource stays paused, so level 0 has nothing to resume. */
int32_t __kmpc_pause_resource(int32_t level) {
    return omp_pause_resource_all(level) != 0;
}

int32_t __kmpc_in_parallel(kmp_loc *loc) {
    (void)loc;
    return cst_ask_active_level() > 0;
}

/* --- clauses ------------------------------------------------------------------------------- */

void __kmpc_push_num_threads(kmp_loc *loc, int32_t thread, int32_t threads) {
    (void)loc, (void)thread;
    cst_region_clauses(cst_self())->threads = threads > 0 ? (uint32_t)threads : 1;
}

/* Makes the last given number of threads strict: it must be met. */
static void make_strict(int32_t severity, const char *message) {
    struct cst_clauses *clauses = cst_region_clauses(cst_self());
    clauses->strict = severity == KMP_SEVERITY_FATAL ? KMP_SEVERITY_FATAL : KMP_SEVERITY_WARNING;
    clauses->message = message;
}

void __kmpc_push_num_threads_strict(kmp_loc *loc, int32_t thread, int32_t threads, int32_t severity,
                                    const char *message) {
    __kmpc_push_num_threads(loc, thread, threads);
    make_strict(severity, message);
}

void __kmpc_push_num_threads_list(kmp_loc *loc, int32_t thread, uint32_t length,
                                  const int32_t *list) {
    if (length == 0) return;
    __kmpc_push_num_threads(loc, thread, list[0]);
    if (length == 1) return;
    struct cst_clauses *clauses = cst_region_clauses(cst_self());
    struct cst_sizes *sizes =
        cst_memory_get("a num_threads clause", sizeof *sizes + length * sizeof sizes->threads[0]);
    sizes->count = length;
    for (uint32_t i = 0; i < length; i++) sizes->threads[i] = list[i] > 0 ? (uint32_t)list[i] : 1;
    free(clauses->sizes);
    clauses->sizes = sizes;
}

void __kmpc_push_num_threads_list_strict(kmp_loc *loc, int32_t thread, uint32_t length,
                                         const int32_t *list, int32_t severity,
                                         const char *message) {
    __kmpc_push_num_threads_list(loc, thread, length, list);
    make_strict(severity, message);
}

void __kmpc_pop_num_threads(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}

void __kmpc_push_proc_bind(kmp_loc *loc, int32_t thread, int32_t bind) {
    (void)loc, (void)thread;
    /* For the old name `master` compilers give OpenMP's number. */
    if (bind == KMP_BIND_PRIMARY) bind = CST_BIND_PRIMARY;
    cst_region_clauses(cst_self())->bind = (uint8_t)bind;
}

/* --- regions ------------------------------------------------------------------------------- */

/* The call of each member: the compiler's function with its arguments. */
struct fork {
    kmp_micro *micro;
    size_t count;
    /* The arguments, or in the first word the address of `count` of them. */
    void *words[CST_INVOKE_LEAST];
};
_Static_assert(sizeof(struct fork) <= CST_REGION_WORDS * sizeof(uintptr_t), "the team copies it");

static void run_micro(void *data) {
    const struct fork *fork = data;
    int32_t thread = (int32_t)cst_own_record(cst_self()), number = (int32_t)cst_ask_number();
    void *const *words = fork->count > CST_INVOKE_LEAST ? fork->words[0] : fork->words;
    cst_invoke((void (*)(void))fork->micro, &thread, &number, fork->count, words);
}

/* A region whose num_threads clause must be met. */
struct demand {
    struct fork *fork;
    uint32_t threads;
    uint8_t severity;
    const char *message;
};

/* If the team is smaller than the clause demands, the master reports it. */
static void run_demand(void *data) {
    const struct demand *demand = data;
    uint32_t size = cst_ask_size();
    if (cst_ask_number() == 0 && size < demand->threads) {
        static const char *const words = "a team of %u threads was demanded, and it has %u%s%s";
        const char *message = demand->message ? demand->message : "";
        const char *between = demand->message ? ": " : "";
        if (demand->severity == KMP_SEVERITY_FATAL)
            cst_message_omp_fatal("Error", words, demand->threads, size, between, message);
        cst_message_omp("Warning", words, demand->threads, size, between, message);
    }
    run_micro(demand->fork);
}

/* The words of a fork that are in use. */
static size_t words_of(const struct fork *fork) {
    size_t words = fork->count > CST_INVOKE_LEAST ? 1 : fork->count;
    return offsetof(struct fork, words) / sizeof(uintptr_t) + words;
}

static void run_region(struct cst_thread *thread, struct fork *fork, uint32_t threads) {
    struct cst_clauses *clauses = cst_region_clauses(thread);
    struct cst_region region = {.front = CST_FRONT_KMP,
                                .function = run_micro,
                                .data = fork,
                                .words = (uint8_t)words_of(fork),
                                .threads = threads ? threads : clauses->threads,
                                .sizes = clauses->sizes,
                                .bind = clauses->bind};
    struct demand demand;
    if (cst_unlikely(clauses->strict)) {
        demand = (struct demand){.fork = fork,
                                 .threads = clauses->threads,
                                 .severity = clauses->strict,
                                 .message = clauses->message};
        region.function = run_demand;
        region.data = &demand;
        region.words = 0;
        clauses->strict = 0;
    }
    clauses->threads = clauses->bind = 0;
    clauses->sizes = NULL;
    if (cst_unlikely(cst_config.display_affinity)) cst_affinity_speak_as_libomp();
    cst_region_run(thread, &region);
}

/* Defines `fork`, the call of `micro` with the `count` further arguments. */
#define READ_FORK(fork, micro, count)                                                              \
    struct fork fork = {(micro), (size_t)(count), {NULL}};                                         \
    bool few = (count) <= CST_INVOKE_LEAST;                                                        \
    void *many[few ? 1 : (count)], **words = few ? fork.words : many;                              \
    va_list rest;                                                                                  \
    va_start(rest, micro);                                                                         \
    for (int32_t i = 0; i < (count); i++) words[i] = va_arg(rest, void *);                         \
    va_end(rest);                                                                                  \
    if (!few) fork.words[0] = many

void __kmpc_fork_call(kmp_loc *loc, int32_t count, kmp_micro *micro, ...) {
    CST_KEEP_FRAME();
    cst_kmp_note(loc);
    READ_FORK(fork, micro, count);
    run_region(cst_self(), &fork, 0);
}

/* There is at most one argument. */
void __kmpc_fork_call_if(kmp_loc *loc, int32_t count, kmp_micro *micro, int32_t wanted,
                         void *data) {
    CST_KEEP_FRAME();
    cst_kmp_note(loc);
    (void)count;
    run_region(cst_self(), &(struct fork){micro, data != NULL, {data}}, wanted ? 0 : 1);
}

void __kmpc_serialized_parallel(kmp_loc *loc, int32_t number) {
    (void)number;
    cst_kmp_note(loc);
    struct cst_thread *thread = cst_self();
    struct cst_clauses *clauses = cst_region_clauses(thread);
    struct cst_region region = {
        .front = CST_FRONT_KMP, .threads = 1, .sizes = clauses->sizes, .bind = clauses->bind};
    clauses->threads = clauses->bind = clauses->strict = 0;
    clauses->sizes = NULL;
    cst_region_launch(thread, cst_region_begin(thread, &region), &region);
}

void __kmpc_end_serialized_parallel(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
    cst_region_end(cst_self());
}

/* --- teams on the host --------------------------------------------------------------------- */

static void push_teams(int32_t teams, int32_t limit) {
    struct cst_clauses *clauses = cst_region_clauses(cst_self());
    clauses->teams = teams > 0 ? (uint32_t)teams : 0;
    clauses->teams_limit = limit > 0 ? (uint32_t)limit : 0;
}

void __kmpc_push_num_teams(kmp_loc *loc, int32_t thread, int32_t teams, int32_t threads) {
    (void)loc, (void)thread;
    push_teams(teams, threads);
}

void __kmpc_push_num_teams_51(kmp_loc *loc, int32_t thread, int32_t least, int32_t most,
                              int32_t threads) {
    (void)loc, (void)thread;
    push_teams(most > 0 ? most : least, threads);
}

void __kmpc_set_thread_limit(kmp_loc *loc, int32_t thread, int32_t limit) {
    (void)loc, (void)thread;
    if (limit > 0) cst_own_icv()->thread_limit = (uint32_t)limit;
}

void __kmpc_fork_teams(kmp_loc *loc, int32_t count, kmp_micro *micro, ...) {
    CST_KEEP_FRAME();
    cst_kmp_note(loc);
    READ_FORK(fork, micro, count);
    struct cst_clauses *clauses = cst_region_clauses(cst_self());
    uint32_t teams = clauses->teams, limit = clauses->teams_limit;
    clauses->teams = clauses->teams_limit = 0;
    if (teams == 0) teams = cst_load_relaxed(&cst_config.num_teams);
    cst_league_run(cst_self(), teams ? teams : 1, limit, run_micro, &fork);
}

/* --- cancellation ------------------------------------------------------------------------ */

int32_t __kmpc_cancellationpoint(kmp_loc *loc, int32_t number, int32_t which) {
    (void)loc, (void)number;
    if (!cst_config.cancellation) return 0;
    struct cst_thread *thread = cst_self();
    if (which == KMP_CANCEL_LOOP || which == KMP_CANCEL_SECTIONS)
        return cst_construct_is_cancelled(thread);
    if (which == KMP_CANCEL_TASKGROUP && cst_taskgroup_is_cancelled(thread)) return 1;
    return cst_region_is_cancelled(thread);
}

int32_t __kmpc_cancel(kmp_loc *loc, int32_t number, int32_t which) {
    (void)loc, (void)number;
    if (!cst_config.cancellation) return 0;
    struct cst_thread *thread = cst_self();
    if (which == KMP_CANCEL_LOOP || which == KMP_CANCEL_SECTIONS)
        cst_construct_cancel(thread);
    else if (which == KMP_CANCEL_TASKGROUP)
        cst_taskgroup_cancel(thread);
    else
        cst_region_cancel(thread);
    return 1;
}

/* NOLINTEND(bugprone-macro-parentheses) */
