/* The signal state with which the command was started.
 *
 * GHC's runtime system takes SIGINT for itself and may touch others. The program that the command
 * starts must find dispositions and mask as its user left them: an ignored signal stays ignored
 * (nohup), and a blocked signal stays blocked. */
#ifndef CST_CLI_SIGNALS_H
#define CST_CLI_SIGNALS_H

#include <signal.h>

/* Saves dispositions and mask. To be called before GHC's runtime system starts, and before any
 * other change of signals. */
void cst_cli_signals_remember(void);

/* Restores the saved dispositions and mask, just before exec. */
void cst_cli_signals_restore(void);

/* Ends this process by `signal`, as the program ended, but without a second core file. */
void cst_cli_signals_die(int signal);

#endif
