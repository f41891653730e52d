/* rank_formula.h - expressions in the rank that users write: "(r + n / 2) % n".
 *
 * For parameters that differ from rank to rank in a way that none of the forms of rank_expression.h
 * gives. Archives keep them as text, so the language is part of the format (refrain-archive(5),
 * Formulas, defines it). It differs from C in that / and % round down, and in that a result that 64
 * bits do not hold, a division by 0 and a shift by less than 0 or more than 63 have no value, nor
 * has what is made of them; && and || and ?: only look at what they need.
 *
 * Each value takes one pass over the text and no memory. Any bytes may be given: what is no formula
 * is told apart from a formula without a value, nothing is undefined.
 */
#ifndef RFN_REDUCE_CLUSTERS_RANK_FORMULA_H
#define RFN_REDUCE_CLUSTERS_RANK_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_FORMULA_MOST = 1000 }; /* characters */

/* What is wrong with it, and from which character on (from 0), or NULL. The text needs no zero
 * byte at its end. */
const char *rfn_formula_fault(const char *text, size_t size, size_t *at);

/* Its value for rank r of n. Returns false if it has none, or is wrong. */
bool rfn_formula_value(const char *text, size_t size, int64_t r, int64_t n, int64_t *value);

/* Copies one without its spaces, which mean nothing; returns how long that is. to: room for size
 * characters; may be text. */
size_t rfn_formula_pack(const char *text, size_t size, char *to);

#endif
