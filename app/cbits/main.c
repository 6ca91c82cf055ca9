/* The command's entry: the steps before GHC's runtime system starts, and the paths that do not
 * start it. */
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
 * preloaded: a process that contains only the runtime, which reports its settings or a region. */
static int probe(const char *what) {
    if (strcmp(what, "settings") == 0) return 0; /* the runtime reported them at its load */
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
    /* Without a ticker thread the start is shorter, and no code here needs preemption. Without
     * signal handlers a broken pipe or ^C ends the command as it ends other commands. */
    config.rts_opts = "-V0 --install-signal-handlers=no";
    hs_main(argc, argv, &ZCMain_main_closure, config);
}
