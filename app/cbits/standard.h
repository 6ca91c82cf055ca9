/* Standard descriptors that the command was started without. */
#ifndef CST_CLI_STANDARD_H
#define CST_CLI_STANDARD_H

/* Gives each closed descriptor from 0 to 2 a file that is not for its use. Reading from standard
 * input and writing to the others fail with EBADF, as before. Otherwise the next file that is
 * opened takes the number, and the output goes there. A program that is started finds them closed.
 * Called before any file is opened. */
void cst_cli_standard_occupy(void);

#endif
