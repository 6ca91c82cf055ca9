/* The contract between the runtime and the operating system and processor.
 *
 * Implemented in linux/ and, for the processor, in x86_64/ or aarch64/ (docs/porting.md), of which
 * the build puts one into the include path. Nothing above this layer includes a system header for
 * these purposes. Unless a comment says otherwise a function may be called from any thread, does
 * not allocate, keeps errno, and never runs Haskell. */
#ifndef CST_PLATFORM_H
#define CST_PLATFORM_H

#include "platform/atomic.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* --- processor ------------------------------------------------------------------------- */

/* Tells the processor that this is a spin loop. */
static inline void cst_cpu_relax(void);

/* How long that takes, in nanoseconds: measured anew each time, for some microseconds. From 1 to
 * 1000. */
uint32_t cst_cpu_relax_ns(void);

/* Fetches the line of `word`, which the caller will write soon. */
static inline void cst_prefetch_to_write(const _Atomic uint32_t *word);

/* A counter that the processor keeps, from one to a few ticks a nanosecond: to tell short from
 * long, not to measure. Costs a third of the clock. */
static inline uint64_t cst_clock_ticks(void);

/* How the calling thread computes with floating-point numbers: rounding, flush to zero, precision,
 * and which exceptions trap; without the flags of exceptions that have occurred. Some nanoseconds.
 */
static inline uint64_t cst_float_mode(void);
/* The calling thread computes so from now on. */
static inline void cst_float_set_mode(uint64_t mode);

/* Asks valgrind, by a sequence of instructions that does nothing on a processor; 0 is the answer
 * where there is no valgrind. */
static inline uintptr_t cst_valgrind_ask(const uintptr_t words[6]);

#include "processor.h"

/* --- futex.c --------------------------------------------------------------------------- */

/* Sleeps while *word == expected; may return early for any reason. May block. */
void cst_futex_wait(_Atomic uint32_t *word, uint32_t expected);
/* As above for at most `ns` nanoseconds. False when the time ran out. May block. */
bool cst_futex_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns);
/* Wakes at most `count` threads that sleep on word. Returns how many. */
int cst_futex_wake(_Atomic uint32_t *word, int count);
/* Gives the processor to another runnable thread, if there is one; in a confined program it sleeps
 * for some 50 us. */
void cst_yield(void);
/* The same for who has asked lately whether the program is confined. */
void cst_yield_again(void);

/* A full memory barrier on every thread of the process (membarrier(2)), so that a frequent access
 * elsewhere needs none. About a microsecond. False where the kernel lacks it: then the frequent
 * access may go unseen for a moment, and the caller must not rely on it for correctness.
 * Visible: Haskell calls it (Capstan.Task.Loop.Stretch). */
#pragma GCC visibility push(default)
bool cst_process_barrier(void);
#pragma GCC visibility pop
/* Registers the process for it, if it has one thread only: that takes 3 us. Later the first barrier
 * does so, and the kernel lets it wait for some 10 ms. */
void cst_process_barrier_prepare(void);
/* Asks for turns of `ns` nanoseconds on a processor, for the calling thread and those that it
 * starts from then on. Who asks for short ones need not wait, when it wakes or is new, until the
 * longer turns of others end (Linux 6.12; before, and for threads of real-time priority, nothing
 * changes). Returns the length there was, for a later call. */
uint64_t cst_thread_ask_turns(uint64_t ns);
/* Has the thread that the process began with ended, though the process goes on (pthread_exit in
 * main)? False where the kernel does not tell. One system call, and no file. */
bool cst_thread_main_has_ended(void);
/* What the calling thread has used so far: processor time, and how often it gave the processor up
 * to wait for something, or was driven from it. About 600 ns. */
struct cst_thread_usage {
    uint64_t cpu_ns;
    uint64_t voluntary_switches, involuntary_switches;
};
struct cst_thread_usage cst_thread_usage(void);

/* --- confined.c -------------------------------------------------------------------------- */

/* A program may give up system calls (seccomp), so that another one ends it. Once a thread that
 * uses OpenMP is known to have done so, this layer makes no calls in regions but those that libgomp
 * makes too: futex, and what a new thread needs. The others then do nothing, and answer as where
 * the kernel refuses them. */
extern _Atomic bool cst_confined_seen;

/* Is the calling thread filtered, and was the process not as the library was loaded? Asks the
 * kernel: prctl(PR_GET_SECCOMP), which the filter must allow. Some 100 to 500 ns. */
bool cst_confined_self(void);
/* Has any thread been found so? */
static inline bool cst_confined(void) {
    return cst_load_relaxed(&cst_confined_seen);
}
/* The two together; for callers that are about to make calls of that kind, and are not in a hurry.
 */
static inline bool cst_confined_now(void) {
    return cst_confined() || cst_confined_self();
}

/* --- frames ------------------------------------------------------------------------------ */

/* The calling function keeps a frame pointer, whatever the compiler's options are: a profiler that
 * follows frame pointers comes from a region's body to who opened the region. Two instructions. */
#define CST_KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

/* --- clock.c --------------------------------------------------------------------------- */

/* Monotonic time in nanoseconds. */
uint64_t cst_clock_ns(void);
/* Resolution of that clock in nanoseconds. */
uint64_t cst_clock_resolution_ns(void);
/* The same time as of the last clock interrupt: a few milliseconds old, and a fifth of the cost. */
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

