/* scenario.h: the four paths that are counted, in the runtime and in the simplest possible one.
 *
 * scenario.c is compiled twice. In the simulator, "ours" is the unchanged source of the runtime,
 * and time counts in line transfers. In the native program, "ours" is the libgomp.so.1 that the
 * dynamic linker finds, and time counts in nanoseconds. The functions at the end differ between the
 * two.
 */
#ifndef CAPSTAN_SIMULATE_SCENARIO_H
#define CAPSTAN_SIMULATE_SCENARIO_H

#include <stdint.h>

struct scenario {
    const char *name; /* of the path */
    const char *kind; /* "ours" or "central" */
    /* Executes the path `count` times with `threads` threads, after a few times to warm up. Returns
     * the time of one execution. */
    double (*run)(int threads, long count);
    /* Returns the computation on the critical path of one execution, in transfers. */
    double (*work)(int threads);
    int largest; /* the largest team that is worth a simulation */
};

extern const struct scenario scenarios[];
extern const int scenario_count;

/* --- the machine ------------------------------------------------------------------------ */

/* Returns the time of the calling thread. */
double scenario_clock(void);
/* Returns the time of the calling thread; all before it was a warm-up. */
double scenario_begin(void);
/* Computes for the time of `transfers` transfers. */
void scenario_work(double transfers);
/* Runs body(argument, i) in threads 1..threads-1 and, when they have been started, body(argument,
 * 0) in the calling thread. Returns when all have returned. */
typedef void scenario_body(void *argument, int number);
void scenario_threads(int threads, scenario_body *body, void *argument);
/* One turn of a spin loop. */
void scenario_relax(void);

#endif
