/* cfi.c - see cfi.h.
 *
 * .eh_frame_hdr is a sorted table of (first address, description) found by bisection. The
 * description (FDE) names its range of addresses and the common part (CIE) it is based on; both
 * hold a little program whose instructions either move the location or change a rule. It is run,
 * common part first, until the location has passed the address; the rules of that moment hold.
 *
 * Cursors carry the end of what may be read; a read beyond it yields zeros and marks the cursor
 * broken, so that only the end result needs a check.
 */
#include "record/callpath/cfi.h"

#include <string.h>

/* ---- bytes ---- */

struct cursor {
    const uint8_t *at, *end;
    bool broken;
};

static void read_bytes(struct cursor *c, void *value, size_t size)
{
    if ((size_t)(c->end - c->at) < size) {
        memset(value, 0, size);
        c->broken = true;
        c->at = c->end;
        return;
    }
    memcpy(value, c->at, size);
    c->at += size;
}

static uint8_t read_u8(struct cursor *c)
{
    uint8_t value;
    read_bytes(c, &value, sizeof value);
    return value;
}

static uint32_t read_u32(struct cursor *c)
{
    uint32_t value;
    read_bytes(c, &value, sizeof value);
    return value;
}

/* An integer of 1, 2, 4 or 8 bytes, extended by its sign on request. */
static uint64_t read_fixed(struct cursor *c, size_t size, bool is_signed)
{
    uint64_t value = 0;
    read_bytes(c, &value, size);
    unsigned unused = 64 - 8 * (unsigned)size;
    value <<= unused;
    return is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
}

static uint64_t read_leb(struct cursor *c, bool is_signed)
{
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = read_u8(c);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return value;
}

static void skip(struct cursor *c, uint64_t size)
{
    if (size > (uint64_t)(c->end - c->at)) {
        c->broken = true;
        size = (uint64_t)(c->end - c->at);
    }
    c->at += size;
}

/* Pointers have an encoding: the low four bits say which integer, the next three what it is
 * relative to. */
static uintptr_t read_pointer(struct cursor *c, uint8_t encoding)
{
    uintptr_t place = (uintptr_t)c->at;
    uint64_t value = 0;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = read_fixed(c, 8, false);
        break;
    case 0x02:
    case 0x0a:
        value = read_fixed(c, 2, encoding & 8);
        break;
    case 0x03:
    case 0x0b:
        value = read_fixed(c, 4, encoding & 8);
        break;
    case 0x01:
    case 0x09:
        value = read_leb(c, encoding & 8);
        break;
    default:
        c->broken = true;
    }
    if ((encoding & 0x70) == 0x10)
        value += place;
    else if (encoding & 0xf0) /* bases that .eh_frame does not use */
        c->broken = true;
    return value;
}

/* ---- descriptions ---- */

struct common {
    struct cursor program;
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool augmented, signal;
};

struct description {
    struct common common;
    struct cursor program;
    uintptr_t start, size;
};

/* A cursor over an entry, after its length. */
static struct cursor open_entry(const uint8_t *entry)
{
    struct cursor c = {entry, entry + 4, false};
    uint64_t length = read_u32(&c);
    if (length == 0xffffffff) {
        c.end += 8;
        length = read_fixed(&c, 8, false);
    }
    c.end = c.at + length;
    return c;
}

/* After "z": L (language data), P (personality routine), R (pointers in FDEs), S (signal frame). */
static void read_augmentation(struct common *common, struct cursor *c, const char *letters)
{
    for (; *letters; letters++) {
        if (*letters == 'R') {
            common->pointer_encoding = read_u8(c);
        } else if (*letters == 'S') {
            common->signal = true;
        } else if (*letters == 'L') {
            skip(c, 1);
        } else if (*letters == 'P') {
            uint8_t encoding = read_u8(c);
            read_pointer(c, encoding & 0x7f);
        } else {
            c->broken = true;
        }
    }
}

static int read_common(struct common *common, const uint8_t *entry)
{
    struct cursor c = open_entry(entry);
    *common = (struct common){0};
    skip(&c, 4); /* zero: this is a CIE */
    uint8_t version = read_u8(&c);
    const char *letters = (const char *)c.at;
    while (read_u8(&c))
        ;
    common->code_align = read_leb(&c, false);
    common->data_align = (int64_t)read_leb(&c, true);
    uint64_t ra = version == 1 ? read_u8(&c) : read_leb(&c, false);
    if (c.broken || ra != REC_CFI_RA || (letters[0] && letters[0] != 'z'))
        return RFN_E_UNSUPPORTED;
    if (letters[0] == 'z') {
        common->augmented = true;
        uint64_t size = read_leb(&c, false);
        const uint8_t *after = c.at + size;
        read_augmentation(common, &c, letters + 1);
        c.at = after;
    }
    common->program = c;
    return c.broken || c.at > c.end ? RFN_E_UNSUPPORTED : 0;
}

