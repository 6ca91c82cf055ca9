/* Binding of threads to places; see place.h. The lists are parsed in place_list.c. */
#include "core/settings/place.h"

#include "core/base/message.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cst_place_table cst_places;

/* --- assignment ---------------------------------------------------------------------------- */

/* The place of a member, counted from the master's, in a team with more members (T) than places
 * (P). T / P consecutive members share each place; the remaining members are added one by one. */
static uint32_t crowded_offset(uint32_t size, uint32_t places, uint32_t number) {
    uint32_t rest = size % places;
    return number < size - rest ? number / (size / places) : number - (size - rest);
}

static uint32_t wrap(const struct cst_binding *master, uint32_t offset) {
    return master->first + (master->place - 1 - master->first + offset) % master->length;
}

/* The partition is cut into one piece for each member; the first pieces are one place longer. The
 * master stays at its place, in the piece around it. The other members take the following pieces in
 * order, and are bound to the beginning of theirs. */
static struct cst_binding spread(const struct cst_binding *master, uint32_t size, uint32_t number) {
    uint32_t length = master->length / size, longer = master->length % size;
    uint32_t at = master->place - 1 - master->first, bound = longer * (length + 1);
    uint32_t piece = at < bound ? at / (length + 1) : longer + (at - bound) / length;
    piece = (piece + number) % size;
    struct cst_binding member;
    member.length = piece < longer ? length + 1 : length;
    member.first = master->first + piece * length + (piece < longer ? piece : longer);
    member.place = number == 0 ? master->place : member.first + 1;
    return member;
}

struct cst_binding cst_place_assign(const struct cst_binding *master, enum cst_bind bind,
                                    uint32_t size, uint32_t number) {
    struct cst_binding member = *master;
    if (master->place == 0 || bind == CST_BIND_FALSE || bind == CST_BIND_PRIMARY || size == 1)
        return member;
    bool crowded = size > master->length;
    if (bind == CST_BIND_SPREAD && !crowded) return spread(master, size, number);
    uint32_t offset = crowded ? crowded_offset(size, master->length, number) : number;
    uint32_t place = wrap(master, offset);
    member.place = place + 1;
    if (bind == CST_BIND_SPREAD) {
        member.first = place;
        member.length = 1;
    }
    return member;
}

/* --- binding ------------------------------------------------------------------------------- */

void cst_place_bind(uint32_t place) {
    if (place == 0 || place > cst_places.count) return;
    /* The kernel may refuse: a processor went offline, or a sandbox forbids the call. Then the
     * thread keeps its mask, which is no error for OpenMP. */
    (void)cst_cpu_mask_set(cst_place_mask(&cst_places, place - 1), cst_places.words);
}

/* The processors of the process at the time when the places were read. */
static uint64_t all[CST_CPU_MASK_WORDS];

void cst_place_unbind(void) {
    (void)cst_cpu_mask_set(all, CST_CPU_MASK_WORDS);
}

static uint32_t place_of_processor(unsigned processor) {
    if (processor / 64 < cst_places.words)
        for (uint32_t i = 0; i < cst_places.count; i++)
            if (cst_mask_has(cst_place_mask(&cst_places, i), processor)) return i;
    return 0;
}

struct cst_binding cst_place_here(void) {
    if (cst_places.count == 0) return (struct cst_binding){0, 0, 0};
    uint32_t place = cst_thread_is_main() ? 0 : place_of_processor(cst_cpu_current());
    return (struct cst_binding){place + 1, 0, cst_places.count};
}

struct cst_binding cst_place_first(void) {
    struct cst_binding here = cst_place_here();
    cst_place_bind(here.place);
    return here;
}

/* --- configuration ------------------------------------------------------------------------- */

/* The processors of the process. The words end with the last processor: larger numbers are out of
 * range, as in libgomp. False when the processors are not known. */
static bool own_source(struct cst_place_source *source, uint64_t *bits) {
    if (cst_cpu_mask_get(bits, CST_CPU_MASK_WORDS) == 0) return false;
    memcpy(all, bits, sizeof all);
    uint32_t words = CST_CPU_MASK_WORDS;
    while (bits[words - 1] == 0) words--;
    *source = (struct cst_place_source){.available = bits, .words = words, .root = ""};
    return true;
}

static bool read_with(bool (*parse)(const char *, const struct cst_place_source *,
                                    struct cst_place_table *),
                      const char *text, bool only_check) {
    uint64_t bits[CST_CPU_MASK_WORDS];
    struct cst_place_source source;
    bool known = own_source(&source, bits);
    if (!known && !only_check) cst_message_openmp("Could not get CPU affinity set");
    struct cst_place_table table = {0, 0, NULL};
    if (!parse(text, known && !only_check ? &source : NULL, &table)) return false;
    if (table.count > 0) cst_places = table;
    return true;
}

bool cst_place_read(const char *text, bool only_check) {
    return read_with(cst_place_parse, text, only_check);
}

bool cst_place_read_processors(const char *text, bool only_check) {
    return read_with(cst_place_parse_processors, text, only_check);
}

void cst_place_default(void) {
    uint64_t bits[CST_CPU_MASK_WORDS];
    struct cst_place_source source;
    if (own_source(&source, bits)) (void)cst_place_each_thread(&source, &cst_places);
}

/* --- masks --------------------------------------------------------------------------------- */

size_t cst_mask_format(const uint64_t *mask, size_t words, bool lengths, char *text, size_t size) {
    size_t used = 0, limit = 64 * words;
    if (size > 0) text[0] = '\0';
    for (size_t i = 0; i < limit; i++) {
        if (!cst_mask_has(mask, i)) continue;
        size_t first = i;
        while (i + 1 < limit && cst_mask_has(mask, i + 1)) i++;
        char piece[48];
        int length = snprintf(piece, sizeof piece, "%s%zu", used ? "," : "", first);
        if (i > first)
            length += snprintf(piece + length, sizeof piece - (size_t)length,
                               lengths ? ":%zu" : "-%zu", lengths ? i - first + 1 : i);
        for (int j = 0; j < length; j++, used++)
            if (used + 1 < size) {
                text[used] = piece[j];
                text[used + 1] = '\0';
            }
    }
    return used;
}
