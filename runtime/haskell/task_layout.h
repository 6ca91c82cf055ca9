/* The layout of a pool's deques, for cmm/task.cmm and src-task/Capstan/Task/Work/Layout.hs. It has
 * only macros, as the preprocessor for Haskell reads this file as well. */
#ifndef CST_HASKELL_TASK_LAYOUT_H
#define CST_HASKELL_TASK_LAYOUT_H

/* The array of deques: first the entry that marks an empty slot, then the state and the ring of
 * each Capability. */
#define DEQUES_EMPTY 0
#define DEQUES_STATE 1
#define DEQUES_RING 2
#define DEQUES_STRIDE 2

/* A ring, or the stub, which has two pointers. A ring: an entry and its context for each slot, then
 * the place in which the thread of STATE_THREAD keeps its context. The number of slots is a power
 * of two. */
#define RING_SLOTS 1024
#define RING_PLACE (2 * RING_SLOTS)
#define RING_POINTERS (RING_PLACE + 1)

/* The words of a state. Each group has a cache line of its own: thieves change the first, the owner
 * has the second, and the third describes the scout. */
#define STATE_SHARED 0
#define STATE_BOTTOM 8
#define STATE_THREAD 9
#define STATE_IDLE 16
#define STATE_SCOUT 17
#define STATE_WORDS 24

/* The words of a pool's flags: the numbers of workers that search, of idle Capabilities whose scout
 * is asleep, and of workers that have a task. The last has a cache line of its own. */
#define FLAGS_SEARCHING 0
#define FLAGS_IDLE 1
#define FLAGS_ENGAGED 8
#define FLAGS_WORDS 24

/* The states of a scout. A push need not wake a scout whose state is SCOUT_ON_CALL or less. */
#define SCOUT_AWAKE 0
#define SCOUT_ON_CALL 1
#define SCOUT_ASLEEP 2
#define SCOUT_ABSENT 3
#define SCOUT_ELSEWHERE 4

/* The words of a scope's counters: a group for all, then one for each Capability. A group is two
 * cache lines, as processors fetch lines in pairs. Only the group for all has COUNTER_WAITING. */
#define COUNTER_PUSHED 0
#define COUNTER_ENDED 1
#define COUNTER_WAITING 2
#define COUNTER_WORDS 16

#endif
