/* The life of a worker: it waits in its dock for the next region or order, executes it, and arrives
 * at its end. See README.md, "Fork and join". */
#include "core/team/region.h"

#include "core/host/busy.h"
#include "core/task/quiesce.h"
#include "core/task/task.h"
#include "core/team/member.h"
#include "core/team/threads.h"
#include "core/team/workers.h"
#include "core/wait/wait.h"
#include "core/work/barrier.h"
#include "core/work/loop.h"
#include "platform/happens.h"

#include <stdlib.h>

/* --- the dock --------------------------------------------------------------------------- */

void cst_order_block_signals(void *unused) {
    (void)unused;
    cst_thread_block_signals();
}

/* Waits in the dock for the next region or order, and helps with the last region's tasks meanwhile.
 * False: the worker has been idle for too long and has left its team; it must end. */
static bool await_order(struct cst_thread *thread, struct cst_seat *seat) {
    uint64_t patience = cst_workers_patience(seat->team);
    for (;;) {
        struct cst_wait wait = {.holds = cst_wait_word_holds,
                                .help = cst_quiesce_help,
                                .word = &seat->dock.go,
                                .target = seat->region + 1,
                                .idle = true,
                                .patience = patience};
        if (cst_reached(wait.word, wait.target)) break;
        cst_wait(thread, &wait);
        /* In the child of a fork there is no master: the only thread ends, and with it the
         * process. */
        if (cst_unlikely(seat->team->orphaned)) exit(EXIT_SUCCESS);
        if (cst_likely(cst_reached(wait.word, wait.target))) break;
        if (cst_workers_retire(seat, &patience)) return false;
    }
    cst_wait_forget_forks(thread);
    return true;
}

/* The last step of a worker's thread: it is neither awake nor known any more. */
static void end(void) {
    cst_sub_relaxed(&cst_awake, 1);
    cst_thread_end();
}

/* Executes an order outside regions. False: the order was to end, which the worker has
 * confirmed. */
static bool obey(struct cst_thread *thread, struct cst_seat *seat, uint32_t number,
                 cst_region_function *order) {
    bool ends = order == CST_ORDER_END;
    seat->region = number;
    if (ends)
        end();
    else
        order(thread);
    /* The thread that gave the order polls (workers.c), so it needs no wake-up. */
    cst_store_release(&seat->arrived, 2 * number);
    return !ends;
}

/* --- regions ---------------------------------------------------------------------------- */

/* A worker arrives at the region's end. It touches nothing of the region afterwards, unless it
 * steals a task from it (cst_task_help). */
static void arrive(struct cst_thread *thread, uint32_t size, uint8_t crowded) {
    struct cst_seat *seat = thread->seat;
    struct cst_team *team = seat->team;
    uint32_t region = seat->region;
    bool tasks = seat->made_tasks;
    seat->barrier++;
    seat->at_end = true;
    cst_happens_before(&team->joined);
    if (crowded) {
        cst_member_end_coroutines(thread);
        if (tasks) cst_central_tell_tasks(team, seat->barrier);
        if (cst_sub_acq_rel(&team->joining, 1) != 1) return;
        if (cst_unlikely(crowded == CST_TOGETHER)) team->together.joined = cst_clock_ns();
        cst_exchange_seq_cst(&team->joined, region);
        cst_wake(&team->first);
        return;
    }
    tasks |= cst_member_await_children(thread, size);
    cst_member_end_coroutines(thread);
    cst_exchange_seq_cst(&seat->arrived, 2 * region + tasks);
    cst_wake(cst_team_seat(team, cst_tree_parent(seat->number)));
}

void *cst_worker(void *argument) {
    CST_KEEP_FRAME();
    struct cst_seat *seat = argument;
    struct cst_team *team = seat->team;
    struct cst_thread *thread = cst_self();
    thread->worker = true;
    thread->class.word[CST_CLASS_OWN] = cst_load_relaxed(&team->class[CST_CLASS_OWN]);
    seat->thread = thread;
    /* The order matters: a signal handler that asks finds an idle thread (cst_known). */
    thread->task = &seat->implicit;
    cst_handler_barrier();
    thread->seat = seat;
    cst_handler_barrier();
    thread->team = team;
    thread->number = seat->number;
    cst_add_relaxed(&cst_awake, 1);
    while (await_order(thread, seat)) {
        if (cst_unlikely(seat->partners > 0)) cst_task_stop_helping(thread);
        uint32_t region = cst_load_relaxed(&seat->dock.go); /* acquired by await_order */
        cst_happens_after(&seat->dock.go);
        struct cst_order order = seat->dock.order;
        if (cst_unlikely(order.size == 0)) {
            if (!obey(thread, seat, region, order.function)) return NULL;
            continue;
        }
        cst_member_fork(team, seat->number, region, &order);
        if (cst_unlikely(seat->traits_number != team->traits_number)) cst_workers_adopt(seat);
        cst_float_adopt(team->float_mode);
        cst_member_begin(thread, seat, region, &order);
        if (order.combined) cst_loop_join(thread, order.combined);
        order.function(order.data);
        thread = cst_self();
        arrive(thread, order.size, order.crowded);
    }
    end();
    return NULL;
}
