/* scenario.h: what is counted: four paths of a runtime, ours and the simplest possible one.
 *
 * scenario.c is compiled twice. In the simulator, "ours" is the unchanged source of the runtime,
 * and time is counted in line transfers; natively, it is whatever libgomp.so.1 is found, and time
 * is in nanoseconds. The functions at the end are what differs.
 */
#ifndef CAPSTAN_SIMULATE_SCENARIO_H
#define CAPSTAN_SIMULATE_SCENARIO_H

#include <stdint.h>

struct scenario {
    const char *name; /* of the path */
    const char *kind; /* "ours" or "central" */
    /* Executes the path `count` times with so many threads, after a few times to warm up; returns
     * the time of one. */
    double (*run)(int threads, long count);
    /* Computation on the critical path of one, in transfers. */
    double (*work)(int threads);
    int largest; /* team that is worth simulating */
};

extern const struct scenario scenarios[];
extern const int scenario_count;

/* --- where it runs ---------------------------------------------------------------------- */

/* Time of the calling thread. */
double scenario_clock(void);
/* The same; what came before was only to warm up. */
double scenario_begin(void);
/* Computes for as long as so many transfers take. */
void scenario_work(double transfers);
/* Runs body(argument, i) in threads 1..threads-1 and, when they have been started, body(argument,
 * 0) in the calling one; returns when all have returned. */
typedef void scenario_body(void *argument, int number);
void scenario_threads(int threads, scenario_body *body, void *argument);
/* One turn of a spin loop. */
void scenario_relax(void);

#endif
