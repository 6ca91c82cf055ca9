/* The command's entry: what must happen before GHC's runtime system starts, and without it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "shortcut.h"
#include "signals.h"
#include "standard.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <Rts.h>

extern StgClosure ZCMain_main_closure;

typedef void region(void *data);
typedef void gomp_parallel(region *body, void *data, unsigned threads, unsigned flags);

static void nothing(void *data) {
    (void)data;
}

/* `capstan env` and `capstan doctor` start the command again in this way, with the runtime
 * preloaded: a process with nothing in it but the runtime, which says what it sees. */
static int probe(const char *what) {
    if (strcmp(what, "settings") == 0) return 0; /* told when it was loaded */
    gomp_parallel *parallel = (gomp_parallel *)dlsym(RTLD_DEFAULT, "GOMP_parallel");
    if (!parallel) return 1;
    parallel(nothing, NULL, 0, 0);
    return 0;
}

int main(int argc, char *argv[]) {
    if (argc == 3 && strcmp(argv[1], "--probe") == 0) return probe(argv[2]);
    cst_cli_shortcut(argv);
    cst_cli_signals_remember();
    cst_cli_standard_occupy();

    RtsConfig config = defaultRtsConfig;
    config.rts_hs_main = true;
    /* "+RTS" and GHCRTS may be meant for the program that we start. */
    config.rts_opts_enabled = RtsOptsIgnoreAll;
    /* No ticker thread: nothing here needs preemption, and start-up is shorter. No handlers: a
     * broken pipe or ^C ends us as it ends other commands. */
    config.rts_opts = "-V0 --install-signal-handlers=no";
    hs_main(argc, argv, &ZCMain_main_closure, config);
}
