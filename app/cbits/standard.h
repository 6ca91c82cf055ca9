/* Standard descriptors that the command was started without. */
#ifndef CST_CLI_STANDARD_H
#define CST_CLI_STANDARD_H

/* Gives each closed descriptor from 0 to 2 a file that is open for the other direction. So reading
 * from standard input, and writing to the other two, fail with EBADF as before. Otherwise the next
 * file that is opened would take the number, and output would go there. A program that the command
 * starts finds the descriptors closed. Must be called before any file is opened. */
void cst_cli_standard_occupy(void);

#endif
