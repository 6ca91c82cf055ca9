/* Barriers, critical regions, single, reductions: clang's calls, decoded. */
#include "abi/kmp/facts.h"
#include "abi/kmp/note.h"
#include "abi/whole.h"
#include "core/front.h"

#include <stdio.h>
#include <string.h>

CST_WHOLE(kmp_sync);

/* --- barriers ------------------------------------------------------------------------------ */

/* clang's code has a barrier in `__kmpc_end_reduce`, and one at the end of the loop. A member that
 * finds the loop cancelled jumps past the first. The other members may wait in the first, or pass
 * it later. So the barrier at the end of a cancelled loop is two barriers. Each member of these two
 * reads `cancelled_construct` between them, where no member can be in a later construct. */
static bool pass_barrier(struct cst_thread *thread, bool (*barrier)(struct cst_thread *thread)) {
    uint64_t construct = cst_construct_name(thread);
    if (barrier(thread)) return true;
    return cst_construct_was_cancelled(thread, construct) && barrier(thread);
}

static bool plain_barrier(struct cst_thread *thread) {
    cst_barrier(thread);
    return false;
}

void __kmpc_barrier(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    if (cst_unlikely(cst_config.cancellation))
        pass_barrier(cst_self(), plain_barrier);
    else
        cst_barrier(cst_self());
}

int32_t __kmpc_cancel_barrier(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    return pass_barrier(cst_self(), cst_barrier_cancellable);
}

/* --- masked, single, scope ---------------------------------------------------------------- */

int32_t __kmpc_masked(kmp_loc *loc, int32_t thread, int32_t filter) {
    (void)loc, (void)thread;
    return (int32_t)cst_ask_number() == filter;
}
void __kmpc_end_masked(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}

int32_t __kmpc_master(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
    return cst_ask_number() == 0;
}
void __kmpc_end_master(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}

int32_t __kmpc_barrier_master_nowait(kmp_loc *loc, int32_t thread) {
    __kmpc_barrier(loc, thread);
    return cst_ask_number() == 0;
}
/* The other members wait in a second barrier, at which the master arrives when its part ends. */
int32_t __kmpc_barrier_master(kmp_loc *loc, int32_t thread) {
    if (__kmpc_barrier_master_nowait(loc, thread)) return 1;
    __kmpc_barrier(loc, thread);
    return 0;
}
void __kmpc_end_barrier_master(kmp_loc *loc, int32_t thread) {
    __kmpc_barrier(loc, thread);
}

int32_t __kmpc_single(kmp_loc *loc, int32_t thread) {
    (void)thread;
    cst_kmp_note(loc);
    return cst_share_single(cst_self());
}
void __kmpc_end_single(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
}

void __kmpc_scope(kmp_loc *loc, int32_t thread, void *unused) {
    (void)loc, (void)thread, (void)unused;
}
void __kmpc_end_scope(kmp_loc *loc, int32_t thread, void *unused) {
    (void)loc, (void)thread, (void)unused;
}

/* Contains the barriers of the construct, as the compiled code has none. */
void __kmpc_copyprivate(kmp_loc *loc, int32_t thread, size_t size, void *data, kmp_combine *copy,
                        int32_t executed) {
    (void)thread, (void)size;
    cst_kmp_note(loc);
    void *from = cst_share_hand_out(cst_self(), executed, data);
    if (!executed) copy(data, from);
    cst_barrier(cst_self());
}

void *__kmpc_copyprivate_light(kmp_loc *loc, int32_t thread, void *data) {
    (void)thread;
    cst_kmp_note(loc);
    return cst_share_hand_out(cst_self(), data != NULL, data);
}

/* --- critical, ordered, flush -------------------------------------------------------------- */

/* The name's memory, zero at first, is the lock. */
static cst_lock *lock_in(kmp_name *name) {
    return (cst_lock *)(void *)name;
}

void __kmpc_critical(kmp_loc *loc, int32_t thread, kmp_name *name) {
    (void)loc, (void)thread;
    cst_lock_acquire(lock_in(name));
}

/* One kind of lock serves all hints well. */
void __kmpc_critical_with_hint(kmp_loc *loc, int32_t thread, kmp_name *name, uint32_t hint) {
    (void)loc, (void)thread, (void)hint;
    cst_lock_acquire(lock_in(name));
}

void __kmpc_end_critical(kmp_loc *loc, int32_t thread, kmp_name *name) {
    (void)loc, (void)thread;
    cst_lock_release(lock_in(name));
}

