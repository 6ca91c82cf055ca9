/* Dynamic loops of large teams: a tree of counters in place of one counter.
 *
 * If all members claim from one counter, its line passes from each member to the next. The loop
 * then lasts as long as all its claims in sequence, and that time grows with the team. Here each
 * inner member of the fork tree has a node: a line with a piece of the loop. The member itself, and
 * its children without a node, claim from the node. An empty node is filled from the node of the
 * parent.
 *
 * A member's iterations increase, as they do with one counter; loop.c names programs that rely on
 * it. The argument is in README.md, "Worksharing constructs". */
#ifndef CST_CORE_WORK_DISPATCH_H
#define CST_CORE_WORK_DISPATCH_H

#include "core/work/loop.h"

/* Chunks [next, limit) of a loop of `chunks`; chunk k begins with the value start + k * step of the
 * user's variable, and the last one ends with `end`. */
struct cst_piece {
    uint64_t next, limit, chunks;
    uint64_t start, step, end;
};

/* The lock protects the other fields. Before a region's launch, the master also writes the root's
 * for a combined construct. The tag is atomic for a process that is copied meanwhile (dispatch.c,
 * fill). */
struct cst_node {
    CST_LINE_ALIGNED _Atomic uint32_t lock; /* 1: held */
    _Atomic uint64_t tag;                   /* of the construct that has the piece, or 0 */
    struct cst_piece piece;
};

/* Makes nodes for a team of up to `size` members. Its master calls, before the region. Without
 * memory the team's loops use one counter. */
void cst_dispatch_enlarge(struct cst_team *team, uint32_t size);

/* Called by a member that meets a loop in a large team. True: the loop uses the tree, and has
 * begun. All members get the same answer, as it follows from data that all have. */
bool cst_dispatch_start(struct cst_thread *thread, const struct cst_loop_spec *spec);

/* As cst_dispatch_start, for a combined construct. The master calls `prepare` before the launch,
 * and each member calls `join` at the region's start. */
bool cst_dispatch_prepare(struct cst_team *team, const struct cst_loop_spec *spec);
void cst_dispatch_join(struct cst_thread *thread);

/* Claims at most `chunks` chunks, or its portion if that is larger; an empty piece: none is
 * left. */
struct cst_piece cst_dispatch_claim(struct cst_thread *thread, uint32_t chunks);

#endif
