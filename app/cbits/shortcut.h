/* `capstan run PROGRAM [ARGS...]` without options, before GHC's runtime system starts.
 *
 * That takes the command a quarter of the time. It does what Capstan.CLI.Run does where nothing is
 * unusual, and leaves all else to it, so every message and every choice is made there. */
#ifndef CST_CLI_SHORTCUT_H
#define CST_CLI_SHORTCUT_H

/* Becomes the program. Returns, with the environment as it was, where the command line has options,
 * where the environment has settings that matter here, and where anything is not as expected. */
void cst_cli_shortcut(char *const argv[]);

#endif