/* The calling thread's affinity mask; returns how many processors are in it, 0 when unknown. */
size_t cst_cpu_mask_get(uint64_t *bits, size_t words);
/* Binds the calling thread to the processors in the mask; false when the kernel refuses. */
bool cst_cpu_mask_set(const uint64_t *bits, size_t words);
/* The same of the kernel alone, for what is to be as it was before: the two above may be a
 * program's own, and say something else. */
size_t cst_cpu_mask_get_own(uint64_t *bits, size_t words);
bool cst_cpu_mask_set_own(const uint64_t *bits, size_t words);

/* Puts a thread that has just been made, with the caller's mask, and waits where the caller runs,
 * on another processor, if the mask has one; elsewhere it stays. It must not end meanwhile, nor
 * change its mask. Does not block. */
void cst_cpu_part(pthread_t thread);

/* The same for a thread of this process that was asleep, by its cst_thread_id; it keeps its mask.
 */
void cst_cpu_part_woken(int32_t id);
/* The kernel's number of the calling thread. */
int32_t cst_thread_id(void);

/* The processor on which the calling thread runs at this moment. */
unsigned cst_cpu_current(void);
/* Is the calling thread the one in which the process began? */
bool cst_thread_is_main(void);

/* Processors that the calling thread may run on (its affinity mask); at least 1. */
unsigned cst_cpu_affinity_count(void);
/* The same of the thread in which the process began, as the kernel has it; at least 1. */
unsigned cst_cpu_process_count(void);
/* That mask; returns how many processors are in it, 0 when unknown. */
size_t cst_cpu_process_mask(uint64_t *bits, size_t words);
/* Processors that the cgroup quota (v1 or v2, this group and its ancestors) pays for, rounded
 * up; 0 when there is no quota. Reads files: costs tens of microseconds. */
unsigned cst_cpu_quota(void);
/* The same for a system whose /proc and cgroup mounts lie below `root`; for tests. */
unsigned cst_cpu_quota_below(const char *root);
/* The two combined: the number of threads that can run at once; at least 1. */
unsigned cst_cpu_available(void);

/* --- process.c -------------------------------------------------------------------------- */

/* A name of the calling process that no other has until the machine is started anew; 0: /proc does
 * not tell. Some ten microseconds, as the next. */
uint64_t cst_process_identity(void);
/* Does the process of this name live? One that has ended, and whose parent has not looked yet, does
 * not. */
bool cst_process_lives(uint64_t identity);

/* Memory that the processes of this user share under a name, zero at first; it stays mapped. NULL:
 * `reason` says why not. `path` is the file's. */
void *cst_shared_memory(const char *name, size_t size, char *path, size_t path_size,
                        const char **reason);

/* --- traits.c --------------------------------------------------------------------------- */

/* What a new thread has from its maker, and what a worker that serves another master is to have
 * from that one: the signals that it blocks, and the processors that it may use. */
struct cst_thread_traits {
    sigset_t blocked;
    size_t processors; /* in the mask; 0: not known */
    uint64_t mask[CST_CPU_MASK_WORDS];
};

/* What a new thread has from its maker too, and cannot always change, as numbers to compare: how it
 * is scheduled, also by disks and timers, and what it may do. */
enum {
    CST_CLASS_SCHEDULING, /* policy, priority and nice value */
    CST_CLASS_DISKS,
    CST_CLASS_TIMERS,
    CST_CLASS_EFFECTIVE, /* capabilities */
    CST_CLASS_PERMITTED,
    CST_CLASS_INHERITABLE,
    /* What cannot be compared: a filter of system calls, and a folder or open files that are not
     * the first thread's (unshare). 0: none of these. Else 1 here; core puts the number of the
     * thread there from which all threads of the class descend. */
    CST_CLASS_OWN,
    CST_CLASS_WORDS,
};
struct cst_thread_class {
    uint64_t word[CST_CLASS_WORDS];
};

/* The calling thread's; the first takes some 500 ns, the second some 2 us. */
void cst_thread_traits_get(struct cst_thread_traits *traits);
struct cst_thread_class cst_thread_class_get(void);

bool cst_thread_traits_same(const struct cst_thread_traits *a, const struct cst_thread_traits *b);
/* The calling thread blocks these signals from now on, and uses these processors, if they are to be
 * adopted too. */
void cst_thread_traits_adopt(const struct cst_thread_traits *wanted, bool processors);
/* The calling thread takes no more signals that are sent to the process. */
void cst_thread_block_signals(void);

/* The calling thread computes with floating-point numbers as one did of which cst_float_mode said
 * this; to set what is so already would cost more than to look. */
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

/* On which memory nodes pages are to lie; a wish that the kernel may not grant. */
enum cst_page_policy {
    CST_PAGES_ANYWHERE,
    CST_PAGES_NEAREST,    /* where the caller runs */
    CST_PAGES_BLOCKED,    /* one contiguous part on each node */
    CST_PAGES_INTERLEAVED /* page by page over the nodes */
};

/* In bytes; a power of two. */
size_t cst_page_size(void);

/* At least `size` bytes of zeros in pages of their own, kept in memory when `pinned`; NULL when
 * there are none (or not so many may be pinned). *granted is what cst_pages_free wants. */
void *cst_pages_get(size_t size, bool pinned, enum cst_page_policy policy, size_t *granted);
void cst_pages_free(void *start, size_t granted);
/* Visible: GHC inlines calls of these into programs, which then need them by name. */
#pragma GCC visibility push(default)
/* Asks for large pages behind memory that will be used at random; a wish. */
void cst_pages_prefer_large(void *start, size_t size);
#pragma GCC visibility pop

#endif