static int read_description(struct description *fde, const uint8_t *entry)
{
    struct cursor c = open_entry(entry);
    const uint8_t *place = c.at;
    uint32_t distance = read_u32(&c);
    if (!distance)
        return RFN_E_UNSUPPORTED;
    RFN_TRY(read_common(&fde->common, place - distance));
    uint8_t encoding = fde->common.pointer_encoding;
    fde->start = read_pointer(&c, encoding);
    fde->size = read_pointer(&c, encoding & 0x0f);
    if (fde->common.augmented)
        skip(&c, read_leb(&c, false));
    fde->program = c;
    return c.broken ? RFN_E_UNSUPPORTED : 0;
}

/* Bisects the table of .eh_frame_hdr: pairs of 4-byte offsets from its own beginning. */
static int search_table(const uint8_t *header, uintptr_t pc, const uint8_t **entry)
{
    enum { TABLE_OF_RELATIVE_INT32 = 0x3b, COUNT_UINT32 = 0x03 };
    if (header[0] != 1 || header[2] != COUNT_UINT32 || header[3] != TABLE_OF_RELATIVE_INT32)
        return RFN_E_UNSUPPORTED;
    struct cursor c = {header + 4, header + 32, false};
    read_pointer(&c, header[1]);
    size_t low = 0, high = read_u32(&c);
    if (c.broken)
        return RFN_E_UNSUPPORTED;
    int32_t pair[2] = {0, 0};
    while (low < high) { /* all before low begin at or before pc, all from high on after it */
        size_t middle = (low + high) / 2;
        memcpy(pair, c.at + 8 * middle, sizeof pair);
        if ((uintptr_t)header + (uintptr_t)(intptr_t)pair[0] <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return RFN_E_NOTFOUND;
    memcpy(pair, c.at + 8 * (low - 1), sizeof pair);
    *entry = header + pair[1];
    return 0;
}

/* ---- the program of a description ---- */

struct rules {
    uint32_t reg;
    int64_t offset;
    const uint8_t *expression;
    size_t expression_size;
    bool ra_undefined;
    struct rec_cfi_rule slots[REC_CFI_SLOTS + 1];
};

enum { REMEMBERED_MAX = 16 };

struct machine {
    const struct common *common;
    uintptr_t location, pc;
    struct rules rules, initial; /* initial: after the common part */
    struct rules remembered[REMEMBERED_MAX];
    unsigned n_remembered;
};

const uint8_t rec_cfi_slots[REC_CFI_SLOTS] = {3, REC_CFI_RBP, 12, 13, 14, 15, REC_CFI_RA};

/* Registers without a slot of their own share one that nobody looks at. */
static unsigned slot_of(uint64_t reg)
{
    unsigned slot = 0;
    while (slot < REC_CFI_SLOTS && rec_cfi_slots[slot] != reg)
        slot++;
    return slot;
}

static void set_rule(struct machine *m, uint64_t reg, enum rec_cfi_place place, int64_t offset)
{
    if (offset != (int32_t)offset)
        place = REC_CFI_LOST;
    m->rules.slots[slot_of(reg)] = (struct rec_cfi_rule){place, (int32_t)offset};
}

static void restore_rule(struct machine *m, uint64_t reg)
{
    m->rules.slots[slot_of(reg)] = m->initial.slots[slot_of(reg)];
}

/* Saved at the address that an expression gives. Compilers write one: rbp plus a constant. */
static void set_rule_expression(struct machine *m, struct cursor *c, uint64_t reg)
{
    enum { BREG_RBP = 0x70 + REC_CFI_RBP };
    uint64_t size = read_leb(c, false);
    struct cursor e = {c->at, c->at, false};
    skip(c, size);
    e.end = c->at;
    bool is_rbp = read_u8(&e) == BREG_RBP;
    int64_t offset = (int64_t)read_leb(&e, true);
    is_rbp &= !e.broken && e.at == e.end;
    set_rule(m, reg, is_rbp ? REC_CFI_AT_RBP : REC_CFI_LOST, offset);
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->rules.reg = (uint32_t)reg;
    m->rules.offset = offset;
    m->rules.expression = NULL;
}

/* Instructions that say where a register is. */
static void run_register_instruction(struct machine *m, struct cursor *c, uint8_t op)
{
    int64_t scale = m->common->data_align;
    uint64_t reg = read_leb(c, false);
    switch (op) {
    case 0x05: /* DW_CFA_offset_extended */
        set_rule(m, reg, REC_CFI_AT_OFFSET, (int64_t)read_leb(c, false) * scale);
        break;
    case 0x11: /* DW_CFA_offset_extended_sf */
        set_rule(m, reg, REC_CFI_AT_OFFSET, (int64_t)read_leb(c, true) * scale);
        break;
    case 0x2f: /* DW_CFA_GNU_negative_offset_extended */
        set_rule(m, reg, REC_CFI_AT_OFFSET, -(int64_t)read_leb(c, false) * scale);
        break;
    case 0x06: /* DW_CFA_restore_extended */
        restore_rule(m, reg);
        break;
    case 0x07: /* DW_CFA_undefined */
        m->rules.ra_undefined |= reg == REC_CFI_RA;
        set_rule(m, reg, REC_CFI_LOST, 0);
        break;
    case 0x08: /* DW_CFA_same_value */
        set_rule(m, reg, REC_CFI_KEPT, 0);
        break;
    case 0x10: /* DW_CFA_expression */
        set_rule_expression(m, c, reg);
        break;
    case 0x16: /* DW_CFA_val_expression */
        skip(c, read_leb(c, false));
        set_rule(m, reg, REC_CFI_LOST, 0);
        break;
    case 0x09: /* DW_CFA_register, val_offset, val_offset_sf */
    case 0x14:
    case 0x15:
        read_leb(c, false);
        set_rule(m, reg, REC_CFI_LOST, 0);
        break;
    default:
        c->broken = true;
    }
}

/* Instructions that move the location or say where the CFA is, and others. */
static void run_instruction(struct machine *m, struct cursor *c, uint8_t op)
{
    int64_t scale = m->common->data_align;
    uint64_t reg;
    switch (op) {
    case 0x00: /* DW_CFA_nop */
        break;
    case 0x01: /* DW_CFA_set_loc */
        m->location = read_pointer(c, m->common->pointer_encoding);
        break;
    case 0x02: /* DW_CFA_advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        m->location += read_fixed(c, (size_t)1 << (op - 2), false) * m->common->code_align;
        break;
    case 0x0a: /* DW_CFA_remember_state */
        if (m->n_remembered == REMEMBERED_MAX)
            c->broken = true;
        else
            m->remembered[m->n_remembered++] = m->rules;
        break;
    case 0x0b: /* DW_CFA_restore_state */
        if (m->n_remembered == 0)
            c->broken = true;
        else
            m->rules = m->remembered[--m->n_remembered];
        break;
    case 0x0c: /* DW_CFA_def_cfa */
        reg = read_leb(c, false);
        set_cfa(m, reg, (int64_t)read_leb(c, false));
        break;
    case 0x0d: /* DW_CFA_def_cfa_register */
        set_cfa(m, read_leb(c, false), m->rules.offset);
        break;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        m->rules.offset = (int64_t)read_leb(c, false);
        break;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        m->rules.expression_size = read_leb(c, false);
        m->rules.expression = c->at;
        skip(c, m->rules.expression_size);
        break;
    case 0x12: /* DW_CFA_def_cfa_sf */
        reg = read_leb(c, false);
        set_cfa(m, reg, (int64_t)read_leb(c, true) * scale);
        break;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        m->rules.offset = (int64_t)read_leb(c, true) * scale;
        break;
    case 0x2e: /* DW_CFA_GNU_args_size */
        read_leb(c, false);
        break;
    default:
        run_register_instruction(m, c, op);
    }
}

/* Runs until the rules for pc are complete. */
static int run(struct machine *m, struct cursor c)
{
    while (c.at < c.end && m->location <= m->pc && !c.broken) {
        uint8_t op = read_u8(&c);
        switch (op & 0xc0) {
        case 0x40: /* DW_CFA_advance_loc */
            m->location += (op & 0x3f) * m->common->code_align;
            break;
        case 0x80: /* DW_CFA_offset */
            set_rule(m, op & 0x3f, REC_CFI_AT_OFFSET,
                     (int64_t)read_leb(&c, false) * m->common->data_align);
            break;
        case 0xc0: /* DW_CFA_restore */
            restore_rule(m, op & 0x3f);
            break;
        default:
            run_instruction(m, &c, op);
        }
    }
    return c.broken ? RFN_E_UNSUPPORTED : 0;
}

int rec_cfa_find(const uint8_t *eh_frame_hdr, uintptr_t pc, struct rec_cfa *cfa)
{
    if (!eh_frame_hdr)
        return RFN_E_NOTFOUND;
    const uint8_t *entry = NULL;
    struct description fde;
    RFN_TRY(search_table(eh_frame_hdr, pc, &entry));
    RFN_TRY(read_description(&fde, entry));
    if (pc - fde.start >= fde.size)
        return RFN_E_NOTFOUND;
    struct machine m; /* large: what it remembers needs no zeros */
    m.common = &fde.common;
    m.location = fde.start;
    m.pc = pc;
    m.n_remembered = 0;
    m.rules = m.initial = (struct rules){0};
    RFN_TRY(run(&m, fde.common.program));
    m.initial = m.rules;
    RFN_TRY(run(&m, fde.program));
    *cfa = (struct rec_cfa){.function = fde.start,
                            .outermost = m.rules.ra_undefined,
                            .signal = fde.common.signal,
                            .reg = m.rules.reg,
                            .offset = m.rules.offset,
                            .expression = m.rules.expression,
                            .expression_size = m.rules.expression_size};
    memcpy(cfa->rules, m.rules.slots, sizeof cfa->rules);
    return 0;
}

/* ---- expressions ---- */

enum { STACK_MAX = 8 };

struct evaluation {
    const uintptr_t *registers; /* NULL: only find out which are used; memory is not read */
    uint32_t used;
    struct rec_cfa_reads *reads;
    uintptr_t stack[STACK_MAX];
    unsigned depth;
    bool failed;
};

static void push(struct evaluation *e, uintptr_t value)
{
    if (e->depth == STACK_MAX)
        e->failed = true;
    else
        e->stack[e->depth++] = value;
}

static uintptr_t pop(struct evaluation *e)
{
    if (e->depth == 0) {
        e->failed = true;
        return 0;
    }
    return e->stack[--e->depth];
}

static void push_register(struct evaluation *e, uint32_t reg, int64_t offset)
{
    if (reg >= REC_CFI_RA) {
        e->failed = true;
        return;
    }
    e->used |= (uint32_t)1 << reg;
    push(e, e->registers ? e->registers[reg] + (uintptr_t)offset : 0);
}

static void dereference(struct evaluation *e)
{
    const uintptr_t *place = (const uintptr_t *)pop(e);
    if (e->failed || !e->registers) {
        push(e, 0);
        return;
    }
    if (e->reads->n == REC_CFI_READS || (uintptr_t)place % sizeof *place) {
        e->failed = true;
        return;
    }
    e->reads->places[e->reads->n++] = place;
    push(e, *place);
}

/* The operations that compilers use for a CFA, and what is near them. */
static void run_operation(struct evaluation *e, struct cursor *c)
{
    uint8_t op = read_u8(c);
    uintptr_t right;
    if (op >= 0x70 && op <= 0x8f) { /* DW_OP_breg0 to 31 */
        push_register(e, op - 0x70u, (int64_t)read_leb(c, true));
    } else if (op >= 0x30 && op <= 0x4f) { /* DW_OP_lit0 to 31 */
        push(e, op - 0x30u);
    } else if (op >= 0x08 && op <= 0x0f) { /* DW_OP_const1u, 1s, 2u, ... 8s */
        push(e, read_fixed(c, (size_t)1 << ((op - 8) / 2), op & 1));
    } else if (op == 0x06) { /* DW_OP_deref */
        dereference(e);
    } else if (op == 0x23) { /* DW_OP_plus_uconst */
        push(e, pop(e) + read_leb(c, false));
    } else if (op == 0x22) { /* DW_OP_plus */
        right = pop(e);
        push(e, pop(e) + right);
    } else if (op == 0x1c) { /* DW_OP_minus */
        right = pop(e);
        push(e, pop(e) - right);
    } else {
        e->failed = true;
    }
}

static int run_expression(struct evaluation *e, const struct rec_cfa *cfa)
{
    struct cursor c = {cfa->expression, cfa->expression + cfa->expression_size, false};
    while (c.at < c.end && !e->failed && !c.broken)
        run_operation(e, &c);
    return e->failed || c.broken || e->depth == 0 ? RFN_E_UNSUPPORTED : 0;
}

int rec_cfa_registers(const struct rec_cfa *cfa, uint32_t *mask)
{
    if (!cfa->expression) {
        *mask = cfa->reg < REC_CFI_RA ? (uint32_t)1 << cfa->reg : 0;
        return *mask ? 0 : RFN_E_UNSUPPORTED;
    }
    struct evaluation e = {0};
    int rc = run_expression(&e, cfa);
    *mask = e.used;
    return rc;
}

int rec_cfa_evaluate(const struct rec_cfa *cfa, const uintptr_t registers[REC_CFI_REGISTERS],
                     uintptr_t *value, struct rec_cfa_reads *reads)
{
    reads->n = 0;
    if (!cfa->expression) {
        *value = registers[cfa->reg] + (uintptr_t)cfa->offset;
        return 0;
    }
    struct evaluation e = {.registers = registers, .reads = reads};
    RFN_TRY(run_expression(&e, cfa));
    *value = pop(&e);
    return 0;
}
