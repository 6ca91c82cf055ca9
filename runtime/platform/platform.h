/* The contract between the runtime and the operating system and processor.
 *
 * linux/ implements it and, for the processor, x86_64/ or aarch64/ (docs/porting.md). The build
 * puts one of the two into the include path. No layer above this one includes a system header for
 * these purposes. Unless a comment says otherwise, any thread may call a function, and the function
 * does not allocate, keeps errno, and never runs Haskell. */
#ifndef CST_PLATFORM_H
#define CST_PLATFORM_H

#include "platform/atomic.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* --- processor ------------------------------------------------------------------------- */

/* Tells the processor that this is a spin loop. */
static inline void cst_cpu_relax(void);
/* Waits until all earlier instructions are complete. Until then no later one begins, not even by
 * speculation. */
static inline void cst_cpu_settle(void);

/* The nanoseconds that cst_cpu_relax takes, from 1 to 1000. Each call measures anew, for some
 * microseconds. */
uint32_t cst_cpu_relax_ns(void);

/* Fetches the line of `word`, which the caller will write soon. */
static inline void cst_prefetch_to_write(const _Atomic uint32_t *word);

/* A counter of the processor, with one to a few ticks a nanosecond. It distinguishes short from
 * long times, and does not measure them. Costs a third of the clock. */
static inline uint64_t cst_clock_ticks(void);
/* The same, read after all loads before it and before all loads after it; takes a little longer. */
static inline uint64_t cst_clock_ticks_in_order(void);

/* The calling thread's mode of floating-point arithmetic: rounding, flush to zero, precision, and
 * the exceptions that trap. The flags of exceptions that have occurred are not part of it. Some
 * nanoseconds. */
static inline uint64_t cst_float_mode(void);
/* Sets the calling thread's mode. */
static inline void cst_float_set_mode(uint64_t mode);

/* Asks valgrind, by a sequence of instructions without effect on a processor. The answer is 0
 * without valgrind. */
static inline uintptr_t cst_valgrind_ask(const uintptr_t words[6]);

#include "processor.h"

/* That many pauses, for a waiter that is to leave a line alone meanwhile. A processor may guess
 * after each pause that it was the last, and load what the waiter reads next. Then it takes the
 * line from the thread that works with it. */
static inline void cst_cpu_relax_times(uint32_t pauses) {
    for (uint32_t i = 0; i < pauses; i++) cst_cpu_relax();
    cst_cpu_settle();
}

/* --- futex.c --------------------------------------------------------------------------- */

/* Sleeps while *word == expected; may return early for any reason. May block. */
void cst_futex_wait(_Atomic uint32_t *word, uint32_t expected);
/* The same wait, for at most `ns` nanoseconds. False when the time is over. May block. */
bool cst_futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns);
/* Wakes at most `count` threads that sleep on `word`. Returns their number. */
int cst_futex_wake(_Atomic uint32_t *word, int count);
/* Gives the processor to another runnable thread, if there is one. In a confined program it sleeps
 * for some 50 us. */
void cst_yield(void);
/* As cst_yield, for a caller that has lately asked whether the program is confined. */
void cst_yield_again(void);

/* A full memory barrier on every thread of the process (membarrier(2)), so that a frequent access
 * elsewhere needs none. Takes about a microsecond. False if the kernel lacks it, or if the program
 * is confined (below), which may begin between two calls. Then the frequent access may be unseen
 * for a moment, and the caller must not rely on it for correctness. Visible: Haskell calls it
 * (Capstan.Task.Loop.Stretch). */
#pragma GCC visibility push(default)
bool cst_process_barrier(void);
#pragma GCC visibility pop
/* Registers the process for the barrier if it has one thread: that takes 3 us. Otherwise the first
 * barrier registers it, for which the kernel needs some 10 ms. */
void cst_process_barrier_prepare(void);
/* Requests turns of `ns` nanoseconds on a processor, for the calling thread and for threads that it
 * starts later. A thread with short turns need not wait, when it wakes or is new, for the end of
 * longer turns of other threads. This needs Linux 6.12, and has no effect on threads of real-time
 * priority. Returns the previous length, for a later call. */
uint64_t cst_thread_ask_turns(uint64_t ns);
/* Has the process's first thread ended, though the process continues (pthread_exit in main)? False
 * if the kernel does not tell. One system call, and no file. */
bool cst_thread_main_has_ended(void);
/* The calling thread's use of processors: its time, and the number of times that it gave the
 * processor up to wait, or was driven from it. A call takes about 600 ns. */
struct cst_thread_usage {
    uint64_t cpu_ns;
    uint64_t voluntary_switches, involuntary_switches;
};
struct cst_thread_usage cst_thread_usage(void);

