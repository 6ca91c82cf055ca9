/* Threads that OpenMP knows; see threads.h. */
#include "core/team/threads.h"

#include "core/settings/config.h"
#include "core/base/memory.h"
#include "core/task/task.h"
#include "core/team/team.h"
#include "core/team/pool.h"
#include "core/host/host.h"
#include "core/team/workers.h"
#include "platform/platform.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct cst_thread *cst_current_thread __attribute__((tls_model("initial-exec")));

_Thread_local bool cst_asked_unknown __attribute__((tls_model("initial-exec")));

static struct {
    cst_lock lock;
    struct cst_thread *all;   /* all records ever made, linked by `all` */
    uint32_t records;         /* their number */
    struct cst_thread *aside; /* records without a thread, linked by `next` */
    _Atomic uint64_t known;   /* threads that have had a record */
    pthread_key_t key;        /* its destructor tells of a thread's end */
    bool has_key;
    _Atomic bool tells_main_ends;
    _Atomic(void (*)(const struct cst_thread *)) ends; /* a front end's function; NULL: none */
} threads;

/* No code refers to the start and end of the runtime (process/life.c). This name makes a linker
 * take them from an archive. */
extern const char cst_life_is_linked;
__attribute__((used)) static const char *const life = &cst_life_is_linked;

static void offer(struct cst_thread *thread) {
    cst_lock_acquire(&threads.lock);
    thread->next = threads.aside;
    threads.aside = thread;
    cst_lock_release(&threads.lock);
}

void cst_thread_when_it_ends(void (*ends)(const struct cst_thread *thread)) {
    cst_store_release(&threads.ends, ends);
}

static void put_aside(struct cst_thread *thread) {
    /* Pairs with the release in cst_thread_when_it_ends. */
    void (*ends)(const struct cst_thread *) = cst_load_acquire(&threads.ends);
    if (ends) ends(thread);
    cst_current_thread = NULL;
    cst_pool_forget(thread);
    cst_workers_lose_master(thread);
    offer(thread);
}

/* The value of the key for a thread of the host that OpenMP does not know. */
static char stranger;

/* Called at the end of a thread of the host. Once the first thread has ended (pthread_exit in
 * main), the process lives as long as any thread does. The last thread may be one that never uses
 * OpenMP. So no idle worker, and no idle runtime system of GHC, may be left. */
static void host_thread_ends(void *argument) {
    if (argument != &stranger) put_aside(argument);
    if (!cst_thread_is_main() && !cst_thread_main_has_ended()) return;
    cst_workers_end(false);
    cst_host_end_guest(cst_pool_without_workers);
}

/* Marks the first thread, although it may never use OpenMP: its end must be noticed. */
static void mark_main(const void *value) {
    if (!threads.has_key || !cst_thread_is_main()) return;
    cst_store_relaxed(&threads.tells_main_ends, pthread_setspecific(threads.key, value) == 0);
}

void cst_thread_init(void) {
    threads.has_key = pthread_key_create(&threads.key, host_thread_ends) == 0;
    mark_main(&stranger);
}

bool cst_thread_tells_main_ends(void) {
    return cst_load_relaxed(&threads.tells_main_ends);
}

/* Initializes the thread's team of one, outside of any region. */
static void init_initial_team(struct cst_thread *thread) {
    struct cst_team *team = thread->initial;
    struct cst_seat *seat = &team->first;
    team->root = team;
    seat->size = 1;
    team->region = seat->region = 1; /* 0 would count as cancelled */
    team->icv = cst_config.icv;
    seat->thread = thread;
    seat->implicit.kind = CST_TASK_IMPLICIT;
    cst_task_init_implicit(&seat->implicit, team, seat, NULL, &team->icv);
    thread->context = (struct cst_context){.team = team, .seat = seat, .task = &seat->implicit};
}

/* Allocates a record. NULL: no memory. */
static struct cst_thread *allocate(void) {
    struct cst_thread *thread = aligned_alloc(CST_CACHE_LINE, sizeof *thread);
    struct cst_team *team = thread ? cst_team_make() : NULL;
    if (!team) {
        free(thread);
        return NULL;
    }
    memset(thread, 0, sizeof *thread);
    thread->initial = team;
    cst_lock_acquire(&threads.lock);
    thread->record = threads.records++;
    thread->all = threads.all;
    threads.all = thread;
    cst_lock_release(&threads.lock);
    return thread;
}

