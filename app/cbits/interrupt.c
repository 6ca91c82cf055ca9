/* An early end that the user asks for by a signal; see interrupt.h. GHC's runtime system without
 * threads runs no handler while it waits for a process, so the handler is C. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void set(int signal, void (*handler)(int)) {
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(signal, NULL, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, NULL);
}

/* Makes only calls that a handler may make. */
static void ask(int signal) {
    static const char message[] =
        "capstan: the running process is the last one; a second signal ends the command at once\n";
    asked = signal;
    set(SIGINT, SIG_DFL);
    set(SIGTERM, SIG_DFL);
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0) return;
}

void cst_cli_interrupt_await(void) {
    set(SIGINT, ask);
    set(SIGTERM, ask);
}

int cst_cli_interrupt_asked(void) {
    return asked;
}
