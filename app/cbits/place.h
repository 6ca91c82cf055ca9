/* Where this command's own file is, and where the loader can be told that a folder is. */
#ifndef CST_CLI_PLACE_H
#define CST_CLI_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* This command's executable. By /proc, else (not mounted, or readlink is refused) by what execve
 * was given. False: not known. */
bool cst_cli_own_file(char file[PATH_MAX]);

/* Whether the loader takes a path in LD_PRELOAD for what it is. A blank or a colon ends one there,
 * and $ORIGIN, $LIB and the like stand for something else; nothing escapes them. */
bool cst_cli_is_plain(const char *path);

/* A plain path of that folder: a symbolic link in a folder of ours for temporary files, which stays
 * and serves the next time. `file`, in the folder, is looked for through the link. False: no such
 * link can be made. */
bool cst_cli_link(const char *folder, const char *file, char link[PATH_MAX]);

#endif
