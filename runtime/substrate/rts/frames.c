/* Can a Haskell thread's stack catch an exception that is thrown to the thread? */
#include "substrate/rts/rts.h"

/* The search through a deeper stack costs more than it saves. */
enum { MOST_FRAMES = 64 };

/* Starts at the frame `top` of the calling thread's stack. True: a frame with the code `border`
 * comes before each frame that reacts to an exception. Those are handlers and values under
 * evaluation. */
bool cst_rts_is_open(StgPtr top, const StgInfoTable *border) {
    for (int n = 0; n < MOST_FRAMES; n++) {
        StgClosure *frame = (StgClosure *)top;
        if (frame->header.info == border) return true;
        const StgRetInfoTable *code = get_ret_itbl(frame);
        switch (code->i.type) {
        case RET_SMALL: /* most frames */
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
