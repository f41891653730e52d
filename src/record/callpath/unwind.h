/* unwind.h - steps up the stack by the call frame information alone, for call paths.
 *
 * libunwind can do this too, but asks the loader for the module of every frame, blocks signals
 * meanwhile with system calls, and keeps all registers. Here a step is: the rules for the return
 * address (kept in a small table, as the outer frames of all paths are the same), the CFA by them,
 * two or three words of memory. What the step has read are its facts (see sites.c).
 *
 * A step that the rules do not determine without doubt (code without call frame information, signal
 * handlers, registers that nobody saved) is not made: RFN_E_UNSUPPORTED. The caller then starts
 * over with libunwind.
 */
#ifndef RFN_RECORD_CALLPATH_UNWIND_H
#define RFN_RECORD_CALLPATH_UNWIND_H

#include "record/callpath/cfi.h"

enum { REC_UNWIND_RULES = 64 };

/* Rules by return address; zeros when empty. */
struct rec_unwind_rules {
    struct rec_unwind_rule {
        uintptr_t ip;
        struct rec_cfa cfa;
    } entries[REC_UNWIND_RULES];
};

/* A frame: what is known of its registers. */
struct rec_unwind_frame {
    uintptr_t ip; /* the return address into it */
    uintptr_t registers[REC_CFI_REGISTERS];
    const uintptr_t *places[REC_CFI_REGISTERS]; /* where in memory the values come from */
    uint32_t known;                             /* bit n: register n */
};

enum { REC_UNWIND_FACTS = REC_CFI_REGISTERS + REC_CFI_READS + 1 };

/* What a step has read, in order, and what else it learned. */
struct rec_unwind_step {
    struct {
        const uintptr_t *where;
        uintptr_t what;
    } facts[REC_UNWIND_FACTS];
    unsigned n_facts;
    uint32_t used;      /* registers that the CFA depends on, bit n: register n */
    uint32_t restored;  /* registers whose value in the caller is not what it was in the frame */
    uintptr_t function; /* where the code of the frame that was left begins */
    bool end;           /* there is no further frame: the frame was not left */
};

/* The frame of the caller of a function whose frame pointer is given. */
void rec_unwind_start(struct rec_unwind_frame *frame, const uintptr_t *pointer);

/* From a frame to its caller's. eh_frame_hdr: of the module of frame->ip, may be NULL. Returns 0 or
 * RFN_E_UNSUPPORTED. */
int rec_unwind_step(struct rec_unwind_frame *frame, const uint8_t *eh_frame_hdr,
                    struct rec_unwind_rules *rules, struct rec_unwind_step *step);

#endif
