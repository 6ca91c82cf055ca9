/* The names that a loaded library defines, read from its own tables.
 *
 * dlsym(3) would wait for a library that another thread is loading, and would search other
 * libraries too. These functions take no lock. The library must stay loaded meanwhile, as it does
 * within dl_iterate_phdr(3). */
#ifndef CST_ADOPT_ELF_H
#define CST_ADOPT_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cst_elf {
    const char *path; /* the dynamic linker's name; "": the program itself */
    uintptr_t base, begin, end;
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
};

/* Opens the tables. False: the library lacks them, for example if it was linked with another kind
 * of hash. */
bool cst_elf_open(struct cst_elf *elf, const struct dl_phdr_info *info);

/* The address of a name that the library exports; NULL: it does not export it. Some 20 ns in that
 * case. */
void *cst_elf_find(const struct cst_elf *elf, const char *name);

/* Does it need a library whose file name begins with `prefix`? */
bool cst_elf_needs(const struct cst_elf *elf, const char *prefix);

#endif
