/* A host program notices nothing when the RTS boots and workers come and go. Locale, signals,
 * errno, limits, files, floating-point state, environment and umask stay the same. The process gets
 * one thread for each Capability, and little memory.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread -lm
 * test: env LC_ALL=C.UTF-8 GHCRTS=-N7 */
#include "guest.h"

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

extern char **environ;

enum { SIGNALS = 65, FILES = 1024, WORKERS = 2, CAPABILITIES = 2 };

struct state {
    char locale[256];
    const char *ctype; /* a program may keep this pointer, which a new locale would free */
    struct sigaction actions[SIGNALS];
    sigset_t mask;
    stack_t stack;
    struct itimerval timers[2];
    struct rlimit limits[RLIM_NLIMITS];
    char files[FILES];
    int rounding, exceptions;
    mode_t creation;
    char **environment;
    char directory[PATH_MAX];
};

static void list_files(char *files) {
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        int file = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && file != dirfd(folder) && file < FILES) files[file] = 1;
    }
    closedir(folder);
}

static void look(struct state *state) {
    memset(state, 0, sizeof *state);
    strcpy(state->locale, setlocale(LC_ALL, NULL));
    state->ctype = setlocale(LC_CTYPE, NULL);
    for (int i = 1; i < SIGNALS; i++) sigaction(i, NULL, &state->actions[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
    sigaltstack(NULL, &state->stack);
    /* Not ITIMER_REAL: the time limit of this test uses it. */
    getitimer(ITIMER_VIRTUAL, &state->timers[0]);
    getitimer(ITIMER_PROF, &state->timers[1]);
    for (int i = 0; i < RLIM_NLIMITS; i++) getrlimit(i, &state->limits[i]);
    list_files(state->files);
    state->rounding = fegetround();
    state->exceptions = fetestexcept(FE_ALL_EXCEPT);
    state->creation = umask(0);
    umask(state->creation);
    state->environment = environ;
    CHECK(getcwd(state->directory, sizeof state->directory));
}

/* A comparison of all bytes would not do: the type has room for further signals, which do not
 * exist. */
static bool same_mask(const sigset_t *one, const sigset_t *other) {
    for (int i = 1; i < SIGNALS; i++)
        if (sigismember(one, i) != sigismember(other, i)) return false;
    return true;
}

static void compare(const struct state *before, const struct state *after) {
    CHECK(strcmp(before->locale, after->locale) == 0);
    CHECK(before->ctype == after->ctype);
    for (int i = 1; i < SIGNALS; i++) {
        CHECK(before->actions[i].sa_handler == after->actions[i].sa_handler);
        CHECK_EQ(after->actions[i].sa_flags, before->actions[i].sa_flags);
    }
    CHECK(same_mask(&before->mask, &after->mask));
    CHECK(before->stack.ss_sp == after->stack.ss_sp);
    CHECK(memcmp(before->timers, after->timers, sizeof before->timers) == 0);
    CHECK(memcmp(before->limits, after->limits, sizeof before->limits) == 0);
    CHECK(memcmp(before->files, after->files, sizeof before->files) == 0);
    CHECK_EQ(after->rounding, before->rounding);
    CHECK_EQ(after->exceptions, before->exceptions);
    CHECK_EQ(after->creation, before->creation);
    CHECK(before->environment == after->environment);
    CHECK(strcmp(before->directory, after->directory) == 0);
}

static void ignore(int signal) {
    (void)signal;
}

static int arrived, leave;

static void *work(void *argument) {
    /* A worker has the mask of its master. */
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    CHECK(same_mask(&mask, argument));
    INCREMENT(&arrived);
    AWAIT(&leave, 1);
    return NULL;
}

/* Every thread except the main thread and the workers blocks all signals. */
static void check_guests(sigset_t *ours) {
    unsigned long mine = *(unsigned long *)ours;
    int same = 0, blocked = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[300], line[256];
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        unsigned long found = 0;
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "SigBlk: %lx", &found) == 1) break;
        fclose(file);
        if (found == mine)
            same++;
        else if ((found | 0x3ul << 31 | 1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1)) == ~0ul)
            blocked++;
    }
    closedir(folder);
    CHECK_EQ(same, 1 + WORKERS);
    CHECK_EQ(blocked, CAPABILITIES);
}

int main(void) {
    test_limit(60);
    /* The program sets no locale, so its locale is "C" whatever the environment says. */
    CHECK(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGVTALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    fesetround(FE_UPWARD);
    feraiseexcept(FE_INEXACT);
    long size = status_of("VmSize"), memory = status_of("VmRSS");

    static struct state before, after;
    look(&before);
    errno = 4711;
    const struct cst_substrate *rts = guest_load();
    errno = 4711;
    const char *reason = NULL;
    CHECK_EQ(rts->start(CAPABILITIES, NULL, &reason), 0);
    CHECK_EQ(errno, 4711);
    for (unsigned i = 1; i <= WORKERS; i++) CHECK_EQ(rts->spawn(work, &mask, i, 0, false), 0);
    CHECK_EQ(errno, 4711);
    AWAIT(&arrived, WORKERS);
    look(&after);
    compare(&before, &after);

    CHECK_EQ(rts->capabilities(), CAPABILITIES);
    CHECK_EQ(rts->idle_capabilities(), CAPABILITIES);
    CHECK_EQ(status_of("Threads"), 1 + WORKERS + CAPABILITIES);
    check_guests(&mask);
    /* A worker's stack and the allocator's arena take up to 72 MiB of addresses each. */
    CHECK(status_of("VmSize") - size < 1024 * 1024);
    CHECK(status_of("VmRSS") - memory < 10 * 1024);

    SET(&leave, 1);
    expect_threads(1 + CAPABILITIES);
    look(&after);
    compare(&before, &after);
    return 0;
}
