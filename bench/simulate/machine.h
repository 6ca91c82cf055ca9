/* machine.h: a machine of up to 1024 processors that counts cache line transfers.
 *
 * Each simulated thread has its own processor and cache, and is executed as a coroutine. The thread
 * whose clock is furthest behind always runs. Time counts in thousandths of a line transfer. The
 * cost of an access:
 *
 * - `hit` if the processor has the line, and for a write, if no other processor has it;
 * - one transfer otherwise, after all earlier requested transfers of the same line, as a line can
 *   go to one place at a time;
 * - a plain store does not wait for its line (store buffer); an atomic read-modify-write and a
 *   fence wait for all stores before them;
 * - a line that no processor has comes from memory, without a cost: the simulator counts sharing.
 *
 * A thread that spins without seeing anything new sleeps until a line that it reads is written, so
 * that waiting costs no simulation.
 */
#ifndef CAPSTAN_SIMULATE_MACHINE_H
#define CAPSTAN_SIMULATE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_TRANSFER = 1000, /* units of time in a transfer */
    SIM_NS = 60,         /* the assumed length of a transfer when the runtime reads a clock, */
    SIM_TICKS = 180,     /* and in ticks of the processor's counter */
    SIM_MOST = 1024,     /* threads */
    SIM_LINE = 64        /* bytes */
};

enum sim_access { SIM_READ, SIM_WRITE, SIM_EXCHANGE };

struct sim_cost {
    uint64_t hit;      /* an access that needs no transfer */
    uint64_t exchange; /* the further cost of a read-modify-write */
};

typedef void sim_body(void *argument);

/* Runs a thread on processor 0, and all threads that it spawns, until it returns. The other threads
 * are then dropped.
 */
void sim_run(const struct sim_cost *cost, sim_body *body, void *argument);

/* --- called by simulated threads -------------------------------------------------------- */

/* Starts a thread on the next processor. Returns false if there is no further processor. */
bool sim_spawn(sim_body *body, void *argument);
/* Returns the number of the calling thread, or -1 outside a simulation. */
int sim_self(void);
/* Returns the calling thread's clock. */
uint64_t sim_now(void);
/* Returns the calling thread's clock as a processor's counter of ticks, or 0 outside a
 * simulation. */
uint64_t sim_ticks(void);
/* Computes for `time` without an access to shared memory. */
void sim_work(uint64_t time);
/* Accesses memory. */
void sim_touch(const void *address, size_t size, enum sim_access access);
/* Waits until all stores have reached their lines. */
void sim_fence(void);
/* One turn of a spin loop is over. */
void sim_relax(void);
/* Sleeps until sim_wake is called for this address. */
void sim_sleep(const void *address);
/* Wakes at most `count` threads that sleep on this address. Returns their number. */
int sim_wake(const void *address, int count);
/* Returns the number of transfers so far, by all threads. */
uint64_t sim_transfers(void);

#endif
