/* Names in the tables of a loaded library; see elf.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "adopt/elf.h"

#include <string.h>

/* The dynamic linker adds the base to these addresses, except in objects that the kernel maps. */
static const void *at(const struct cst_elf *elf, ElfW(Addr) address) {
    return (const void *)(address < elf->base ? address + elf->base : address);
}

static void read_dynamic(struct cst_elf *elf) {
    for (const ElfW(Dyn) *entry = elf->dynamic; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            elf->symbols = at(elf, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            elf->strings = at(elf, entry->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            elf->hash = at(elf, entry->d_un.d_ptr);
            break;
        }
}

bool cst_elf_open(struct cst_elf *elf, const struct dl_phdr_info *info) {
    *elf = (struct cst_elf){.path = info->dlpi_name, .base = info->dlpi_addr, .begin = UINTPTR_MAX};
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = elf->base + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_DYNAMIC) elf->dynamic = (const void *)begin;
        if (part->p_type != PT_LOAD) continue;
        if (begin < elf->begin) elf->begin = begin;
        if (end > elf->end) elf->end = end;
    }
    if (elf->dynamic) read_dynamic(elf);
    return elf->symbols && elf->strings && elf->hash;
}

static uint32_t hash_of(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static void *value_of(const struct cst_elf *elf, const ElfW(Sym) * symbol, const char *name) {
    unsigned type = symbol->st_info & 15;
    if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT)) return NULL;
    if (strcmp(elf->strings + symbol->st_name, name) != 0) return NULL;
    return (void *)(elf->base + symbol->st_value);
}

void *cst_elf_find(const struct cst_elf *elf, const char *name) {
    enum { BITS = 8 * sizeof(ElfW(Addr)) };
    uint32_t buckets = elf->hash[0], first = elf->hash[1], words = elf->hash[2];
    uint32_t shift = elf->hash[3], hash = hash_of(name);
    if (buckets == 0) return NULL;
    const ElfW(Addr) *filter = (const void *)(elf->hash + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
    ElfW(Addr) word = filter[hash / BITS % words];
    if (!(word >> hash % BITS & word >> (hash >> shift) % BITS & 1)) return NULL;
    uint32_t index = bucket[hash % buckets];
    if (index < first) return NULL;
    for (;; index++) {
        uint32_t found = chain[index - first];
        void *value = (found | 1) == (hash | 1) ? value_of(elf, &elf->symbols[index], name) : NULL;
        if (value) return value;
        if (found & 1) return NULL;
    }
}

bool cst_elf_needs(const struct cst_elf *elf, const char *prefix) {
    for (const ElfW(Dyn) *entry = elf->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED &&
            strncmp(elf->strings + entry->d_un.d_val, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}
