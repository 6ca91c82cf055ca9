/* core/base/slab.c: a block that another thread gives back belongs to its owner again, once. The
 * owner sees the writes to the block. */
#include "core/base/slab.h"

#include "models.h"

#include <string.h>

enum { GIVERS = 2, MOST = 4 };

static struct cst_slab slab[GIVERS + 1];
static int *lent[GIVERS + 1][2]; /* two sizes; giving back the second also sends the first */
static int *got[MOST];
static unsigned gots;

static void give(unsigned number) {
    for (int i = 0; i < 2; i++) {
        *lent[number][i] = -1;
        cst_slab_free(&slab[number], lent[number][i]);
    }
}

static void take(void) {
    int *memory = cst_slab_allocate(&slab[0], sizeof *memory);
    for (unsigned i = 0; i < gots; i++) EXPLORE_CHECK(memory != got[i]);
    *memory = 1;
    got[gots++] = memory;
}

static void owner_and_givers(unsigned number) {
    if (number > 0) {
        give(number);
        return;
    }
    for (int i = 0; i < MOST - 1; i++) take();
}

/* Each block that came back and was not taken is still in the slab. */
static void all_different(void) {
    take();
    for (unsigned i = 0; i < gots; i++) EXPLORE_CHECK(*got[i] == 1);
}

static void setup(void) {
    models_configure(8, true);
    memset(slab, 0, sizeof slab);
    gots = 0;
    for (unsigned i = 1; i <= GIVERS; i++) {
        lent[i][0] = cst_slab_allocate(&slab[0], sizeof(int));
        lent[i][1] = cst_slab_allocate(&slab[0], 600);
    }
}

int models_run(void) {
    const struct explore_model models[] = {
        {"slab, one gives back", setup, owner_and_givers, all_different, .threads = 2},
        {"slab, two give back", setup, owner_and_givers, all_different, .threads = 3},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
