/* machine.h: a machine of up to 1024 processors that counts cache line transfers.
 *
 * Each simulated thread has a processor and a cache of its own and is executed as a coroutine,
 * always the one whose clock is furthest behind. Time is counted in thousandths of a line transfer.
 * What an access costs:
 *
 *   - nothing but `hit` when the processor has the line (to write: when nobody else has it);
 *   - one transfer otherwise, after the transfers of the same line that were asked for earlier: a
 * line can go to one place at a time;
 *   - a plain store does not wait for its line (store buffer); an atomic read-modify-write and a
 * fence wait for all stores before them;
 *   - a line that nobody has comes from memory, for nothing: this is about what is shared.
 *
 * A thread that spins without seeing anything new sleeps until a line that it looks at is written,
 * so that waiting costs no simulation.
 */
#ifndef CAPSTAN_SIMULATE_MACHINE_H
#define CAPSTAN_SIMULATE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_TRANSFER = 1000, /* units of time in a transfer */
    SIM_NS = 60,         /* what a transfer is taken to last where the runtime looks at a clock, */
    SIM_TICKS = 180,     /* and in ticks of the processor's counter */
    SIM_MOST = 1024,     /* threads */
    SIM_LINE = 64        /* bytes */
};

enum sim_access { SIM_READ, SIM_WRITE, SIM_EXCHANGE };

struct sim_cost {
    uint64_t hit;      /* an access that needs no transfer */
    uint64_t exchange; /* what a read-modify-write costs beyond that */
};

typedef void sim_body(void *argument);

/* Runs a thread on processor 0, and all that it spawns, until it returns. Others are then dropped.
 */
void sim_run(const struct sim_cost *cost, sim_body *body, void *argument);

/* --- called by simulated threads -------------------------------------------------------- */

/* Starts a thread on the next processor. False: there are no more. */
bool sim_spawn(sim_body *body, void *argument);
/* Number of the calling thread; -1 outside of a simulation. */
int sim_self(void);
/* The calling thread's clock. */
uint64_t sim_now(void);
/* The same as the processor's counter of ticks; 0 outside of a simulation. */
uint64_t sim_ticks(void);
/* Computes for so long without touching anything shared. */
void sim_work(uint64_t time);
/* Accesses memory. */
void sim_touch(const void *address, size_t size, enum sim_access access);
/* Waits until all stores have reached their lines. */
void sim_fence(void);
/* One turn of a spin loop is over. */
void sim_relax(void);
/* Sleeps until sim_wake is called for this address. */
void sim_sleep(const void *address);
/* Wakes at most that many of them. Returns how many. */
int sim_wake(const void *address, int count);
/* Transfers so far, by all threads. */
uint64_t sim_transfers(void);

#endif