bool cst_thread_provide(void) {
    cst_lock_acquire(&threads.lock);
    bool wanted = !threads.aside;
    cst_lock_release(&threads.lock);
    struct cst_thread *thread = wanted ? allocate() : NULL;
    if (thread) offer(thread);
    return thread || !wanted;
}

struct cst_thread *cst_thread_make(void) {
    if (cst_unlikely(cst_load_relaxed(&cst_host_forks) > 0)) cst_host_notice_fork();
    cst_lock_acquire(&threads.lock);
    struct cst_thread *thread = threads.aside;
    if (thread) threads.aside = thread->next;
    cst_lock_release(&threads.lock);
    if (!thread) thread = allocate();
    if (!thread) cst_memory_exhausted("the record of a thread", sizeof *thread);
    thread->worker = false;
    thread->has_traits = false;
    thread->id = 0;
    thread->asked_at = 0;
    thread->waited_to = 0;
    thread->asking = (struct cst_asking){.told = cst_asked_unknown ? cst_config.icv.nthreads : 0};
    thread->class.word[CST_CLASS_OWN] = 0;
    thread->identity = cst_add_relaxed(&threads.known, 1) + 1;
    thread->rival = (struct cst_rival_watch){0};
    thread->clauses = (struct cst_clauses){0};
    init_initial_team(thread);
    cst_current_thread = thread;
    if (threads.has_key) pthread_setspecific(threads.key, thread);
    if (cst_unlikely(!cst_thread_tells_main_ends())) mark_main(thread);
    return thread;
}

void cst_thread_end(void) {
    struct cst_thread *thread = cst_current_thread;
    thread->team = thread->initial; /* the worker's team may already have another master */
    if (threads.has_key) pthread_setspecific(threads.key, NULL);
    put_aside(thread);
}

void cst_thread_each(void (*visit)(struct cst_thread *thread, void *argument), void *argument) {
    cst_lock_acquire(&threads.lock);
    for (struct cst_thread *thread = threads.all; thread; thread = thread->all)
        visit(thread, argument);
    cst_lock_release(&threads.lock);
}

static void add(struct cst_thread *thread, void *argument) {
    struct cst_totals *totals = argument;
    for (int front = 0; front < CST_FRONTS; front++) {
        totals->regions += thread->regions[front];
        totals->regions_by[front] += thread->regions[front];
    }
    totals->tasks += thread->tasks;
    totals->unsafe_regions += thread->unsafe_regions;
    totals->unsafe_ns += thread->unsafe_ns;
}

struct cst_totals cst_thread_totals(void) {
    struct cst_totals totals = {0};
    cst_thread_each(add, &totals);
    return totals;
}

/* The team around a team. `enclosing` of a region's team is set before its members start, while its
 * master may still be writing `saved`. An initial team within another one has `saved` alone. */
static struct cst_team *around(const struct cst_team *team) {
    return team->enclosing ? team->enclosing : team->saved.team;
}

/* Applies `act` to the locks of all teams of which the caller is a member, from the innermost
 * one. */
static void each_lock_of_own_teams(void (*act)(cst_lock *lock)) {
    struct cst_team *team = cst_current_thread ? cst_current_thread->team : NULL;
    for (; team; team = around(team)) {
        act(&team->share_lock);
        act(&team->queue_lock);
    }
}

void cst_thread_before_fork(void) {
    each_lock_of_own_teams(cst_lock_acquire);
}

void cst_thread_after_fork(void) {
    each_lock_of_own_teams(cst_lock_release);
}

void cst_thread_after_fork_in_child(void) {
    cst_thread_after_fork();
    cst_store_relaxed(&threads.lock, 0);
    mark_main(cst_current_thread ? (void *)cst_current_thread : &stranger);
    if (!cst_current_thread) return;
    cst_current_thread->id = 0;
    cst_current_thread->last_team[0] = cst_current_thread->last_team[1] = NULL;
    for (struct cst_team *team = cst_current_thread->team; team; team = around(team)) {
        team->orphaned = team->size > 1;
        team->counted = team->shared = 0; /* the pool counts anew */
    }
}
