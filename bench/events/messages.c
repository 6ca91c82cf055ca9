/* messages.c: 1-byte messages through many pipes, as in the first benchmark of GHC's event manager.
 *
 * The loops take turns, so that a slow moment of the machine affects all. The figure of a loop is
 * its best turn, without disturbance. Prints millions of messages a second as messages-LOOP-PIPES.
 * With a timeout for each message the name is messages-timeouts-LOOP-PIPES (messages-timeouts-PIPES
 * for Capstan). The figure fall-100-9900 is the rate through 100 pipes divided by the rate through
 * 9900 (fall-100-9900-bare for the bare loop). contender.h defines a message.
 *
 *   messages [-r TURNS] [-u MICROSECONDS] [-p PIPES,...] [-c] [CASE...]
 *
 * -c measures processor time, for a machine that is busy with other work. CASE: bench.h. */
#include "contender.h"
#include "wanted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static const struct contender *const contenders[] = {
    &bare_level, &bare_threads,   &bare_edge,     &capstan_level, &capstan_edge,
    &libuv_poll, &libevent_level, &libevent_edge, &io_uring,
};
enum { CONTENDERS = sizeof contenders / sizeof contenders[0], MOST_SIZES = 16, NAME = 64 };

struct options {
    int turns;
    double turn_ns;
    int sizes[MOST_SIZES], size_count;
    char **words;
};

void need(bool done, const char *what) {
    if (done) return;
    fprintf(stderr, "messages: failed: %s (%s)\n", what, strerror(errno));
    exit(1);
}

uint64_t background_delay(int index) {
    uint64_t mixed = (uint64_t)index * 0x9e3779b97f4a7c15u;
    return (mixed >> 20) % (UINT64_C(3600) * 1000000000);
}

