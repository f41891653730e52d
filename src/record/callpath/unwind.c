#include "record/callpath/unwind.h"

#include <string.h>

void rec_unwind_start(struct rec_unwind_frame *frame, const uintptr_t *pointer)
{
    frame->ip = pointer[1];
    frame->registers[REC_CFI_RSP] = (uintptr_t)(pointer + 2);
    frame->registers[REC_CFI_RBP] = pointer[0];
    frame->places[REC_CFI_RBP] = pointer;
    frame->known = 1u << REC_CFI_RSP | 1u << REC_CFI_RBP;
}

static int find_rules(struct rec_unwind_rules *rules, uintptr_t ip, const uint8_t *eh_frame_hdr,
                      const struct rec_cfa **cfa)
{
    struct rec_unwind_rule *entry = &rules->entries[(ip ^ ip >> 6) % REC_UNWIND_RULES];
    if (entry->ip != ip) {
        entry->ip = 0;
        if (rec_cfa_find(eh_frame_hdr, ip - 1, &entry->cfa) < 0)
            return RFN_E_UNSUPPORTED;
        entry->ip = ip;
    }
    *cfa = &entry->cfa;
    return 0;
}

static void note(struct rec_unwind_step *step, const uintptr_t *where, uintptr_t what)
{
    step->facts[step->n_facts].where = where;
    step->facts[step->n_facts].what = what;
    step->n_facts++;
}

/* The registers of the caller. `used`: those that the CFA depends on; only these are vouched for
 * by facts and may say where others are. Returns which ones are not as they were. */
static uint32_t restore(struct rec_unwind_frame *frame, const struct rec_cfa *cfa,
                        uintptr_t address, uint32_t used)
{
    uint32_t restored = 1u << REC_CFI_RSP;
    uintptr_t here = frame->registers[REC_CFI_RSP], rbp = frame->registers[REC_CFI_RBP];
    for (unsigned slot = 0; slot < REC_CFI_SLOT_RA; slot++) {
        const struct rec_cfi_rule rule = cfa->rules[slot];
        unsigned reg = rec_cfi_slots[slot];
        if (rule.place == REC_CFI_KEPT)
            continue;
        uintptr_t base = rule.place == REC_CFI_AT_RBP ? rbp : address;
        uintptr_t place = base + (uintptr_t)(intptr_t)rule.offset;
        bool reached = rule.place == REC_CFI_AT_OFFSET ||
                       (rule.place == REC_CFI_AT_RBP && used >> REC_CFI_RBP & 1);
        frame->known &= ~(1u << reg);
        restored |= 1u << reg;
        if (!reached || place < here || place >= address || place % sizeof place)
            continue;
        frame->places[reg] = (const uintptr_t *)place;
        frame->registers[reg] = *frame->places[reg];
        frame->known |= 1u << reg;
    }
    frame->known &= 1u << REC_CFI_RSP | 1u << REC_CFI_RBP | 1u << 3 | 0xf000u;
    frame->registers[REC_CFI_RSP] = address;
    return restored;
}

int rec_unwind_step(struct rec_unwind_frame *frame, const uint8_t *eh_frame_hdr,
                    struct rec_unwind_rules *rules, struct rec_unwind_step *step)
{
    const struct rec_cfa *cfa;
    struct rec_cfa_reads reads;
    uint32_t used = 0;
    uintptr_t address = 0, here = frame->registers[REC_CFI_RSP];
    RFN_TRY(find_rules(rules, frame->ip, eh_frame_hdr, &cfa));
    step->n_facts = 0;
    step->used = step->restored = 0;
    step->function = cfa->function;
    step->end = cfa->outermost;
    if (cfa->outermost)
        return 0;
    const struct rec_cfi_rule ra = cfa->rules[REC_CFI_SLOT_RA];
    if (cfa->signal || ra.place != REC_CFI_AT_OFFSET || ra.offset != -(int)sizeof address)
        return RFN_E_UNSUPPORTED;
    RFN_TRY(rec_cfa_registers(cfa, &used));
    if (used & ~frame->known)
        return RFN_E_UNSUPPORTED;
    /* Registers are facts, except for the stack pointer: it is the CFA of the step before. */
    for (uint32_t left = used & ~(1u << REC_CFI_RSP); left; left &= left - 1) {
        const int reg = __builtin_ctz(left);
        note(step, frame->places[reg], frame->registers[reg]);
    }
    RFN_TRY(rec_cfa_evaluate(cfa, frame->registers, &address, &reads));
    if (address <= here || address % sizeof address)
        return RFN_E_UNSUPPORTED;
    for (unsigned i = 0; i < reads.n; i++)
        note(step, reads.places[i], *reads.places[i]);
    const uintptr_t *place = (const uintptr_t *)address - 1;
    note(step, place, *place);
    step->end = *place == 0;
    frame->ip = *place;
    step->used = used;
    step->restored = restore(frame, cfa, address, used);
    return 0;
}
