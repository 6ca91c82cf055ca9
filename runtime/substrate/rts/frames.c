/* Can a Haskell thread's stack catch an exception that is thrown to the thread? */
#include "substrate/rts/rts.h"

/* A search saves a thread for the task. It costs 1 to 2 ns a frame, and stops where a thread costs
 * less. A bound caller pays for two switches of OS threads as well.
 */
enum { MOST_FRAMES = 128, MOST_FRAMES_BOUND = 512 };

/* Starts at the frame `top` of the stack of the calling thread. True: a frame with the code
 * `border` comes before each frame that reacts to an exception. Those are handlers and values under
 * evaluation. */
bool cst_rts_is_open(const StgTSO *caller, StgPtr top, const StgInfoTable *border) {
    int most = caller->bound ? MOST_FRAMES_BOUND : MOST_FRAMES;
    /* A recursive function leaves many frames of one kind, whose size is looked up once. */
    const StgInfoTable *usual = NULL;
    size_t usual_size = 0;
    for (int n = 0; n < most; n++) {
        StgClosure *frame = (StgClosure *)top;
        const StgInfoTable *kind = frame->header.info;
        if (kind == usual) {
            top += usual_size;
            continue;
        }
        if (kind == border) return true;
        const StgRetInfoTable *code = get_ret_itbl(frame);
        switch (code->i.type) {
        case RET_SMALL: /* most frames */
            usual = kind;
            usual_size = 1 + BITMAP_SIZE(code->i.layout.bitmap);
            top += usual_size;
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
