/* Redirects imports of the RTS's shared library, for that library alone: its entries in the global
 * offset table get another address. Unlike an exported symbol, this changes nothing for the host
 * program. */
#ifdef CST_SHARED_LIBRARY
#include "substrate/rts/rts.h"

#include "numbers.h"
#include "platform/atomic.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

struct image {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hashes;
    const ElfW(Rela) * relocations[2]; /* of calls, of data */
    size_t counts[2];
    uintptr_t sealed, sealed_end; /* made read-only by the loader (RELRO) */
};

static void read_dynamic(struct image *image, const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            image->symbols = (const void *)entry->d_un.d_ptr;
            break;
        case DT_STRTAB:
            image->names = (const void *)entry->d_un.d_ptr;
            break;
        case DT_GNU_HASH:
            image->hashes = (const void *)entry->d_un.d_ptr;
            break;
        case DT_JMPREL:
            image->relocations[0] = (const void *)entry->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            image->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            image->relocations[1] = (const void *)entry->d_un.d_ptr;
            break;
        case DT_RELASZ:
            image->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        }
    }
}

static int read_seal(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct image *image = data;
    if (info->dlpi_addr != image->base) return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_GNU_RELRO) continue;
        image->sealed = (image->base + header->p_vaddr) & -page;
        image->sealed_end = (image->base + header->p_vaddr + header->p_memsz) & -page;
    }
    return 1;
}

static bool set_slot(const struct image *image, uintptr_t slot, void *replacement) {
    bool sealed = slot >= image->sealed && slot < image->sealed_end;
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)(slot & -page_size);
    if (sealed && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
    cst_store_release((_Atomic(void *) *)slot, replacement);
    if (sealed) mprotect(page, page_size, PROT_READ);
    return true;
}

static bool redirect(const struct image *image, const struct cst_rts_import *import) {
    bool found = false;
    for (unsigned table = 0; table < 2; table++) {
        for (size_t i = 0; i < image->counts[table]; i++) {
            const ElfW(Rela) *entry = &image->relocations[table][i];
            unsigned long type = ELF64_R_TYPE(entry->r_info);
            if (type != CST_JUMP_SLOT && type != CST_GLOB_DAT) continue;
            const char *name = image->names + image->symbols[ELF64_R_SYM(entry->r_info)].st_name;
            if (strcmp(name, import->name) != 0) continue;
            if (set_slot(image, image->base + entry->r_offset, import->replacement)) found = true;
        }
    }
    return found;
}

/* --- exports of the loader ---------------------------------------------------------------- */

static uint32_t hash_of(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++) hash = 33 * hash + (unsigned char)*name;
    return hash;
}

/* Looks a name up in GNU's hash table. The last symbol of a bucket has an odd hash. */
static void *exported(const struct image *image, const char *name) {
    if (!image->symbols || !image->names || !image->hashes) return NULL;
    const uint32_t *table = image->hashes, *buckets = table + 4 + 2 * table[2];
    const uint32_t *chain = buckets + table[0];
    uint32_t hash = hash_of(name), i = buckets[hash % table[0]];
    for (; i >= table[1]; i++) {
        const ElfW(Sym) *symbol = &image->symbols[i];
        if ((chain[i - table[1]] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            strcmp(image->names + symbol->st_name, name) == 0)
            return (void *)(image->base + symbol->st_value);
        if (chain[i - table[1]] & 1) break;
    }
    return NULL;
}

/* Reads the loader's own table: a tool loaded with the program may define the name first, and dlsym
 * does not search the loader. */
void *cst_rts_loaders_own(const char *name) {
    uintptr_t base = getauxval(AT_BASE);
    for (struct link_map *map = _r_debug.r_map; map && base; map = map->l_next) {
        if (map->l_addr != base) continue;
        struct image image = {.base = base};
        read_dynamic(&image, map->l_ld);
        return exported(&image, name);
    }
    return NULL;
}

unsigned cst_rts_redirect(const void *inside, const struct cst_rts_import *imports,
                          unsigned count) {
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return 0;
    struct image image = {.base = map->l_addr};
    read_dynamic(&image, map->l_ld);
    if (!image.symbols || !image.names) return 0;
    dl_iterate_phdr(read_seal, &image);
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += imports[i].replacement && redirect(&image, &imports[i]);
    return found;
}

#endif
