/* All that a front end includes. The entry points of the compilers (abi/gomp, abi/kmp), the user's
 * calls (abi/omp) and the calls of the Haskell library stand on this.
 *
 * A front end decodes its arguments and delegates. It touches no field of a thread, a team or a
 * task. It fills in the structures that are listed here as requests. */

/* clang-format off
 *
 * | verb                                      request, or its subject                in
 * | ----------------------------------------  ------------------------------------  ------------------
 * | cst_self, cst_known                       the calling thread                    state/thread.h
 * | CST_ENTRY                                 the caller, for tools                 state/trace.h
 * | cst_region_run; _begin, _launch, _end     struct cst_region                     team/region.h
 * | cst_region_run_exactly                    struct cst_region, for jobs that wait team/region.h
 * | cst_region_isolate                        a function, a thread limit            team/region.h
 * | cst_region_clauses                        struct cst_clauses, given beforehand  team/region.h
 * | cst_loop_start, _start_with, _next,       struct cst_loop_spec, _extras         work/loop.h
 * |   _end, _end_nowait, _end_cancellable
 * | cst_loop_prepare, _runtime,               the same, combined with a region      work/loop.h
 * |   cst_sections_prepare
 * | cst_ordered_begin, _end                   the chunk that is executed            work/ordered.h
 * | cst_doacross_post, _wait; _begin, _end    struct cst_doacross_spec, vectors     work/ordered.h
 * | cst_share_single, _single_copy, _copy,    single                                work/share.h
 * |   _hand_out
 * | cst_gather                                a member's data, by a tree            work/gather.h
 * | cst_barrier, cst_barrier_cancellable      the current team                      work/barrier.h
 * | cst_task_create; _allocate, _submit,      struct cst_task_request               task/task.h
 * |   _discard; _begin, _end
 * | cst_task_wait_children, _wait_depend,     the current task                      task/task.h
 * |   _yield, _fulfill
 * | cst_group_begin, _end                     struct cst_group (in the caller)      task/group.h
 * | cst_depend_list                           dependences, one by one               task/depend.h
 * | cst_reduce_*                              struct cst_reduction                  work/reduce.h
 * | cst_region_cancel, cst_construct_cancel,  the construct                         task/cancel.h
 * |   cst_taskgroup_cancel; _is_cancelled
 * | cst_lock_acquire, _release, _try          cst_lock: 4 bytes, zero is free       base/lock.h
 * | cst_nest_lock_*                           struct cst_nest_lock: 16 bytes        base/lock.h
 * | cst_ask_*, cst_own_icv, cst_league_set    questions, control variables          team/questions.h
 * | cst_config, cst_places                    settings of the process               settings/
 * | cst_affinity_*, cst_bind_self             texts and places of threads           team/
 * | cst_allocator_*, cst_memory_*             omp_alloc                             memory/allocator.h
 * | cst_permit_*, cst_processors              threads of other pools                budget/
 * | cst_busy, cst_turn_waiting, cst_share_*   the load of the process, for observers host/, wait/, budget/
 * | cst_device_is_host                        device numbers                        process/device.h
 * | cst_thread_when_it_ends                   the end of a thread                   team/threads.h
 * | cst_workers_end, cst_thread_totals        all teams, all threads                team/
 * | cst_message, cst_memory_exhausted         messages to the user                  base/
 */
/* clang-format on */
#ifndef CST_CORE_FRONT_H
#define CST_CORE_FRONT_H

#include "core/base/bounds.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/budget/permit.h"
#include "core/budget/processors.h"
#include "core/budget/share.h"
#include "core/host/busy.h"
#include "core/memory/allocator.h"
#include "core/process/device.h"
#include "core/process/report.h"
#include "core/settings/affinity_format.h"
#include "core/settings/config.h"
#include "core/settings/place.h"
#include "core/state/thread.h"
#include "core/state/trace.h"
#include "core/task/cancel.h"
#include "core/task/depend.h"
#include "core/task/group.h"
#include "core/task/task.h"
#include "core/team/affinity.h"
#include "core/team/bind.h"
#include "core/team/callback.h"
#include "core/team/pool.h"
#include "core/team/questions.h"
#include "core/team/region.h"
#include "core/team/threads.h"
#include "core/team/workers.h"
#include "core/wait/turn.h"
#include "core/work/barrier.h"
#include "core/work/gather.h"
#include "core/work/loop.h"
#include "core/work/ordered.h"
#include "core/work/reduce.h"
#include "core/work/schedule.h"
#include "core/work/share.h"

#endif
