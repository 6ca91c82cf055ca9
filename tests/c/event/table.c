/* The table notices names that outlive their objects, through many lives of the same memory. */
#include "testing.h"

#include "event/table.h"

#include <stdbool.h>
#include <string.h>

struct object {
    struct cst_entry entry;
    uint64_t stamp;
    char rest[48];
};
_Static_assert(sizeof(struct object) == CST_TABLE_OBJECT, "as the table wants it");

enum { OBJECTS = 5000 };

int main(void) {
    test_limit(30);
    struct cst_table table;
    cst_table_init(&table);
    static struct {
        uint64_t id;
        uint32_t index;
        bool live;
    } model[OBJECTS];
    CHECK(cst_table_find(&table, 0) == NULL);
    CHECK(cst_table_find(&table, UINT64_MAX) == NULL);
    unsigned seed = 1, live = 0;
    for (int round = 0; round < 200000; round++) {
        seed = seed * 1103515245 + 12345;
        unsigned i = (seed >> 8) % OBJECTS;
        if (!model[i].live) {
            struct object *object = (struct object *)cst_table_allocate(&table, &model[i].index);
            CHECK(object != NULL);
            CHECK_EQ((uintptr_t)object % 64, 0);
            uint64_t id = cst_table_id(&object->entry, model[i].index);
            CHECK(id != 0 && id != model[i].id);
            CHECK(cst_table_find(&table, model[i].id) == NULL);
            model[i].id = object->stamp = id;
            model[i].live = true;
            live++;
        } else {
            struct object *object = (struct object *)cst_table_find(&table, model[i].id);
            CHECK(object != NULL);
            CHECK(object == (struct object *)cst_table_at(&table, model[i].index));
            CHECK_EQ(object->stamp, model[i].id); /* no other object has its memory */
            cst_table_retire(&table, &object->entry);
            CHECK(cst_table_find(&table, model[i].id) == NULL);
            cst_table_free(&table, &object->entry, model[i].index);
            model[i].live = false;
            live--;
        }
        CHECK_EQ(table.live, live);
        CHECK(table.used <= OBJECTS); /* memory is used again */
    }
    for (int i = 0; i < OBJECTS; i++)
        CHECK((cst_table_find(&table, model[i].id) != NULL) == model[i].live);
    cst_table_destroy(&table);
    CHECK(cst_table_find(&table, model[0].id) == NULL);
    return 0;
}
