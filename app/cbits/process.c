/* Starts the program: in place of the command, or as its child with all signals passed on.
 *
 * The child stays in our process group. This keeps a pipeline together, and the terminal's own
 * signals (^C, ^\, ^Z, a new window size) reach the child directly. So the command passes on only
 * signals that were sent to it alone; otherwise the child would get the terminal's signals twice.
 * All signals are blocked and taken from sigwaitinfo, one after the other: there is no handler, and
 * so no race. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "process.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    pid_t pid;
    bool stopped;
    bool ended;
    int status;
    struct rusage usage;
};

int cst_cli_process_become(char *const argv[]) {
    cst_cli_signals_restore();
    execvp(argv[0], argv);
    return errno;
}

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t time_ns(struct timeval time) {
    return time.tv_sec * INT64_C(1000000000) + time.tv_usec * INT64_C(1000);
}

/* Runs in the child, after fork. It does not return. */
static void start(char *const argv[], pid_t parent, int failure) {
    /* A user who kills the command with SIGKILL means the program. That signal cannot be passed
     * on. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(125);
    int error = cst_cli_process_become(argv);
    ssize_t written = write(failure, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 125);
}

/* Forks and waits until the child has executed the program. Returns 0, or an errno value. */
static int spawn(char *const argv[], pid_t *pid) {
    int failure[2], error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0) return errno;
    pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0) start(argv, parent, failure[1]);
    if (*pid < 0) error = errno;
    close(failure[1]);
    if (*pid > 0) {
        /* A successful exec closes the pipe without a write. All signals are blocked, so EINTR is
         * not possible. */
        if (read(failure[0], &error, sizeof error) != sizeof error) error = 0;
        if (error) waitpid(*pid, NULL, 0);
    }
    close(failure[0]);
    return error;
}

/* Stops this process as `signal` stopped the child. Returns when this process is continued. */
static void stop(int signal) {
    sigset_t one;
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigaction(signal, &action, NULL);
    kill(getpid(), signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    sigprocmask(SIG_BLOCK, &one, NULL);
}

/* Takes all state changes of children. Other children come from a program that became this command,
 * or are orphans if this is process 1. */
static void collect(struct child *child) {
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED, &usage);
        if (pid <= 0) return;
        if (pid != child->pid) continue;
        if (WIFSTOPPED(status)) {
            child->stopped = true;
            stop(WSTOPSIG(status));
        } else if (WIFCONTINUED(status)) {
            child->stopped = false;
        } else {
            child->ended = true;
            child->status = status;
            child->usage = usage;
            return;
        }
    }
}

/* Whether the terminal sent the signal, which then reached the child too. A hang-up goes only to
 * the session's leader. */
static bool from_terminal(const siginfo_t *info) {
    if (info->si_code != SI_KERNEL) return false;
    switch (info->si_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGWINCH:
        return true;
    case SIGHUP:
        return getsid(0) != getpid();
    default:
        return false;
    }
}

static void pass_on(struct child *child, const siginfo_t *info) {
    if (from_terminal(info)) return;
    if (info->si_signo == SIGCONT) {
        /* The signal usually goes to the whole group, so the child is awake already. */
        collect(child);
        if (!child->stopped || child->ended) return;
    }
    if (info->si_code == SI_QUEUE)
        sigqueue(child->pid, info->si_signo, info->si_value);
    else
        kill(child->pid, info->si_signo);
}

static void attend(struct child *child, const sigset_t *signals) {
    while (!child->ended) {
        siginfo_t info;
        int signal = sigwaitinfo(signals, &info);
        if (signal == SIGCHLD)
            collect(child);
        else if (signal > 0)
            pass_on(child, &info);
    }
}

int cst_cli_process_supervise(char *const argv[], struct cst_cli_outcome *outcome) {
    struct child child = {.pid = 0};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t signals, before;

    sigfillset(&signals);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&signals, own[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    /* If SIGCHLD is inherited as ignored, children vanish before the command can wait for them. */
    sigaction(SIGCHLD, &standard, NULL);

    int64_t begin = now_ns();
    int error = spawn(argv, &child.pid);
    if (error) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return error;
    }
    attend(&child, &signals);

    bool killed = WIFSIGNALED(child.status);
    *outcome = (struct cst_cli_outcome){
        .pid = child.pid,
        .exit = killed ? -1 : WEXITSTATUS(child.status),
        .signal = killed ? WTERMSIG(child.status) : 0,
        .wall_ns = now_ns() - begin,
        .user_ns = time_ns(child.usage.ru_utime),
        .system_ns = time_ns(child.usage.ru_stime),
        .peak_kib = child.usage.ru_maxrss,
    };
    return 0;
}
