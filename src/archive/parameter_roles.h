/* parameter_roles.h - what inputs of calls are to clusters of ranks (doc/clustering.md,
 * Parameters).
 */
#ifndef RFN_ARCHIVE_PARAMETER_ROLES_H
#define RFN_ARCHIVE_PARAMETER_ROLES_H

#include "refrain/clusters.h"

/* CALL: it is no parameter. */
enum rfn_cluster_role rfn_parameter_role(const struct rfn_function_info *function, unsigned input);

/* "peer", "range", "root", "count", "exact", "comm", "place"; of CALL "other". */
const char *rfn_role_name(enum rfn_cluster_role role);
/* The same of an input; "tag" for tags, which are no parameter. */
const char *rfn_parameter_role_name(const struct rfn_function_info *function, unsigned input);

#endif