/* --- confined.c -------------------------------------------------------------------------- */

/* A program may give up system calls (seccomp): any other call then ends it. Once a thread that
 * uses OpenMP is known to have done so, regions make only the system calls that libgomp makes too:
 * futex, and the calls for a new thread. The other functions of this layer then do nothing, and
 * answer as if the kernel had refused. */
extern _Atomic bool cst_confined_seen;

/* Is the calling thread filtered, in a process that was not filtered when the library was loaded?
 * Asks the kernel by prctl(PR_GET_SECCOMP), which the filter must allow. Some 100 to 500 ns. */
bool cst_confined_self(void);
/* Has any thread been found filtered? */
static inline bool cst_confined(void) {
    return cst_load_relaxed(&cst_confined_seen);
}
/* Both together, for callers that are about to make such calls, and are not in a hurry. */
static inline bool cst_confined_now(void) {
    return cst_confined() || cst_confined_self();
}

/* --- frames ------------------------------------------------------------------------------ */

/* Makes the calling function keep a frame pointer, whatever the compiler's options are. So a
 * profiler that follows frame pointers gets from a region's body to the caller that opened the
 * region. Two instructions. */
#define CST_KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

/* --- clock.c --------------------------------------------------------------------------- */

/* Monotonic time in nanoseconds. */
uint64_t cst_clock_ns(void);
/* The resolution of that clock in nanoseconds. */
uint64_t cst_clock_resolution_ns(void);
/* The time of cst_clock_ns as of the last clock interrupt: a few milliseconds old, at a fifth of
 * the cost. */
uint64_t cst_clock_coarse_ns(void);

/* --- cpu_mask.c, cpu.c -------------------------------------------------------------- */

/* An affinity mask is an array of words, bit i of word j for processor 64 j + i. Linux has at
 * most 8192 processors; this many words always hold a mask. */
enum { CST_CPU_MASK_WORDS = 128 };

/* How many bits of a mask's word are set. The compiler's own function for it lies on a page that
 * nothing else needs. */
static inline unsigned cst_bits_set(uint64_t word) {
    unsigned count = 0;
    for (; word != 0; word &= word - 1) count++;
    return count;
}

/* Gets the calling thread's affinity mask. Returns the number of processors in it, 0 when
 * unknown. */
size_t cst_cpu_mask_get(uint64_t *bits, size_t words);
/* Binds the calling thread to the processors in the mask; false when the kernel refuses. */
bool cst_cpu_mask_set(const uint64_t *bits, size_t words);
/* The same by system calls, to restore a mask exactly: a program may interpose the calls of the two
 * above, and answer differently. */
size_t cst_cpu_mask_get_own(uint64_t *bits, size_t words);
bool cst_cpu_mask_set_own(const uint64_t *bits, size_t words);

/* Moves a new thread, which has the caller's mask and waits on the caller's processor, to another
 * processor, if the mask has one. The thread must neither end nor change its mask meanwhile. Does
 * not block. */
void cst_cpu_part(pthread_t thread);

/* Moves a woken thread of this process, by its cst_thread_id, in the same way. It keeps its
 * mask. */
void cst_cpu_part_woken(int32_t id);
/* Moves a thread of this process to that processor, if its mask has it; 0: the calling thread. It
 * keeps its mask. */
void cst_cpu_move(int32_t id, unsigned processor);
/* The kernel's number of the calling thread; 0 in a confined program. */
int32_t cst_thread_id(void);

/* The processor on which the calling thread runs at this moment. */
unsigned cst_cpu_current(void);
/* Is the calling thread the process's first thread? */
bool cst_thread_is_main(void);

/* The number of processors on which the calling thread may run (its affinity mask); at least 1. */
unsigned cst_cpu_affinity_count(void);
/* The number for the process's first thread, as the kernel has it; at least 1. */
unsigned cst_cpu_process_count(void);
/* Gets the mask of that thread. Returns the number of processors in it, 0 when unknown. */
size_t cst_cpu_process_mask(uint64_t *bits, size_t words);
/* The number of processors that the cgroup quota (v1 or v2, this group and its ancestors) pays for,
 * rounded up; 0 when there is no quota. Reads files: costs tens of microseconds. */
unsigned cst_cpu_quota(void);
/* As cst_cpu_quota, for a system whose /proc and cgroup mounts lie below `root`; for tests. */
unsigned cst_cpu_quota_below(const char *root);
/* The number of threads that can run at once, by mask and quota; at least 1. */
unsigned cst_cpu_available(void);

/* --- cancellation.c --------------------------------------------------------------------- */

/* Holds back the cancellation of the calling thread (pthread_cancel), and lets it come again. Calls
 * that open files or wait would otherwise unwind the thread, which may hold a lock. */
