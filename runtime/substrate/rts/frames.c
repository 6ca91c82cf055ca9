/* Does anything on a Haskell thread's stack catch what would be thrown to the thread? */
#include "substrate/rts/rts.h"

/* A deeper stack costs more to look through than it saves. */
enum { MOST_FRAMES = 64 };

/* From the frame at `top` on: whether one with the code `border` comes before each that keeps
 * something of an exception, which are handlers and values under evaluation. The stack is the
 * calling thread's. */
bool cst_rts_is_open(StgPtr top, const StgInfoTable *border) {
    for (int n = 0; n < MOST_FRAMES; n++) {
        StgClosure *frame = (StgClosure *)top;
        if (frame->header.info == border) return true;
        const StgRetInfoTable *code = get_ret_itbl(frame);
        switch (code->i.type) {
        case RET_SMALL: /* most of them */
            top += 1 + BITMAP_SIZE(code->i.layout.bitmap);
            break;
        case RET_BIG:
        case RET_FUN:
        case RET_BCO:
            top += stack_frame_sizeW(frame);
            break;
        case UNDERFLOW_FRAME:
            top = ((StgUnderflowFrame *)frame)->next_chunk->sp;
            break;
        default:
            return false;
        }
    }
    return false;
}
