/* A name that leads the linker to a file of this ABI in Capstan's archive (whole.c). It does so
 * even if libgomp, named before the archive on the command line, offers the file's functions.
 * Otherwise a program could get some functions of each of the two runtimes. */
#ifndef CST_ABI_WHOLE_H
#define CST_ABI_WHOLE_H

#define CST_WHOLE(file) __attribute__((used)) const char cst_whole_##file = 0

#endif
