/* Dynamic loops of large teams: a tree of counters in place of one.
 *
 * Where all members claim from one counter its line passes from each to the next, so a loop lasts
 * as long as its claims one after the other, and grows with the team. Here each inner member of the
 * fork tree has a node, a line with a piece of the loop: the member and those of its children that
 * have none themselves claim from it, and when it is empty it is filled from the node of its
 * parent.
 *
 * A member's iterations increase, as they do with one counter (loop.c says who relies on it). The
 * argument is in README.md, "Worksharing constructs". */
#ifndef CST_CORE_WORK_DISPATCH_H
#define CST_CORE_WORK_DISPATCH_H

#include "core/work/loop.h"

/* Chunks [next, limit) of a loop of `chunks`; chunk k begins with the value start + k * step of the
 * user's variable, and the last one ends with `end`. */
struct cst_piece {
    uint64_t next, limit, chunks;
    uint64_t start, step, end;
};

/* All but `lock` is written and read under it; the root's of a combined construct also by the
 * master before the region's launch. The tag is atomic for the sake of a process that is copied
 * meanwhile (dispatch.c, fill). */
struct cst_node {
    CST_LINE_ALIGNED _Atomic uint32_t lock; /* 1: held */
    _Atomic uint64_t tag;                   /* of the construct whose piece this is; or 0 */
    struct cst_piece piece;
};

/* The team may have that many members from now on. Its master calls, before the region. Without
 * memory the team's loops go on with one counter. */
void cst_dispatch_enlarge(struct cst_team *team, uint32_t size);

/* The member meets a loop of a large team. True: it goes by the tree, and has begun. All members
 * get the same answer, as it follows from what all know. */
bool cst_dispatch_start(struct cst_thread *thread, const struct cst_loop_spec *spec);

/* The same for a combined construct: the master, before launch; each member, at the region's start.
 */
bool cst_dispatch_prepare(struct cst_team *team, const struct cst_loop_spec *spec);
void cst_dispatch_join(struct cst_thread *thread);

/* Claims up to that many chunks; an empty piece: none are left. */
struct cst_piece cst_dispatch_claim(struct cst_thread *thread, uint32_t chunks);

#endif
