/* Texts of OMP_PLACES and GOMP_CPU_AFFINITY on invented machines. The result is a table of places
 * that are not empty and lie in the machine; each accepted text has the right form. */
#include "fuzz.h"

#include "core/base/bounds.h"
#include "core/settings/place.h"

static uint64_t available[CST_CPU_MASK_WORDS];

static void invent_machine(struct input *input, struct cst_place_source *source) {
    static const uint32_t words[] = {1, 2, CST_CPU_MASK_WORDS};
    *source = (struct cst_place_source){
        .available = available, .words = words[next_byte(input) % 3], .root = "/nowhere"};
    uint64_t pattern = next_byte(input) * 0x0101010101010101u | 1u;
    for (uint32_t i = 0; i < source->words; i++) available[i] = pattern;
}

static void check_table(const struct cst_place_source *source,
                        const struct cst_place_table *table) {
    CHECK(table->count > 0 && table->count <= 65536);
    CHECK(table->words == source->words);
    size_t looked = table->count < 100 ? table->count : 100;
    for (uint32_t i = 0; i < looked; i++) {
        const uint64_t *mask = cst_place_mask(table, i);
        size_t length = cst_mask_format(mask, table->words, i % 2, NULL, 0);
        char *text = malloc(length + 1);
        CHECK(text && cst_mask_format(mask, table->words, i % 2, text, length + 1) == length);
        CHECK(strlen(text) == length);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    struct cst_place_source source;
    struct cst_place_table table = {0, 0, NULL};
    bool processors = next_byte(&input) & 1;
    invent_machine(&input, &source);
    char *text = next_text(&input, -1);
    bool (*parse)(const char *, const struct cst_place_source *, struct cst_place_table *) =
        processors ? cst_place_parse_processors : cst_place_parse;
    bool form = parse(text, NULL, NULL);
    if (parse(text, &source, &table)) {
        CHECK(form);
        check_table(&source, &table);
        for (size_t i = 0; !processors && i < (size_t)table.count * table.words; i++)
            CHECK((table.masks[i] & ~available[i % table.words]) == 0);
        free(table.masks);
    } else {
        CHECK(!table.masks);
    }
    free(text);
    return 0;
}
