/* A name that leads the linker to a file of this ABI in Capstan's archive, also where libgomp,
 * named before the archive on the command line, offers the file's functions (whole.c). Else a
 * program gets some functions of one runtime and some of the other. */
#ifndef CST_ABI_WHOLE_H
#define CST_ABI_WHOLE_H

#define CST_WHOLE(file) __attribute__((used)) const char cst_whole_##file = 0

#endif
