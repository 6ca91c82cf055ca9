/* The grammar of OMP_PLACES and GOMP_CPU_AFFINITY.
 *
 *     list     = place { "," place } | name [ "(" count ")" ]
 *     place    = [ "!" ] ( "{" item { "," item } "}" | number ) [ ":" count [ ":" stride ] ]
 *     item     = number [ ":" count [ ":" stride ] ] | "!" number
 *     name     = threads | cores | sockets | ll_caches | numa_domains
 *
 * A list is read twice, as in libgomp: first for its form, so that a wrong list is reported whole;
 * then to build the table. The messages are libgomp's. */
#include "core/base/bounds.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/settings/place.h"
#include "platform/platform.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 65536 }; /* of a list, before places without processors are removed */
enum { NODE_WORDS = 16 };     /* of a mask of memory nodes: Linux has at most 1024 */
enum level { THREADS, CORES, SOCKETS, LAST_CACHES, NODES };

/* One reading of a list. Without `source` the table is not built. */
struct reading {
    const char *at;
    const struct cst_place_source *source;
    struct cst_place_table *table;
};

/* --- masks --------------------------------------------------------------------------------- */

static size_t limit_of(const struct reading *reading) {
    return 64 * (size_t)reading->source->words;
}

static bool out_of_range(uint64_t processor) {
    cst_message_openmp("Logical CPU number %lu out of range", (unsigned long)processor);
    return false;
}

static bool out_of_range_by(uint64_t processor, int64_t stride) {
    cst_message_openmp("Logical CPU number %lu+%ld out of range", (unsigned long)processor,
                       (long)stride);
    return false;
}

/* Adds `count` processors, `stride` apart. */
static bool add(const struct reading *reading, uint64_t *mask, uint64_t processor, uint64_t count,
                int64_t stride) {
    for (;;) {
        if (processor >= limit_of(reading)) return out_of_range(processor);
        mask[processor / 64] |= (uint64_t)1 << processor % 64;
        if (--count == 0) return true;
        uint64_t next = processor + (uint64_t)stride;
        if ((stride < 0 && next > processor) || (stride > 0 && next < processor))
            return out_of_range_by(processor, stride);
        processor = next;
    }
}

static bool take_out(const struct reading *reading, uint64_t *mask, uint64_t processor) {
    if (processor >= limit_of(reading)) return out_of_range(processor);
    if (!cst_mask_has(mask, processor)) {
        cst_message_openmp("Logical CPU %lu to be removed is not in the set",
                           (unsigned long)processor);
        return false;
    }
    mask[processor / 64] &= ~((uint64_t)1 << processor % 64);
    return true;
}

static bool shift(const struct reading *reading, const uint64_t *from, uint64_t *to,
                  int64_t stride) {
    size_t limit = limit_of(reading);
    memset(to, 0, limit / 8);
    for (size_t i = 0; i < limit; i++) {
        if (!cst_mask_has(from, i)) continue;
        uint64_t moved = i + (uint64_t)stride;
        if ((stride < 0 && moved > i) || (stride > 0 && (moved < i || moved >= limit)))
            return out_of_range_by(i, stride);
        to[moved / 64] |= (uint64_t)1 << moved % 64;
    }
    return true;
}

/* --- one place ----------------------------------------------------------------------------- */

static bool skip(struct reading *reading, char wanted) {
    reading->at = cst_parse_blanks(reading->at);
    if (*reading->at != wanted) return false;
    reading->at++;
    return true;
}

static bool signed_number(struct reading *reading, int64_t *value) {
    const char *start = cst_parse_blanks(reading->at);
    char *end;
    int saved = errno;
    errno = 0;
    *value = strtoll(start, &end, 10);
    bool good = errno == 0 && end != start;
    errno = saved;
    reading->at = end;
    return good;
}

/* Does an interval of processors, or of places, have more elements than CST_MOST_PROCESSORS? Then
 * its elements repeat, or are out of range. */
static bool is_too_long(uint64_t count) {
    if (count <= CST_MOST_PROCESSORS) return false;
    cst_message_openmp("Interval of length %lu is longer than the number of possible logical CPUs, "
                       "%d",
                       (unsigned long)count, CST_MOST_PROCESSORS);
    return true;
}