static clockid_t meter = CLOCK_MONOTONIC;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(meter, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The figures of the fall need four cases. */
static bool falls(const char *word, const char *name) {
    static const char *const parts[] = {"messages-c-100", "messages-c-9900", "messages-bare-100",
                                        "messages-bare-9900"};
    bool part = false;
    for (int i = 0; i < 4; i++) part = part || strcmp(name, parts[i]) == 0;
    return part && strncmp(word, "fall-", 5) == 0;
}

static bool wanted(const struct options *options, const char *name) {
    bool found = case_wanted(options->words, name);
    for (char **word = options->words; *word != NULL; word++) found = found || falls(*word, name);
    return found;
}

static void name_case(char name[NAME], const struct contender *contender, bool timeouts,
                      int count) {
    bool ours = strcmp(contender->name, "c") == 0;
    if (timeouts && ours)
        snprintf(name, NAME, "messages-timeouts-%d", count);
    else
        snprintf(name, NAME, "messages-%s%s-%d", timeouts ? "timeouts-" : "", contender->name,
                 count);
}

static void make_pipes(struct pipes *pipes) {
    pipes->end = malloc((size_t)pipes->count * sizeof *pipes->end);
    need(pipes->end != NULL, "memory");
    for (int i = 0; i < pipes->count; i++) {
        need(pipe2(pipes->end[i], O_NONBLOCK | O_CLOEXEC) == 0, "pipe2");
        need(write(pipes->end[i][1], "x", 1) == 1, "write");
    }
}

static void close_pipes(struct pipes *pipes) {
    for (int i = 0; i < pipes->count; i++) {
        close(pipes->end[i][0]);
        close(pipes->end[i][1]);
    }
    free(pipes->end);
}

/* Each loop has its own process and its own pipes, as a pipe would report to every epoll set that
 * watches it. The process reads the number of messages of a turn, and answers with the ns; 0
 * messages end it. */
struct player {
    pid_t process;
    int ask, answer;
    double best; /* ns per message */
};

static void play(const struct contender *contender, int count, bool timeouts, int ask, int answer) {
    struct pipes pipes = {.count = count, .timeouts = timeouts};
    make_pipes(&pipes);
    void *loop = contender->open(&pipes);
    for (long n; read(ask, &n, sizeof n) == sizeof n && n > 0;) {
        pipes.left = n;
        double before = now_ns();
        contender->run(loop);
        double cost = (now_ns() - before) / (double)(n - pipes.left);
        need(write(answer, &cost, sizeof cost) == sizeof cost, "write");
    }
    contender->close(loop);
    close_pipes(&pipes);
    exit(0);
}

static struct player start(const struct contender *contender, int count, bool timeouts) {
    int ask[2], answer[2];
    need(pipe2(ask, O_CLOEXEC) == 0 && pipe2(answer, O_CLOEXEC) == 0, "pipe2");
    pid_t process = fork();
    need(process >= 0, "fork");
    if (process == 0) {
        close(ask[1]);
        close(answer[0]);
        play(contender, count, timeouts, ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    return (struct player){process, ask[1], answer[0], 0};
}

static double turn(const struct player *player, long n) {
    double cost;
    need(write(player->ask, &n, sizeof n) == sizeof n, "write");
    need(read(player->answer, &cost, sizeof cost) == sizeof cost, "a loop's answer");
    return cost;
}

static void finish(struct player *player) {
    int status;
    long over = 0;
    need(write(player->ask, &over, sizeof over) == sizeof over, "write");
    close(player->ask);
    need(waitpid(player->process, &status, 0) == player->process && status == 0, "a loop");
    close(player->answer);
}

/* Millions of messages a second by the loop `name`, through 100 and through 9900 pipes. */
struct fall {
    const char *loop, *name;
    double few, many;
};
static struct fall fall[] = {{"c", "fall-100-9900", 0, 0}, {"bare", "fall-100-9900-bare", 0, 0}};

static void note(const char *loop, int count, double rate) {
    for (int i = 0; i < 2; i++) {
        if (strcmp(fall[i].loop, loop) != 0) continue;
        if (count == 100) fall[i].few = rate;
        if (count == 9900) fall[i].many = rate;
    }
}

static void measure(const struct options *options, int count, bool timeouts) {
    struct player player[CONTENDERS] = {0};
    char name[NAME];
    for (int c = 0; c < CONTENDERS; c++) {
        name_case(name, contenders[c], timeouts, count);
        if (!wanted(options, name) || (timeouts && !contenders[c]->timeouts)) continue;
        player[c] = start(contenders[c], count, timeouts);
        player[c].best = turn(&player[c], 4 * count); /* a warm-up */
    }
    for (int round = 0; round < options->turns; round++) {
        for (int c = 0; c < CONTENDERS; c++) {
            if (player[c].process == 0) continue;
            long n = (long)(options->turn_ns / player[c].best);
            double cost = turn(&player[c], n > 2 * count ? n : 2 * count);
            if (cost < player[c].best) player[c].best = cost;
        }
    }
    for (int c = 0; c < CONTENDERS; c++) {
        if (player[c].process == 0) continue;
        finish(&player[c]);
        name_case(name, contenders[c], timeouts, count);
        printf("%s\tM/s\t%.4f\n", name, 1000 / player[c].best);
        if (!timeouts) note(contenders[c]->name, count, 1000 / player[c].best);
    }
    fflush(stdout);
}

static void parse_sizes(struct options *options, char *list) {
    options->size_count = 0;
    for (char *word = strtok(list, ","); word && options->size_count < MOST_SIZES;
         word = strtok(NULL, ","))
        options->sizes[options->size_count++] = atoi(word);
}

int main(int argc, char **argv) {
    struct options options = {
        .turns = 20, .turn_ns = 1e7, .sizes = {100, 300, 1000, 3000, 9900}, .size_count = 5};
    for (int option; (option = getopt(argc, argv, "t:r:u:p:c")) != -1;) {
        if (option == 'r') options.turns = atoi(optarg);
        if (option == 'u') options.turn_ns = atof(optarg) * 1000;
        if (option == 'p') parse_sizes(&options, optarg);
        if (option == 'c') meter = CLOCK_PROCESS_CPUTIME_ID;
        if (option == '?') return 2;
    }
    options.words = argv + optind;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int i = 0; i < options.size_count; i++) {
        measure(&options, options.sizes[i], false);
        measure(&options, options.sizes[i], true);
    }
    for (int i = 0; i < 2; i++)
        if (fall[i].few > 0 && fall[i].many > 0)
            printf("%s\tx\t%.4f\n", fall[i].name, fall[i].few / fall[i].many);
    return 0;
}
