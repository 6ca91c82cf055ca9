/* Plain accesses. Happens-before must order two accesses to the same byte if at least one is plain
 * and at least one is a write. The compiler reports plain accesses as it does to ThreadSanitizer
 * (-fsanitize=thread). They are no events of the graph: in an execution without a race the events
 * order them. */
#define _GNU_SOURCE
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __data_start[], _end[], __executable_start[];

/* For a byte, or for four: the last plain write, each thread's last plain read, and the atomic
 * object that has the byte. An access after n events of its thread comes before each event that
 * knows n + 1 events of that thread.
 */
struct cell {
    uint32_t execution; /* of another execution: not touched yet */
    uint16_t wrote;     /* the number of events of the writer then */
    uint8_t writer;
    bool is_split;     /* each byte has its own cell */
    uint16_t location; /* its number + 1; 0: none */
    uint16_t read[MOST_THREADS];
    uint32_t write_at, read_at; /* the accessing instructions */
};

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, WORD = 4, MOST_PAGES = 1 << 14 };

struct page {
    uintptr_t number;
    struct cell *word, *byte;
};

/* Cells by page of the program's memory. */
static struct {
    uint32_t execution;
    struct page *last, table[MOST_PAGES];
} * cells;

void plain_prepare(void) {
    cells = mmap(NULL, sizeof *cells, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cells->last = &cells->table[0];
}

void plain_begin(void) {
    cells->execution++;
}

static struct page *page_of(uintptr_t number) {
    if (cells->last->number == number) return cells->last;
    for (size_t i = number * 0x9e3779b97f4a7c15u >> 50;; i = (i + 1) % MOST_PAGES) {
        struct page *page = &cells->table[i];
        if (page->number == number) return cells->last = page;
        if (page->number != 0) continue;
        page->number = number;
        page->word = calloc(PAGE / WORD, sizeof *page->word);
        page->byte = calloc(PAGE, sizeof *page->byte);
        return cells->last = page;
    }
}

/* Returns the cell at *next, and moves *next past it, up to `end`. */
static struct cell *next_cell(const char **next, const char *end) {
    const char *address = *next;
    struct page *page = page_of((uintptr_t)address >> PAGE_BITS);
    unsigned byte = (uintptr_t)address & (PAGE - 1);
    struct cell *cell = &page->word[byte / WORD];
    if (cell->execution != cells->execution) {
        *cell = (struct cell){.execution = cells->execution};
        cell->writer = (uint8_t)arena_owner(address, &cell->wrote);
    }
    bool is_whole = byte % WORD == 0 && end - address >= WORD;
    if (is_whole && !cell->is_split) {
        *next += WORD;
        return cell;
    }
    if (!cell->is_split)
        for (unsigned i = 0; i < WORD; i++) page->byte[byte / WORD * WORD + i] = *cell;
    cell->is_split = true;
    *next += 1;
    return &page->byte[byte];
}

static uint32_t here(const void *instruction) {
    return (uint32_t)((const char *)instruction - __executable_start);
}

/* --- reports --------------------------------------------------------------------------------- */

static void print_line(const char *what, unsigned thread, uint32_t instruction) {
    char command[200], line[400] = "?";
    snprintf(command, sizeof command, "addr2line -s -e /proc/%d/exe 0x%x", (int)getpid(),
             instruction - 1);
    FILE *pipe = instruction ? popen(command, "r") : NULL;
    if (pipe) {
        if (!fgets(line, sizeof line, pipe)) line[0] = 0;
        pclose(pipe);
    }
    line[strcspn(line, "\n")] = 0;
    fprintf(stderr, "  %s by thread %u at %s\n", what, thread, line);
}

static _Noreturn void race(const char *address, const char *mine, uint32_t instruction,
                           const char *other, unsigned who, uint32_t others) {
    if (!x->model->quiet) {
        fprintf(stderr, "%s: data race at %p:\n", x->model->name, (const void *)address);
        print_line(mine, x->running, instruction);
        print_line(other, who, others);
    }
    explore_failed(EXPLORE_AT("no data race"));
}

/* --- checks ---------------------------------------------------------------------------------- */

static void check_writer(const struct cell *cell, const char *address, const char *mine,
                         uint32_t at) {
    const struct thread *self = &x->thread[x->running];
    if (cell->writer == NOBODY || cell->writer == x->running) return;
    if (self->clock[cell->writer] > cell->wrote) return;
    race(address, mine, at, cell->write_at ? "a write" : "the allocation", cell->writer,
         cell->write_at);
}

static void check_readers(const struct cell *cell, const char *address, const char *mine,
                          uint32_t at) {
    const struct thread *self = &x->thread[x->running];
    for (unsigned t = 0; t < x->threads; t++)
        if (t != x->running && cell->read[t] > self->clock[t])
            race(address, mine, at, "a read", t, cell->read_at);
}

/* Checks that all atomic accesses come before a plain write, or all atomic stores before a plain
 * read. */
static void check_atomic(const struct cell *cell, const char *address, bool writes, uint32_t at) {
    const struct thread *self = &x->thread[x->running];
    if (cell->location == 0) return;
    for (ref a = x->location[cell->location - 1].accesses; a != NO_EVENT;
         a = detail_of(a)->next_access)
        if ((writes || event_of(a)->kind == WRITE) && !is_before(a, self->clock))
            race(address, writes ? "a plain write" : "a plain read", at, event_of(a)->place.text,
                 thread_of(a), 0);
}

/* Returns whether the address is a thread-local variable. */
static bool is_local(const char *address) {
    return address == (const char *)x->local;
}

static void plain_read(const char *address, size_t size, uint32_t at) {
    if (is_local(address)) return;
    uint16_t now = (uint16_t)(x->thread[x->running].count + 1);
    for (const char *end = address + size; address < end;) {
        struct cell *cell = next_cell(&address, end);
        if (cell->read[x->running] == now) continue;
        check_writer(cell, address, "a read", at);
        check_atomic(cell, address, false, at);
        cell->read[x->running] = now;
        cell->read_at = at;
    }
}

/* An object that was atomic begins anew: the next atomic access finds the value in memory. */
static void retire(unsigned number) {
    struct location *location = &x->location[number];
    for (const char *next = location->address, *end = next + location->size; next < end;)
        next_cell(&next, end)->location = 0;
    location->address = NULL;
}

static void plain_write(const char *address, size_t size, uint32_t at) {
    if (is_local(address)) return;
    uint16_t now = (uint16_t)x->thread[x->running].count;
    for (const char *end = address + size; address < end;) {
        struct cell *cell = next_cell(&address, end);
        check_writer(cell, address, "a write", at);
        check_readers(cell, address, "a write", at);
        check_atomic(cell, address, true, at);
        if (cell->location) retire(cell->location - 1u);
        cell->writer = (uint8_t)x->running;
        cell->wrote = now;
        cell->write_at = at;
    }
}

static unsigned new_location(const char *address, size_t size) {
    unsigned number = x->locations++;
    if (x->locations > MOST_LOCATIONS) explore_failed(EXPLORE_AT("MOST_LOCATIONS is too small"));
    struct location *location = &x->location[number];
    *location = (struct location){address, size, 0, NO_EVENT, NO_EVENT};
    if (!is_kernels(address)) memcpy(&location->first, address, size);
    for (const char *next = address, *end = address + size; next < end;)
        next_cell(&next, end)->location = (uint16_t)(number + 1);
    return number;
}

struct location *plain_location(const void *object, size_t size, bool writes) {
    const char *address = object, *end = address + size, *next = address;
    struct cell *cell = next_cell(&next, end);
    unsigned number = cell->location ? cell->location - 1u : new_location(address, size);
    struct location *location = &x->location[number];
    if (location->address != address || location->size != size)
        explore_failed(EXPLORE_AT("an object has accesses of one size"));
    for (next = address; next < end;) {
        cell = next_cell(&next, end);
        check_writer(cell, address, "an atomic access", 0);
        if (writes) check_readers(cell, address, "an atomic write", 0);
    }
    return location;
}

/* --- functions that the compiler calls ------------------------------------------------------- */

#define AT here(__builtin_return_address(0))

void explore_plain_write(void *address, size_t size) {
    if (x->exploring) plain_write(address, size, AT);
}
void explore_plain_read(const void *address, size_t size) {
    if (x->exploring) plain_read(address, size, AT);
}

/* NOLINTBEGIN(bugprone-reserved-identifier) */
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {
    (void)caller;
}
void __tsan_func_exit(void) {}

#define REPORTED(name, size)                                                                       \
    void __tsan_read##name(void *address) {                                                        \
        if (x->exploring) plain_read(address, size, AT);                                           \
    }                                                                                              \
    void __tsan_write##name(void *address) {                                                       \
        if (x->exploring) plain_write(address, size, AT);                                          \
    }
REPORTED(1, 1)
REPORTED(2, 2)
REPORTED(4, 4)
REPORTED(8, 8)
REPORTED(16, 16)
void __tsan_unaligned_read2(void *address) __attribute__((alias("__tsan_read2")));
void __tsan_unaligned_read4(void *address) __attribute__((alias("__tsan_read4")));
void __tsan_unaligned_read8(void *address) __attribute__((alias("__tsan_read8")));
void __tsan_unaligned_read16(void *address) __attribute__((alias("__tsan_read16")));
void __tsan_unaligned_write2(void *address) __attribute__((alias("__tsan_write2")));
void __tsan_unaligned_write4(void *address) __attribute__((alias("__tsan_write4")));
void __tsan_unaligned_write8(void *address) __attribute__((alias("__tsan_write8")));
void __tsan_unaligned_write16(void *address) __attribute__((alias("__tsan_write16")));
void __tsan_read_range(void *address, size_t size) {
    if (x->exploring) plain_read(address, size, AT);
}
void __tsan_write_range(void *address, size_t size) {
    if (x->exploring) plain_write(address, size, AT);
}
/* NOLINTEND(bugprone-reserved-identifier) */
