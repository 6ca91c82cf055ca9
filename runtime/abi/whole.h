/* A name that the linker is told to look for (-u, by tools/cabal-lists), so that it takes a file of
 * this ABI from Capstan's archive also where libgomp, named before it on the command line, offers
 * the file's functions. Else a program gets some functions of one runtime and some of the other. */
#ifndef CST_ABI_WHOLE_H
#define CST_ABI_WHOLE_H

#define CST_WHOLE(file) __attribute__((used)) const char cst_whole_##file = 0

#endif