/* [ ":" count [ ":" stride ] ] */
static bool repetition(struct reading *reading, bool *given, uint64_t *count, int64_t *stride) {
    *count = 1;
    *stride = 1;
    *given = skip(reading, ':');
    if (!*given) return true;
    if (!cst_parse_number_at(&reading->at, count) || *count == 0) return false;
    return !skip(reading, ':') || signed_number(reading, stride);
}

/* The items between braces. Negated items take effect after all others, wherever they stand, so
 * they are read in a second pass. */
static bool items(struct reading *reading, uint64_t *mask) {
    const char *start = reading->at;
    bool any_negated = false;
    for (int turn = 0; turn < 1 + any_negated; turn++) {
        reading->at = start;
        do {
            bool negated = skip(reading, '!'), repeated;
            uint64_t processor, count;
            int64_t stride;
            if (!cst_parse_number_at(&reading->at, &processor)) return false;
            if (!repetition(reading, &repeated, &count, &stride)) return false;
            if ((negated && repeated) || is_too_long(count)) return false;
            if (mask && negated) any_negated = true;
            if (!mask || negated != turn) continue;
            if (!(negated ? take_out(reading, mask, processor)
                          : add(reading, mask, processor, count, stride)))
                return false;
        } while (skip(reading, ','));
        if (!skip(reading, '}')) return false;
    }
    return true;
}

struct one_place {
    bool negated;
    uint64_t count;
    int64_t stride;
};

static bool parse_one(struct reading *reading, struct one_place *place, uint64_t *mask) {
    bool repeated;
    place->negated = skip(reading, '!');
    if (skip(reading, '{')) {
        if (!items(reading, mask)) return false;
    } else {
        uint64_t processor;
        if (!cst_parse_number_at(&reading->at, &processor)) return false;
        if (mask && !add(reading, mask, processor, 1, 1)) return false;
    }
    if (!repetition(reading, &repeated, &place->count, &place->stride)) return false;
    reading->at = cst_parse_blanks(reading->at);
    if (place->count >= MOST_PLACES) return false; /* libgomp has no message for this */
    return !(place->negated && repeated) && !is_too_long(place->count);
}

/* --- the table ----------------------------------------------------------------------------- */

static bool make_table(const struct cst_place_source *source, uint64_t most,
                       struct cst_place_table *table) {
    table->count = 0;
    table->words = source->words;
    table->masks = calloc(most, source->words * sizeof *table->masks);
    if (!table->masks) cst_message_openmp("Out of memory trying to allocate places list");
    return table->masks != NULL;
}

static void drop_table(struct cst_place_table *table) {
    free(table->masks);
    *table = (struct cst_place_table){0, 0, NULL};
}

static size_t mask_size(const struct cst_place_table *table) {
    return table->words * sizeof *table->masks;
}

/* Leaves the available processors in each place, and removes places without one. */
static bool restrict_table(const struct cst_place_source *source, struct cst_place_table *table) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t *mask = cst_place_mask(table, i), some = 0;
        for (uint32_t w = 0; w < table->words; w++) some |= mask[w] &= source->available[w];
        if (some) memmove(cst_place_mask(table, kept++), mask, mask_size(table));
    }
    if (kept == 0) {
        cst_message_openmp("None of the places contain usable logical CPUs");
        return false;
    }
    if (kept < table->count)
        cst_message_openmp("Number of places reduced from %ld to %ld because some places didn't "
                           "contain any usable logical CPUs",
                           (long)table->count, (long)kept);
    table->count = kept;
    return true;
}

/* The most places that the table holds while it is built; 0: the form is wrong. */
static uint64_t check_form(const char *text) {
    struct reading reading = {text, NULL, NULL};
    uint64_t most = 0;
    bool any_negated = false;
    do {
        struct one_place place;
        if (!parse_one(&reading, &place, NULL)) return 0;
        if (!place.negated)
            most += place.count;
        else if (!any_negated)
            most++; /* room for the place to be compared */
        any_negated |= place.negated;
        if (most > MOST_PLACES) return 0;
    } while (skip(&reading, ','));
    return *reading.at == '\0' ? most : 0;
}