int cst_cancellation_hold(void);
void cst_cancellation_release(int held);

/* --- process.c -------------------------------------------------------------------------- */

/* A name of the calling process that no other process has until the machine restarts; 0: /proc does
 * not tell. Takes some ten microseconds, as does cst_process_lives. */
uint64_t cst_process_identity(void);
/* Does the process of this name live? A process that has ended does not, even if its parent has not
 * waited for it yet. */
bool cst_process_lives(uint64_t identity);

/* Maps memory that the processes of this user share under a name. It is zero at first, and stays
 * mapped. NULL: `reason` tells the cause. `path` becomes the path of the file. */
void *cst_shared_memory(const char *name, size_t size, char *path, size_t path_size,
                        const char **reason);

/* --- traits.c --------------------------------------------------------------------------- */

/* Properties that a new thread inherits from its maker, and that a worker takes on from each new
 * master: the blocked signals, and the processors that it may use. */
struct cst_thread_traits {
    sigset_t blocked;
    size_t processors; /* in the mask; 0: not known */
    uint64_t mask[CST_CPU_MASK_WORDS];
};

/* Further properties that a new thread inherits and cannot always change, as numbers to compare:
 * its scheduling, also for disks and timers, and its permissions. */
enum {
    CST_CLASS_SCHEDULING, /* policy, priority and nice value */
    CST_CLASS_DISKS,
    CST_CLASS_TIMERS,
    CST_CLASS_EFFECTIVE, /* capabilities */
    CST_CLASS_PERMITTED,
    CST_CLASS_INHERITABLE,
    /* Properties that cannot be compared: a filter of system calls, and a folder or open files that
     * are not the first thread's (unshare). 0: none of these. Otherwise this layer sets 1, and core
     * replaces it by the number of the thread from which all threads of the class descend. */
    CST_CLASS_OWN,
    CST_CLASS_WORDS,
};
struct cst_thread_class {
    uint64_t word[CST_CLASS_WORDS];
};

/* The calling thread's properties. The first call takes some 500 ns, the second some 2 us. */
void cst_thread_traits_get(struct cst_thread_traits *traits);
struct cst_thread_class cst_thread_class_get(void);

bool cst_thread_traits_same(const struct cst_thread_traits *a, const struct cst_thread_traits *b);
/* Makes the calling thread block these signals and, if `processors`, use these processors. */
void cst_thread_traits_adopt(const struct cst_thread_traits *wanted, bool processors);
/* Makes the calling thread block all signals. */
void cst_thread_block_signals(void);

/* Makes the calling thread use a mode that cst_float_mode returned. It reads the mode first, since
 * a read costs less than a needless write. */
static inline void cst_float_adopt(uint64_t mode) {
    if (cst_float_mode() != mode) cst_float_set_mode(mode);
}

/* --- topology.c ------------------------------------------------------------------------ */

enum cst_topology {
    CST_TOPOLOGY_CORE,
    CST_TOPOLOGY_SOCKET,
    CST_TOPOLOGY_LAST_CACHE,
    CST_TOPOLOGY_NODE, /* of memory; then `processor` is the node's number */
};

/* The processors that share this level with `processor`, as a mask; false when unknown. `root` is
 * put before the path of /sys: "" except in tests. Reads files. */
bool cst_topology_group(const char *root, enum cst_topology level, unsigned processor,
                        uint64_t *bits, size_t words);
/* The numbers of the memory nodes, as a mask; false when unknown. */
bool cst_topology_nodes(const char *root, uint64_t *bits, size_t words);

/* --- memory.c -------------------------------------------------------------------------- */

/* The memory nodes for pages: a wish that the kernel may not grant. */
enum cst_page_policy {
    CST_PAGES_ANYWHERE,
    CST_PAGES_NEAREST,    /* on the caller's node */
    CST_PAGES_BLOCKED,    /* one contiguous part on each node */
    CST_PAGES_INTERLEAVED /* page by page over the nodes */
};

/* The size of a page in bytes; a power of two. */
size_t cst_page_size(void);

/* At least `size` bytes of zeros in pages of their own, never swapped out if `pinned`. NULL when
 * memory is exhausted, or no more may be pinned. *granted is to be passed to cst_pages_free. */
void *cst_pages_get(size_t size, bool pinned, enum cst_page_policy policy, size_t *granted);
void cst_pages_free(void *start, size_t granted);
/* Visible: GHC inlines calls of this function into programs, which then need the name. */
#pragma GCC visibility push(default)
/* Requests large pages for memory that will be accessed at random; a wish. */
void cst_pages_prefer_large(void *start, size_t size);
#pragma GCC visibility pop

#endif
