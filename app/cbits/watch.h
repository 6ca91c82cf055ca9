/* A look at the runtime in another process. */
#ifndef CST_CLI_WATCH_H
#define CST_CLI_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* Writes a line "NUMBER NAME" into `text` for each word of the runtime's state in the process.
 * `file` is the runtime's file, which lies at `base` in the process. Returns 0, or an errno value:
 * EPERM, ESRCH, ENOENT (the file is no runtime of Capstan). */
int cst_cli_watch(int pid, const char *file, uint64_t base, char *text, size_t size);

#endif
