/* forced_parameters.h - forced merging: parameters of some roles no longer tell the groups of a
 * shape apart (doc/clustering.md, Forced merging).
 *
 * All get the words that the shape's lowest rank has: as they are, partners relative to the own
 * rank. What is in columns (more than 64 different values, lists) stays.
 */
#ifndef RFN_ARCHIVE_WRITE_FORCED_PARAMETERS_H
#define RFN_ARCHIVE_WRITE_FORCED_PARAMETERS_H

#include "archive/read/reader.h"
#include "refrain/clusters.h"
#include "refrain/trace_profile.h"

struct rfn_pack_bytes; /* archive/write/pack_clusters.h */
struct rfn_rank_value; /* reduce/clusters/rank_expression.h */

enum rfn_forced_role {
    RFN_FORCED_PEER = 1,
    RFN_FORCED_ROOT = 2,
    RFN_FORCED_COUNT = 4,
    RFN_FORCED_EXACT = 8, /* datatypes, operations */
    RFN_FORCED_COMM = 16,
    RFN_FORCED_PLACE = 32,
    RFN_FORCED_TAG = 64
};

/* The roles that a list of names ("peer,count") has. RFN_E_USAGE. */
int rfn_forced_roles_parse(const char *names, unsigned *roles, struct rfn_diag *diag);
/* Their names in order, separated by commas. */
void rfn_forced_roles_text(unsigned roles, char text[RFN_FORCED_TEXT]);
/* What an input of a call is to clusters of ranks (doc/clustering.md, Parameters); CALL: it is no
 * parameter. */
enum rfn_cluster_role rfn_parameter_role(const struct rfn_function_info *function, unsigned input);
/* "peer", "range", "root", "count", "exact", "comm", "place"; of CALL "other". */
const char *rfn_role_name(enum rfn_cluster_role role);
/* The same of an input; "tag" for tags, which are no parameter. */
const char *rfn_parameter_role_name(const struct rfn_function_info *function, unsigned input);

/* The role of an input that is one word, or 0. */
unsigned rfn_forced_role_of(const struct rfn_function_info *function, unsigned input);

/* Writes STRUCTURE with numbers of these roles taken from another group's of the same shape. of:
 * what is read from `own`, or from `reference`. Adds to *changed the roles of which a number is
 * another one then. RFN_E_UNSUPPORTED: they are not of one shape; RFN_E_NOMEM. */
int rfn_force_structure(const struct rfn_dictionary *dictionary, const struct rfn_structure *of,
                        unsigned roles, const struct rfn_pack_bytes *own,
                        const struct rfn_pack_bytes *reference, unsigned *changed,
                        struct rfn_buf *out);

/* The word that a member gets that has the first one itself, in place of it; `lowest` is that of
 * the lowest rank, each with rank and size of its own communicator. role: 0 for one that stays. */
int64_t rfn_force_word(unsigned role, const struct rfn_rank_value *own,
                       const struct rfn_rank_value *lowest);

#endif
