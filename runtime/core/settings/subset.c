/* The grammar of KMP_HW_SUBSET, and the choice of processors; see subset.h.
 *
 *   subset = [ ":" ] layer { "," layer }
 *   layer  = [ count | "*" ] unit [ "@" first ]
 *   unit   = socket | numa | l3_cache | ll_cache | core | thread, or a first letter: s n c t, l3 ll
 *
 * The order of the layers does not matter. A layer that is not named counts as a whole. */
#include "core/settings/subset.h"

#include "core/base/message.h"
#include "core/base/parse.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum unit { SOCKETS, NODES, CACHES, CORES, THREADS, UNITS };

struct layer {
    uint64_t count, first; /* count 0: all of them */
    bool given;
};

struct subset {
    const struct cst_place_source *source;
    struct layer layers[UNITS];
};

/* --- the text ------------------------------------------------------------------------------ */

/* A longer word stands before a word with which it begins. */
static const struct cst_word units[] = {{"sockets", SOCKETS},
                                        {"socket", SOCKETS},
                                        {"s", SOCKETS},
                                        {"numas", NODES},
                                        {"numa", NODES},
                                        {"n", NODES},
                                        {"l3_caches", CACHES},
                                        {"l3_cache", CACHES},
                                        {"ll_caches", CACHES},
                                        {"ll_cache", CACHES},
                                        {"l3", CACHES},
                                        {"ll", CACHES},
                                        {"cores", CORES},
                                        {"core", CORES},
                                        {"c", CORES},
                                        {"threads", THREADS},
                                        {"thread", THREADS},
                                        {"t", THREADS},
                                        {NULL, 0}};

static bool read_layer(const char **at, struct subset *subset) {
    uint64_t count = 0, unit, first = 0;
    *at = cst_parse_blanks(*at);
    if (**at == '*')
        ++*at;
    else if (!cst_parse_number_at(at, &count) || count == 0)
        return false;
    if (!cst_parse_word_at(at, units, &unit) || subset->layers[unit].given) return false;
    if (**at == '@' && (++*at, !cst_parse_number_at(at, &first))) return false;
    subset->layers[unit] = (struct layer){.count = count, .first = first, .given = true};
    *at = cst_parse_blanks(*at);
    return true;
}

static bool read_subset(const char *text, struct subset *subset) {
    bool more;
    text = cst_parse_blanks(text);
    if (*text == ':') text++;
    do {
        if (!read_layer(&text, subset)) return false;
        more = *text == ',';
        if (more) text++;
    } while (more);
    return *text == '\0';
}

/* --- the choice ---------------------------------------------------------------------------- */

static bool node_of(const struct cst_place_source *source, unsigned processor, uint64_t *group) {
    uint64_t nodes[CST_CPU_MASK_WORDS];
    if (!cst_topology_nodes(source->root, nodes, CST_CPU_MASK_WORDS)) return false;
    for (unsigned i = 0; i < 64 * CST_CPU_MASK_WORDS; i++)
        if (cst_mask_has(nodes, i) &&
            cst_topology_group(source->root, CST_TOPOLOGY_NODE, i, group, source->words) &&
            cst_mask_has(group, processor))
            return true;
    return false;
}

/* The processors that share this unit with `processor`. */
static bool group_of(const struct cst_place_source *source, enum unit unit, unsigned processor,
                     uint64_t *group) {
    static const enum cst_topology kinds[] = {[SOCKETS] = CST_TOPOLOGY_SOCKET,
                                              [CACHES] = CST_TOPOLOGY_LAST_CACHE,
                                              [CORES] = CST_TOPOLOGY_CORE};
    memset(group, 0, source->words * sizeof *group);
    if (unit == NODES) return node_of(source, processor, group);
    if (unit != THREADS)
        return cst_topology_group(source->root, kinds[unit], processor, group, source->words);
    group[processor / 64] |= UINT64_C(1) << processor % 64;
    return true;
}

/* Adds to `chosen` the wanted processors of `from`, by the layers from this unit inwards. False: a
 * unit has fewer than the text asks for. NOLINTNEXTLINE(misc-no-recursion): five units */
static bool choose(const struct subset *subset, enum unit unit, const uint64_t *from,
                   uint64_t *chosen) {
    const struct cst_place_source *source = subset->source;
    while (unit < UNITS && !subset->layers[unit].given) unit++;
    uint64_t left[CST_CPU_MASK_WORDS], group[CST_CPU_MASK_WORDS], met = 0;
    memcpy(left, from, source->words * sizeof *left);
    for (uint32_t w = 0; unit == UNITS && w < source->words; w++) chosen[w] |= from[w];
    if (unit == UNITS) return true;
    const struct layer *layer = &subset->layers[unit];
    for (unsigned i = 0; i < 64 * source->words; i++) {
        if (!cst_mask_has(left, i)) continue;
        if (!group_of(source, unit, i, group)) return false;
        for (uint32_t w = 0; w < source->words; w++) {
            group[w] &= from[w];
            left[w] &= ~group[w];
        }
        bool wanted =
            met >= layer->first && (layer->count == 0 || met - layer->first < layer->count);
        if (wanted && !choose(subset, unit + 1, group, chosen)) return false;
        met++;
    }
    return met >= layer->first + (layer->count ? layer->count : 1);
}

enum cst_subset_result cst_subset_choose(const char *text, const struct cst_place_source *source,
                                         uint64_t *chosen) {
    struct subset subset = {.source = source};
    if (!read_subset(text, &subset)) return CST_SUBSET_MALFORMED;
    memset(chosen, 0, source->words * sizeof *chosen);
    return choose(&subset, SOCKETS, source->available, chosen) ? CST_SUBSET_CHOSEN
                                                               : CST_SUBSET_TOO_LARGE;
}

bool cst_subset_read(const char *text) {
    uint64_t available[CST_CPU_MASK_WORDS], chosen[CST_CPU_MASK_WORDS];
    struct cst_place_source source = {available, CST_CPU_MASK_WORDS, ""};
    if (cst_cpu_mask_get(available, CST_CPU_MASK_WORDS) == 0) return false;
    switch (cst_subset_choose(text, &source, chosen)) {
    case CST_SUBSET_MALFORMED:
        cst_message_omp("Warning",
                        "KMP_HW_SUBSET=\"%.100s\": invalid value, ignored; it must be a list such "
                        "as 1s,4c@2,1t of sockets (s), numa nodes (n), caches (l3), cores (c) and "
                        "threads (t), each with a number above 0 or *",
                        text);
        return false;
    case CST_SUBSET_TOO_LARGE:
        cst_message_omp("Warning", "KMP_HW_SUBSET=\"%.100s\": ignored, the machine has not so much",
                        text);
        return false;
    case CST_SUBSET_CHOSEN:
        (void)cst_cpu_mask_set(chosen, CST_CPU_MASK_WORDS); /* if refused, the mask stays */
    }
    return true;
}
