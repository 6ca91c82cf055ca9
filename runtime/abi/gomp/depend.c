/* GCC's depend arrays, decoded; see depend.h. */
#include "abi/gomp/depend.h"

#include "abi/gomp/facts.h"
#include "abi/whole.h"

CST_WHOLE(gomp_depend);

static struct cst_depend_item object_item(void **object) {
    uintptr_t kind = (uintptr_t)object[1];
    struct cst_depend_item item = {.address = object[0], .kind = CST_DEPEND_OUT};
    if (kind == GOMP_DEPEND_IN) item.kind = CST_DEPEND_IN;
    if (kind == GOMP_DEPEND_INOUTSET) item.kind = CST_DEPEND_INOUTSET;
    item.all_memory = !item.address && item.kind == CST_DEPEND_OUT;
    return item;
}

static struct cst_depend_item item_at(const struct cst_depend_list *list, size_t index) {
    void **raw = list->raw;
    bool old = raw[0] != NULL;
    size_t exclusive = old ? (uintptr_t)raw[1] : (uintptr_t)raw[2] + (uintptr_t)raw[3];
    size_t plain = old ? (uintptr_t)raw[0] : exclusive + (uintptr_t)raw[4];
    void **address = raw + (old ? 2 : 5);
    if (index >= plain) return object_item(address[index]);
    struct cst_depend_item item = {.address = address[index]};
    item.kind = index < exclusive ? CST_DEPEND_OUT : CST_DEPEND_IN;
    item.all_memory = !item.address && item.kind == CST_DEPEND_OUT;
    return item;
}

struct cst_depend_list cst_gomp_depend_list(void **raw) {
    size_t count = (uintptr_t)(raw[0] ? raw[0] : raw[1]);
    return (struct cst_depend_list){.count = count, .item = item_at, .raw = raw};
}
