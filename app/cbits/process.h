/* Starts the program: in place of the command, or as its child.
 *
 * Haskell code makes these calls by unsafe foreign calls, in a runtime system without threads or
 * ticker. */
#ifndef CST_CLI_PROCESS_H
#define CST_CLI_PROCESS_H

#include <stdint.h>

/* The end of a program, and its cost. */
struct cst_cli_outcome {
    int64_t pid;
    int64_t exit;   /* the exit code; -1: a signal ended it */
    int64_t signal; /* that signal; 0: none */
    int64_t wall_ns;
    int64_t user_ns;
    int64_t system_ns;
    int64_t peak_kib; /* largest resident set of one of its processes */
};

/* Becomes the program; argv[0] is looked up as execvp does. Returns only if that failed, with an
 * errno value. */
int cst_cli_process_become(char *const argv[]);

/* Runs the program as a child and waits for its end. Signals sent to this process go to the child.
 * When the child stops, this process stops too, so the shell's job control works as without it.
 * Returns 0, or an errno value if the program could not be started. */
int cst_cli_process_supervise(char *const argv[], struct cst_cli_outcome *outcome);

#endif
