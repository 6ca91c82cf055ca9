/* Frees the parts of GHC's libraries that only the loader reads: symbols, names and relocations,
 * some 7 MiB. Once read, they would count as this process's memory for ever. After the release, a
 * later access reads them from the file again. */
#ifdef CST_SHARED_LIBRARY
#include "substrate/rts/rts.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct part {
    uintptr_t begin, end;
};

static void include(struct part *part, uintptr_t begin, size_t size) {
    if (!begin) return;
    if (!part->begin || begin < part->begin) part->begin = begin;
    if (begin + size > part->end) part->end = begin + size;
}

static struct part tables(const ElfW(Dyn) * dynamic) {
    struct part part = {0};
    uintptr_t names = 0, relocations = 0, calls = 0;
    size_t names_size = 0, relocations_size = 0, calls_size = 0;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        uintptr_t value = entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) include(&part, value, 0);
        if (entry->d_tag == DT_STRTAB) names = value;
        if (entry->d_tag == DT_STRSZ) names_size = value;
        if (entry->d_tag == DT_RELA) relocations = value;
        if (entry->d_tag == DT_RELASZ) relocations_size = value;
        if (entry->d_tag == DT_JMPREL) calls = value;
        if (entry->d_tag == DT_PLTRELSZ) calls_size = value;
    }
    include(&part, names, names_size);
    include(&part, relocations, relocations_size);
    include(&part, calls, calls_size);
    return part;
}

/* Does the part lie in a segment without write permission? */
static bool is_read_only(const struct dl_phdr_info *info, const struct part *part) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && !(header->p_flags & PF_W) && part->begin >= begin &&
            part->end <= begin + header->p_memsz)
            return true;
    }
    return false;
}

static int trim(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    if (!strstr(info->dlpi_name, "/libHS")) return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_DYNAMIC) continue;
        struct part part = tables((const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr));
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        part.begin = (part.begin + page - 1) & -page;
        part.end &= -page;
        if (part.begin < part.end && is_read_only(info, &part))
            madvise((void *)part.begin, part.end - part.begin, MADV_DONTNEED);
    }
    return 0;
}

void cst_rts_trim(void) {
    dl_iterate_phdr(trim, NULL);
}

#endif
