/* A look at the runtime in another process. */
#ifndef CST_CLI_WATCH_H
#define CST_CLI_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* Writes a line "NUMBER NAME" into `text` for each word of the runtime's state in the process. An
 * ELF file lies at `base` in the process; it may hold a runtime. Returns 0, or an errno value:
 * EPERM, ESRCH, ENOENT (there is no runtime of Capstan's). */
int cst_cli_watch(int pid, uint64_t base, char *text, size_t size);

#endif
