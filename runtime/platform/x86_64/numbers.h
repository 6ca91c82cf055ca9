/* Numbers of this processor and of what Linux and glibc do on it, for the preprocessor: C, Cmm and
 * Haskell read them. ../../../docs/porting.md says what each is for. */
#ifndef CST_NUMBERS_H
#define CST_NUMBERS_H

/* Registers for a call's arguments: pointers and integers, and floating-point numbers. */
#define CST_CALL_INTEGERS 6
#define CST_CALL_REALS 8

/* sizeof(pthread_mutex_t) in glibc. */
#define CST_MUTEX_SIZE 40

/* Relocations of the global offset table, by their names in elf.h: of calls, of data. */
#define CST_JUMP_SLOT R_X86_64_JUMP_SLOT
#define CST_GLOB_DAT R_X86_64_GLOB_DAT

/* In assembly: where a call through a pointer may land, and a jump. */
#define CST_LANDING "endbr64"
#define CST_JUMP "jmp"

/* As struct epoll_event is laid out. */
#define CST_EPOLL_LAYOUT __attribute__((packed))

#endif
