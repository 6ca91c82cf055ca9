/* The runtime's words in another process; see watch.h. A note of the runtime's ELF file leads to a
 * table of their addresses (runtime/abi/capstan/watch.c). All is read in the process's memory, and
 * nothing that is read there is trusted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "watch.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

struct watched {
    char name[24];
    uint64_t word;
};

static const char maker[] = "Capstan";
enum { MOST_WORDS = 32, MOST_HEADERS = 64, MOST_NOTES = 4096, WORDS = 1 };

static int read_there(int pid, uint64_t at, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got == (ssize_t)size ? 0 : got < 0 ? errno : EFAULT;
}

static size_t padded(uint32_t size, uint64_t align) {
    size_t unit = align == 8 ? 8 : 4;
    return ((size_t)size + unit - 1) / unit * unit;
}

/* Looks for our note among the notes of a segment that lies at `at`. Returns the table's address,
 * or 0. */
static uint64_t find_note(const char *notes, size_t size, uint64_t align, uint64_t at) {
    size_t place = 0;
    Elf64_Nhdr note;
    while (size - place >= sizeof note) {
        memcpy(&note, notes + place, sizeof note);
        size_t name = place + sizeof note, words = name + padded(note.n_namesz, align);
        size_t next = words + padded(note.n_descsz, align);
        if (next > size) return 0;
        int64_t distance;
        if (note.n_type == WORDS && note.n_namesz == sizeof maker &&
            note.n_descsz == sizeof distance && memcmp(notes + name, maker, sizeof maker) == 0) {
            memcpy(&distance, notes + words, sizeof distance);
            return at + words + (uint64_t)distance;
        }
        place = next;
    }
    return 0;
}

/* The address of the table of words; 0, with the error, if there is none. A file that the loader
 * may place anywhere counts its addresses from `base`, a program of the old kind from 0. */
static uint64_t find_words(int pid, uint64_t base, int *error) {
    Elf64_Ehdr file;
    *error = read_there(pid, base, &file, sizeof file);
    if (*error) return 0;
    *error = ENOENT;
    if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_phentsize != sizeof(Elf64_Phdr) || file.e_phnum > MOST_HEADERS)
        return 0;
    Elf64_Phdr header[MOST_HEADERS];
    if (read_there(pid, base + file.e_phoff, header, file.e_phnum * sizeof *header) != 0) return 0;
    uint64_t origin = file.e_type == ET_DYN ? base : 0;
    for (int i = 0; i < file.e_phnum; i++) {
        char notes[MOST_NOTES];
        uint64_t at = origin + header[i].p_vaddr, size = header[i].p_memsz;
        if (header[i].p_type != PT_NOTE || size > sizeof notes) continue;
        if (read_there(pid, at, notes, size) != 0) continue;
        uint64_t words = find_note(notes, size, header[i].p_align, at);
        if (words) return words;
    }
    return 0;
}

int cst_cli_watch(int pid, uint64_t base, char *text, size_t size) {
    int error;
    uint64_t at = find_words(pid, base, &error);
    if (!at) return error;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < MOST_WORDS; i++, at += sizeof(struct watched)) {
        struct watched entry;
        uint32_t value;
        error = read_there(pid, at, &entry, sizeof entry);
        if (error || entry.name[0] == '\0') return error;
        error = read_there(pid, entry.word, &value, sizeof value);
        if (error) return error;
        int length = snprintf(text + used, size - used, "%u %.23s\n", value, entry.name);
        if (length < 0 || (size_t)length >= size - used) return E2BIG;
        used += (size_t)length;
    }
    return 0;
}
