/* What a loaded library defines, read from its own tables.
 *
 * dlsym(3) would wait for a library that another thread is loading, and look into other libraries
 * too. Here no lock is taken; the library must stay loaded meanwhile, as it does within
 * dl_iterate_phdr(3). */
#ifndef CST_ADOPT_ELF_H
#define CST_ADOPT_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cst_elf {
    const char *path; /* as the dynamic linker calls it; "": the program itself */
    uintptr_t base, begin, end;
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
};

/* False: it has no such tables, as what links with another kind of hash has not. */
bool cst_elf_open(struct cst_elf *elf, const struct dl_phdr_info *info);

/* The address of a name that it defines for others; NULL: it does not. Some 20 ns where it does
 * not. */
void *cst_elf_find(const struct cst_elf *elf, const char *name);

/* Does it ask for a library whose file name begins so? */
bool cst_elf_needs(const struct cst_elf *elf, const char *prefix);

#endif
