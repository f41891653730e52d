/* actions_source.h - what stands behind a struct rfn_actions: an archive, or text.
 *
 * A source begins with this structure. The diag that it was made with is borrowed for its life.
 */
#ifndef RFN_CONVERT_ACTIONS_SOURCE_H
#define RFN_CONVERT_ACTIONS_SOURCE_H

#include "refrain/actions.h"

struct rfn_actions {
    uint32_t n_ranks;
    enum rfn_action_unit unit;
    struct rfn_diag *diag; /* may be NULL */
    int (*next)(struct rfn_actions *actions, uint32_t rank, struct rfn_action *action);
    /* NULL: nothing says what is computed. */
    const struct rfn_activity *(*activities)(const struct rfn_actions *actions, size_t *n);
    /* NULL: there is only MPI_COMM_WORLD. */
    const int64_t *(*comm)(const struct rfn_actions *actions, uint32_t comm, uint32_t *n);
    /* NULL: all ranks are here. */
    bool (*has)(const struct rfn_actions *actions, uint32_t rank);
    /* NULL: nothing is left out. */
    uint64_t (*left_out)(const struct rfn_actions *actions, const char **first);
    void (*free)(struct rfn_actions *actions);
};

#endif
