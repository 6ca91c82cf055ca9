/* Files of /sys that say which processors belong together. The resulting masks lie in their memory,
 * and the places have each processor once. */
#include "files.h"

#include "core/settings/place.h"
#include "platform/platform.h"

static void groups(enum cst_topology level, unsigned processor, size_t words) {
    uint64_t *bits = malloc(words * sizeof *bits);
    CHECK(bits != NULL);
    cst_topology_group("", level, processor, bits, words);
    cst_topology_nodes("", bits, words);
    free(bits);
}

static void places(const char *name, size_t words) {
    uint64_t available[CST_CPU_MASK_WORDS], seen[CST_CPU_MASK_WORDS] = {0};
    for (size_t i = 0; i < words; i++) available[i] = 0x8000000000000fffu;
    struct cst_place_source source = {.available = available, .words = (uint32_t)words, .root = ""};
    struct cst_place_table table = {0, 0, NULL};
    if (!cst_place_parse(name, &source, &table)) return;
    CHECK(table.count > 0);
    for (size_t i = 0; i < (size_t)table.count * words; i++) {
        CHECK((table.masks[i] & ~available[i % words]) == 0);
        CHECK((table.masks[i] & seen[i % words]) == 0);
        seen[i % words] |= table.masks[i];
    }
    free(table.masks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"threads", "cores", "sockets", "ll_caches", "numa_domains"};
    struct file files[] = {{.ending = "/cpu0/topology/thread_siblings_list"},
                           {.ending = "/topology/thread_siblings_list"},
                           {.ending = "/topology/core_siblings_list"},
                           {.ending = "/index0/level"},
                           {.ending = "/index1/level"},
                           {.ending = "/shared_cpu_list"},
                           {.ending = "/node/online"},
                           {.ending = "/cpulist"}};
    struct input input = {data, size};
    unsigned choice = next_byte(&input);
    size_t words = 1u + next_byte(&input) % 3;
    fake.chunk = 65536;
    fake_begin(&input, files, sizeof files / sizeof *files);
    groups((enum cst_topology)(choice % 4), choice, words);
    places(names[choice % 5], words);
    fake_end();
    return 0;
}
