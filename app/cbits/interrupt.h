/* An early end that the user asks for by a signal. */
#ifndef CST_CLI_INTERRUPT_H
#define CST_CLI_INTERRUPT_H

/* From now on a first SIGINT or SIGTERM only asks for an early end, and says so on standard error.
 * A second one ends the process if it comes half a second later or more; an earlier one belongs to
 * the first. A signal that the user ignored stays ignored. */
void cst_cli_interrupt_await(void);

/* The signal that asked, or 0. */
int cst_cli_interrupt_asked(void);

#endif
