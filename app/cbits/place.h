/* The path of this command's own file, and paths of folders that the loader understands. */
#ifndef CST_CLI_PLACE_H
#define CST_CLI_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* The path of this command's executable, from /proc. If /proc is not mounted or readlink is
 * refused, the path is the argument of execve. Returns false if it is not known. */
bool cst_cli_own_file(char file[PATH_MAX]);

/* Whether the loader takes a path in LD_PRELOAD literally. There a blank or a colon ends a path,
 * and $ORIGIN, $LIB and similar names are replaced. There is no way to escape these characters. */
bool cst_cli_is_plain(const char *path);

/* Finds a plain path of a folder: a symbolic link in a folder for temporary files, which stays for
 * later runs. The call checks that `file` in the folder can be found through the link. Returns
 * false if no such link can be made. */
bool cst_cli_link(const char *folder, const char *file, char link[PATH_MAX]);

#endif