/* Removes the place just read, and the first one equal to it. */
static bool remove_equal(struct cst_place_table *table, uint64_t *mask) {
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t *found = cst_place_mask(table, i);
        if (memcmp(found, mask, mask_size(table)) != 0) continue;
        table->count--;
        memmove(found, found + table->words, (table->count - i) * mask_size(table));
        memset(cst_place_mask(table, table->count), 0, mask_size(table));
        memset(mask, 0, mask_size(table));
        return true;
    }
    cst_message_openmp("Trying to remove a non-existing place from list of places");
    return false;
}

static bool build(const char *text, const struct cst_place_source *source,
                  struct cst_place_table *table) {
    struct reading reading = {text, source, table};
    do {
        struct one_place place;
        uint64_t *mask = cst_place_mask(table, table->count);
        if (!parse_one(&reading, &place, mask)) return false;
        if (place.negated) {
            if (!remove_equal(table, mask)) return false;
            continue;
        }
        for (uint64_t i = 1; i < place.count; i++)
            if (!shift(&reading, mask + (i - 1) * table->words, mask + i * table->words,
                       place.stride))
                return false;
        table->count += (uint32_t)place.count;
    } while (skip(&reading, ','));
    if (table->count == 0) {
        cst_message_openmp("All places have been removed");
        return false;
    }
    return restrict_table(source, table);
}

/* --- names of levels ----------------------------------------------------------------------- */

/* Moves the processors of `group` from `left` into one place or, if `each`, into one place each. */
static void take_group(struct cst_place_table *table, const uint64_t *group, uint64_t *left,
                       bool each, uint64_t most) {
    bool any = false;
    for (size_t i = 0; i < 64 * (size_t)table->words && table->count < most; i++) {
        if (!cst_mask_has(group, i) || !cst_mask_has(left, i)) continue;
        left[i / 64] &= ~((uint64_t)1 << i % 64);
        cst_place_mask(table, table->count)[i / 64] |= (uint64_t)1 << i % 64;
        if (each)
            table->count++;
        else
            any = true;
    }
    table->count += any;
}

static void take_level(const struct cst_place_source *source, enum level level, uint64_t *left,
                       uint64_t most, struct cst_place_table *table) {
    static const enum cst_topology kinds[] = {
        [THREADS] = CST_TOPOLOGY_CORE,   [CORES] = CST_TOPOLOGY_CORE,
        [SOCKETS] = CST_TOPOLOGY_SOCKET, [LAST_CACHES] = CST_TOPOLOGY_LAST_CACHE,
        [NODES] = CST_TOPOLOGY_NODE,
    };
    uint64_t numbers[CST_CPU_MASK_WORDS], group[CST_CPU_MASK_WORDS];
    size_t words = source->words;
    memcpy(numbers, source->available, words * sizeof *numbers);
    if (level == NODES) {
        words = NODE_WORDS;
        if (!cst_topology_nodes(source->root, numbers, words)) return;
    }
    for (size_t i = 0; i < 64 * words && table->count < most; i++) {
        if (!cst_mask_has(numbers, i) || (level != NODES && !cst_mask_has(left, i))) continue;
        bool known =
            cst_topology_group(source->root, kinds[level], (unsigned)i, group, source->words);
        if (!known && level == THREADS) { /* without the topology, a thread still is a place */
            memset(group, 0, source->words * sizeof *group);
            group[i / 64] |= (uint64_t)1 << i % 64;
            known = true;
        }
        if (known) take_group(table, group, left, level == THREADS, most);
    }
}

static bool build_level(const struct cst_place_source *source, enum level level, uint64_t most,
                        struct cst_place_table *table) {
    uint64_t left[CST_CPU_MASK_WORDS], available = 0;
    memcpy(left, source->available, source->words * sizeof *left);
    for (uint32_t w = 0; w < source->words; w++) available += (uint64_t)cst_bits_set(left[w]);
    if (most > available) most = available;
    if (!make_table(source, most ? most : 1, table)) return false;
    take_level(source, level, left, most, table);
    if (table->count > 0) return true;
    drop_table(table);
    return false;
}

