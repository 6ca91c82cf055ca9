/* Numbers of this processor, and of Linux and glibc on it, for the preprocessor: C, Cmm and Haskell
 * read them. ../../../docs/porting.md explains each. */
#ifndef CST_NUMBERS_H
#define CST_NUMBERS_H

/* Numbers of registers for a call's arguments: for pointers and integers, and for floating-point
 * numbers. */
#define CST_CALL_INTEGERS 8
#define CST_CALL_REALS 8

/* sizeof(pthread_mutex_t) in glibc. */
#define CST_MUTEX_SIZE 48

/* Relocations of the global offset table, by their names in elf.h: for calls, and for data. */
#define CST_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define CST_GLOB_DAT R_AARCH64_GLOB_DAT

/* Whether a plain load after GHC's compare-and-swap stays after it. */
#define CST_SWAP_IS_BARRIER 0

/* In assembly: the instruction at which a call through a pointer may land, and a jump. */
#define CST_LANDING "hint #34"
#define CST_JUMP "b"

/* The layout of struct epoll_event. */
#define CST_EPOLL_LAYOUT

#endif
