/* A look at the runtime in another process. */
#ifndef CST_CLI_WATCH_H
#define CST_CLI_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* Writes a line "NUMBER NAME" into `text` for each word that the process's runtime keeps. `file`:
 * the runtime's, which lies at `base` in the process. 0, or an errno value: EPERM, ESRCH, ENOENT
 * (the file is none of ours). */
int cst_cli_watch(int pid, const char *file, uint64_t base, char *text, size_t size);

#endif