bool cst_place_each_thread(const struct cst_place_source *source, struct cst_place_table *table) {
    return build_level(source, THREADS, UINT64_MAX, table);
}

/* --- the two variables --------------------------------------------------------------------- */

static bool invalid(void) {
    cst_message_openmp("Invalid value for environment variable OMP_PLACES");
    return false;
}

static bool parse_level(const char *text, enum level level, const struct cst_place_source *source,
                        struct cst_place_table *table) {
    struct reading reading = {text, NULL, NULL};
    uint64_t most = UINT64_MAX;
    if (skip(&reading, '(')) {
        if (!cst_parse_number_at(&reading.at, &most) || !skip(&reading, ')')) return invalid();
    }
    if (*cst_parse_blanks(reading.at) != '\0') return invalid();
    if (!source) return true;
    if (build_level(source, level, most, table)) return true;
    cst_message_openmp("Error reading core/socket topology");
    return false;
}

bool cst_place_parse(const char *text, const struct cst_place_source *source,
                     struct cst_place_table *table) {
    static const struct cst_word levels[] = {{"threads", THREADS},    {"cores", CORES},
                                             {"sockets", SOCKETS},    {"ll_caches", LAST_CACHES},
                                             {"numa_domains", NODES}, {NULL, 0}};
    uint64_t level;
    if (cst_parse_word_at(&text, levels, &level))
        return parse_level(text, (enum level)level, source, table);
    uint64_t most = check_form(text);
    if (most == 0) return invalid();
    if (!source) return true;
    if (!make_table(source, most, table)) return false;
    if (build(text, source, table)) return true;
    drop_table(table);
    return invalid();
}

/* A number of GOMP_CPU_AFFINITY: decimal, octal or hexadecimal, below 65536. */
static bool small_number(const char **at, uint64_t *value) {
    if (!isdigit((unsigned char)**at)) return false;
    char *end;
    int saved = errno;
    *value = strtoull(*at, &end, 0); /* the largest number if the text's does not fit */
    errno = saved;
    *at = end;
    return *value <= UINT16_MAX;
}

/* The number of processors of a range that an affinity mask can name. */
static uint64_t nameable(uint64_t first, uint64_t last, uint64_t stride) {
    if (first >= CST_MOST_PROCESSORS) return 0;
    if (last >= CST_MOST_PROCESSORS) last = CST_MOST_PROCESSORS - 1;
    return (last - first) / stride + 1;
}

/* first [ "-" last [ ":" stride ] ] */
static bool processor_range(const char **at, uint64_t *first, uint64_t *last, uint64_t *stride) {
    *at = cst_parse_blanks(*at);
    *stride = 1;
    if (!small_number(at, first)) return false;
    *last = *first;
    if (**at != '-') return true;
    ++*at;
    if (!small_number(at, last) || *last < *first) return false;
    if (**at != ':') return true;
    ++*at;
    return small_number(at, stride) && *stride > 0;
}

/* Blanks or commas separate ranges; each processor is a place. */
bool cst_place_parse_processors(const char *text, const struct cst_place_source *source,
                                struct cst_place_table *table) {
    uint64_t most = 0;
    for (int turn = 0; turn < 2; turn++) {
        const char *at = text;
        bool more;
        if (turn == 1 && (!source || !make_table(source, most ? most : 1, table))) return !source;
        do {
            uint64_t first, last, stride;
            bool good = processor_range(&at, &first, &last, &stride);
            if (good && turn == 0) most += nameable(first, last, stride);
            if (!good || most > MOST_PLACES) {
                cst_message_openmp("Invalid value for enviroment variable GOMP_CPU_AFFINITY");
                return false; /* as libgomp misspells it */
            }
            for (uint64_t i = first; turn == 1 && i <= last && i < 64 * (uint64_t)table->words;
                 i += stride)
                cst_place_mask(table, table->count++)[i / 64] |= (uint64_t)1 << i % 64;
            at = cst_parse_blanks(at);
            more = *at != '\0';
            if (*at == ',') at++;
        } while (more);
    }
    if (table->count > 0) return true;
    drop_table(table);
    return false;
}
