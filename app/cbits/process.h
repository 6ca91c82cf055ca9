/* Starting the program: in place of the command, or below it.
 *
 * Called from Haskell by unsafe foreign calls, from a runtime system without threads or ticker. */
#ifndef CST_CLI_PROCESS_H
#define CST_CLI_PROCESS_H

#include <stdint.h>

/* How a program ended and what it cost. */
struct cst_cli_outcome {
    int64_t pid;
    int64_t exit;   /* its exit code; -1: a signal ended it */
    int64_t signal; /* that signal; 0: none */
    int64_t wall_ns;
    int64_t user_ns;
    int64_t system_ns;
    int64_t peak_kib; /* largest resident set of one of its processes */
};

/* Becomes the program; argv[0] is looked up as execvp does. Returns, with an errno value, only when
 * that failed. */
int cst_cli_process_become(char *const argv[]);

/* Runs the program as a child and waits for its end. Signals sent to this process go to the child;
 * when the child is stopped this process stops too, so that the shell's job control sees what it
 * would see without us. Returns 0, or an errno value when the program could not be started. */
int cst_cli_process_supervise(char *const argv[], struct cst_cli_outcome *outcome);

#endif
