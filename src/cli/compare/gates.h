/* gates.h - `refrain compare --fail-if`: by how much a row may differ between two sides.
 *
 * "ROW > NUMBER UNIT" fails if the median of the row grew by more than that, "ROW < NUMBER UNIT" if
 * it fell by more, and in both cases only if the ranges of the sides do not overlap: what may be
 * noise fails no gate. A row's name may contain ' < ': the last sign with a number behind it
 * counts.
 */
#ifndef RFN_CLI_COMPARE_GATES_H
#define RFN_CLI_COMPARE_GATES_H

#include "refrain/explain.h"

struct rfn_gate {
    const char *rule;  /* as given; borrowed */
    size_t row_length; /* of the row's name, with which the rule begins */
    bool falls;        /* '<' */
    bool percent;      /* of the median of the first side */
    bool points;       /* of a share */
    double number;     /* else in ns, or as it is */
    bool timed;        /* it has a unit of time */
};

/* false: the rule is not of that form. */
bool rfn_gate_parse(struct rfn_gate *gate, const char *rule);

enum rfn_gate_error {
    RFN_GATE_OK,
    RFN_GATE_NO_ROW,    /* no row has this name */
    RFN_GATE_MANY_ROWS, /* several begin so */
    RFN_GATE_UNIT       /* the row has another unit */
};

/* The row that the gate is about: of this name, or the only one whose name begins with it before
 * " < " or ", ". */
enum rfn_gate_error rfn_gate_find(const struct rfn_gate *gate,
                                  const struct rfn_compared_sides *compared,
                                  const struct rfn_row_change **row);
/* How much the medians may differ, in the unit of the row; and whether they differ by more. */
double rfn_gate_limit(const struct rfn_gate *gate, const struct rfn_row_change *row);
bool rfn_gate_fails(const struct rfn_gate *gate, const struct rfn_row_change *row);

#endif
