/* simulate.c: counts line transfers on the critical path for teams of 2 to 1024.
 *
 * usage: simulate [-h HIT] [-x EXCHANGE] [-p PATH] [-v] [THREADS...]
 *
 * - -h, -x: costs in thousandths of a transfer.
 * - -p: this path of the runtime only.
 * - -v: prints the places where threads queue.
 *
 * Prints "path<TAB>kind<TAB>threads<TAB>transfers<TAB>all transfers" lines: the transfers on the
 * critical path of one operation, and those of all threads for one operation. Each line comes from
 * its own process, so that no state is left over.
 */
#include "machine.h"
#include "profile.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT = 5 };

static bool profile;
static uint64_t transfers_before;

double scenario_begin(void) {
    if (profile) profile_start();
    transfers_before = sim_transfers();
    return scenario_clock();
}

double scenario_clock(void) {
    return (double)sim_now() / SIM_TRANSFER;
}
void scenario_work(double transfers) {
    sim_work((uint64_t)(transfers * SIM_TRANSFER));
}
void scenario_relax(void) {
    sim_relax();
}

struct start {
    scenario_body *body;
    void *argument;
    int number, *left;
};

static void run_start(void *argument) {
    struct start *s = argument;
    s->body(s->argument, s->number);
    if (--*s->left == 0) sim_wake(s->left, 1);
}

void scenario_threads(int threads, scenario_body *body, void *argument) {
    struct start *start = calloc((size_t)threads, sizeof *start);
    int left = threads - 1;
    for (int i = 1; i < threads; i++) {
        start[i] = (struct start){body, argument, i, &left};
        if (!sim_spawn(run_start, &start[i])) abort();
    }
    body(argument, 0);
    if (left > 0) sim_sleep(&left);
    free(start);
}

struct job {
    const struct scenario *scenario;
    int threads;
};

static void run_job(void *argument) {
    struct job *job = argument;
    double time = job->scenario->run(job->threads, REPEAT) - job->scenario->work(job->threads);
    printf("%s\t%s\t%d\t%.3f\t%.1f\n", job->scenario->name, job->scenario->kind, job->threads, time,
           (double)(sim_transfers() - transfers_before) / REPEAT);
    fflush(stdout);
    profile_print();
}

static int in_child(const struct sim_cost *cost, struct job *job) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sim_run(cost, run_job, job);
        _exit(0);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv) {
    const char *only = NULL;
    struct sim_cost cost = {.hit = 1, .exchange = 0};
    int sizes[32], count = 0, option;
    while ((option = getopt(argc, argv, "h:x:p:v")) != -1) {
        if (option == 'h') cost.hit = strtoul(optarg, NULL, 10);
        if (option == 'x') cost.exchange = strtoul(optarg, NULL, 10);
        if (option == 'p') only = optarg;
        if (option == 'v') profile = true;
        if (option == '?') return 2;
    }
    for (; optind < argc && count < 32; optind++) sizes[count++] = atoi(argv[optind]);
    if (count == 0)
        for (int n = 2; n <= SIM_MOST; n *= 2) sizes[count++] = n;
    for (int i = 0; i < scenario_count; i++)
        for (int s = 0; s < count; s++) {
            struct job job = {&scenarios[i], sizes[s]};
            if (sizes[s] < 2 || sizes[s] > scenarios[i].largest) continue;
            if (only && (strcmp(only, scenarios[i].name) || strcmp("ours", scenarios[i].kind)))
                continue;
            if (!in_child(&cost, &job)) {
                fprintf(stderr, "simulate: %s (%s) with %d threads failed\n", scenarios[i].name,
                        scenarios[i].kind, sizes[s]);
                return 1;
            }
        }
    return 0;
}
