/* expression.h - expressions that users add to clustering (doc/clustering.md, Expressions of
 * users).
 *
 * Where a parameter differs from rank to rank and none of the forms of refrain/clusters.h fits,
 * Refrain tries these: formulas, in the order in which they were added, then formulas of an
 * archive, then plug-ins (refrain/plugin.h), in order. The first that gives all values stands for
 * them.
 */
#ifndef REFRAIN_EXPRESSION_H
#define REFRAIN_EXPRESSION_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

struct rfn_expressions;

/* RFN_E_NOMEM. */
int rfn_expressions_new(struct rfn_expressions **expressions);
void rfn_expressions_free(struct rfn_expressions *expressions);

/* A formula, which is copied. RFN_E_USAGE: it is none; diag says why and where. RFN_E_NOMEM. */
int rfn_expressions_add(struct rfn_expressions *expressions, const char *text,
                        struct rfn_diag *diag);
/* The formulas that a clustered archive has. RFN_E_NOMEM, and the errors of reading. */
int rfn_expressions_add_archive(struct rfn_expressions *expressions,
                                const struct rfn_archive *archive, struct rfn_diag *diag);
/* The plug-in in a file, which becomes a part of the process. RFN_E_IO: it cannot be loaded;
 * RFN_E_NOTFOUND: it has no function refrain_expression; RFN_E_NOMEM. */
int rfn_expressions_add_plugin(struct rfn_expressions *expressions, const char *file,
                               struct rfn_diag *diag);

/* What came of them so far. */
struct rfn_expression_counts {
    uint64_t parameters;         /* that differ and had no expression */
    uint64_t found;              /* of these: one of a user gives all values */
    uint64_t stored;             /* of these: in the archive, where a table is longer */
    uint64_t misfits;            /* expressions of plug-ins that give other values */
    uint64_t malformed;          /* texts of plug-ins that are no expressions */
    const char *first_malformed; /* what and why, or NULL; borrowed from the expressions */
};

struct rfn_expression_counts rfn_expressions_counts(const struct rfn_expressions *expressions);

#pragma GCC visibility pop

#endif
