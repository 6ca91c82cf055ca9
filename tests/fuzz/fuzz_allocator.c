/* Texts of OMP_ALLOCATOR, and the use of the resulting allocator. */
#include "fuzz.h"

#include "core/memory/allocator.h"

/* The test makes an allocator without using it if it ends the process for lack of memory, or if its
 * numbers are so large that the test would take gigabytes. */
static bool may_use(const char *text) {
    if (strcasestr(text, "abort_fb")) return false;
    for (size_t digits = 0; *text; text++) {
        digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
        if (digits > 5) return false;
    }
    return true;
}

static void use(cst_allocator_handle allocator, size_t size) {
    char *memory = cst_memory_alloc(1, size, true, allocator);
    if (!memory) return;
    for (size_t i = 0; i < size; i++) CHECK(memory[i] == 0);
    memset(memory, 1, size);
    char *moved = cst_memory_realloc(memory, 2 * size, allocator);
    if (moved)
        for (size_t i = 0; i < size; i++) CHECK(moved[i] == 1);
    cst_memory_free(moved ? moved : memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    size_t wanted = next_byte(&input) + 1u;
    char *text = next_text(&input, -1);
    cst_allocator_handle allocator;
    if (cst_allocator_parse(text, &allocator)) {
        CHECK(allocator != CST_ALLOCATOR_NULL);
        if (may_use(text)) use(allocator, wanted);
        cst_allocator_free(allocator);
    }
    free(text);
    return 0;
}
