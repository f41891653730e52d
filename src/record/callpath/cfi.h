/* cfi.h - how a frame's canonical frame address (CFA) and its caller's registers are found: the
 * rules of the call frame information that a cached call path must know.
 *
 * libunwind unwinds, but does not say what it used. This reads the rules for an address of code
 * from the module's .eh_frame in memory (DWARF 5, section 6.4; Linux Standard Base 5.0, section
 * 10.6). The CFA is a register plus an offset, or an expression over registers and memory. Of the
 * caller's registers the return address and those matter that a call preserves: the others are
 * lost by then. An undefined return address marks the outermost frame.
 */
#ifndef RFN_RECORD_CALLPATH_CFI_H
#define RFN_RECORD_CALLPATH_CFI_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF numbers of x86-64's registers: 6 is rbp, 7 rsp, 16 the return address. */
enum { REC_CFI_RBP = 6, REC_CFI_RSP = 7, REC_CFI_RA = 16, REC_CFI_REGISTERS = 17 };

/* Registers whose rules are kept, as slots: rbx, rbp, r12 to r15, and the return address. */
enum { REC_CFI_SLOT_RA = 6, REC_CFI_SLOTS = 7 };
extern const uint8_t rec_cfi_slots[REC_CFI_SLOTS]; /* the registers' numbers */

/* Where a register's value in the caller is. */
enum rec_cfi_place {
    REC_CFI_KEPT,      /* still in the register */
    REC_CFI_AT_OFFSET, /* in memory at CFA + offset */
    REC_CFI_AT_RBP,    /* in memory at the frame's rbp + offset: on stacks that are realigned */
    REC_CFI_LOST       /* nowhere, or where this does not look */
};

struct rec_cfi_rule {
    enum rec_cfi_place place;
    int32_t offset;
};

/* Most words of memory that an expression may read. Those of compilers read one. */
enum { REC_CFI_READS = 4 };

struct rec_cfa {
    uintptr_t function; /* where the code described together begins */
    bool outermost;     /* the return address is undefined */
    bool signal;        /* a signal handler's return code */
    uint32_t reg;
    int64_t offset;
    const uint8_t *expression; /* NULL: the CFA is reg + offset */
    size_t expression_size;
    struct rec_cfi_rule rules[REC_CFI_SLOTS];
};

struct rec_cfa_reads {
    const uintptr_t *places[REC_CFI_READS]; /* in the order in which they were read */
    unsigned n;
};

/* The rule in force at pc. eh_frame_hdr may be NULL. RFN_E_NOTFOUND: nothing describes pc.
 * RFN_E_UNSUPPORTED: something does, in a way that this does not read. */
int rec_cfa_find(const uint8_t *eh_frame_hdr, uintptr_t pc, struct rec_cfa *cfa);

/* The registers that the rule uses, bit n for register n; RFN_E_UNSUPPORTED. */
int rec_cfa_registers(const struct rec_cfa *cfa, uint32_t *mask);

/* The CFA, from the values of the registers used, and what it read to find it. Reads memory as the
 * expression says: call this only for a frame that exists. RFN_E_UNSUPPORTED. */
int rec_cfa_evaluate(const struct rec_cfa *cfa, const uintptr_t registers[REC_CFI_REGISTERS],
                     uintptr_t *value, struct rec_cfa_reads *reads);

#endif
