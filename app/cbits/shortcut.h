/* `capstan run PROGRAM [ARGS...]` without options, before GHC's runtime system starts.
 *
 * So the command takes a quarter of the time. In the usual case this code does the same as
 * Capstan.CLI.Run, and leaves all other cases to it. So all messages and choices are made there. */
#ifndef CST_CLI_SHORTCUT_H
#define CST_CLI_SHORTCUT_H

/* Becomes the program. Returns with the environment unchanged in three cases: the command line has
 * options, the environment has settings that matter here, or the call meets something
 * unexpected. */
void cst_cli_shortcut(char *const argv[]);

#endif