void __kmpc_ordered(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
    cst_ordered_begin(cst_self());
}
void __kmpc_end_ordered(kmp_loc *loc, int32_t thread) {
    (void)loc, (void)thread;
    cst_ordered_end(cst_self());
}

void __kmpc_flush(kmp_loc *loc) {
    (void)loc;
    cst_fence_seq_cst();
}

/* --- error --------------------------------------------------------------------------------- */

/* The file, the line and the column of ";file;function;line;column;;" as "file:line:column". */
static void name_place(const kmp_loc *loc, char *room, size_t size) {
    const char *part[5];
    size_t length[5], found = 0;
    for (const char *at = loc && loc->source ? loc->source : ""; found < 5 && *at == ';'; found++) {
        part[found] = ++at;
        at += length[found] = strcspn(at, ";");
    }
    if (found < 4)
        snprintf(room, size, "unknown");
    else
        snprintf(room, size, "%.*s:%.*s:%.*s", (int)length[0], part[0], (int)length[2], part[2],
                 (int)length[3], part[3]);
}

void __kmpc_error(kmp_loc *loc, int32_t severity, const char *message) {
    char place[256];
    name_place(loc, place, sizeof place);
    if (!message) message = "";
    if (severity == KMP_SEVERITY_FATAL)
        cst_message_omp_fatal("Error", "%s: Encountered user-directed error: %s.", place, message);
    cst_message_omp("Warning", "%s: Encountered user-directed warning: %s.", place, message);
}

/* --- reductions ---------------------------------------------------------------------------- */

/* The method of a reduction. The call at its end does not get it, so the thread stores it. */
enum method { ALONE, BY_LOCK, BY_ATOMICS, BY_TREE };

enum { FEW_VARIABLES = 2 };

/* All members choose the same method, as they decide by the same data. A member that leaves a
 * cancelled loop does not come, so no member may wait for it in a tree. Only the tree combines in
 * the same order each time. */
static enum method choose(const struct cst_thread *thread, const kmp_loc *loc, int32_t count,
                          const void *data, kmp_combine *combine) {
    if (cst_ask_size() == 1) return ALONE;
    bool tree = cst_config.same_reductions || cst_gather_wanted(thread);
    if (tree && data && combine && !cst_config.cancellation) return BY_TREE;
    if (loc && (loc->flags & KMP_IDENT_ATOMIC_REDUCE) && count <= FEW_VARIABLES) return BY_ATOMICS;
    return BY_LOCK;
}

static int32_t begin_reduce(const kmp_loc *loc, int32_t count, void *data, kmp_combine *combine,
                            kmp_name *name) {
    struct cst_thread *thread = cst_self();
    enum method method = choose(thread, loc, count, data, combine);
    cst_region_clauses(thread)->method = (uint8_t)method;
    if (method == BY_ATOMICS) return KMP_REDUCE_ATOMIC;
    if (method == BY_TREE)
        return cst_gather(thread, data, combine) ? KMP_REDUCE_PLAIN : KMP_REDUCE_NOTHING;
    if (method == BY_LOCK) cst_lock_acquire(lock_in(name));
    return KMP_REDUCE_PLAIN;
}

static void end_reduce(kmp_name *name) {
    if (cst_region_clauses(cst_self())->method == BY_LOCK) cst_lock_release(lock_in(name));
}

int32_t __kmpc_reduce_nowait(kmp_loc *loc, int32_t thread, int32_t count, size_t size, void *data,
                             kmp_combine *combine, kmp_name *name) {
    (void)thread, (void)size;
    cst_kmp_note(loc);
    return begin_reduce(loc, count, data, combine, name);
}

void __kmpc_end_reduce_nowait(kmp_loc *loc, int32_t thread, kmp_name *name) {
    (void)loc, (void)thread;
    end_reduce(name);
}

/* A member that gets KMP_REDUCE_NOTHING does not call the end, so it waits here. */
int32_t __kmpc_reduce(kmp_loc *loc, int32_t thread, int32_t count, size_t size, void *data,
                      kmp_combine *combine, kmp_name *name) {
    (void)thread, (void)size;
    cst_kmp_note(loc);
    int32_t what = begin_reduce(loc, count, data, combine, name);
    if (what == KMP_REDUCE_NOTHING) cst_barrier(cst_self());
    return what;
}

void __kmpc_end_reduce(kmp_loc *loc, int32_t thread, kmp_name *name) {
    (void)loc, (void)thread;
    end_reduce(name);
    cst_barrier(cst_self());
}
