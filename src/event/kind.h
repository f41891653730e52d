/* kind.h - the schemas of functions: names and kinds of their parameters.
 *
 * An event is one MPI call of one stream: a site (function and call path) and parameters. Every
 * parameter is one signed 64-bit word, whatever its type in MPI; a parameter that is an array is
 * the number of an interned list of words. So signatures are short arrays of words that are hashed
 * and compared without knowing what they mean, and value columns hold words too.
 *
 * A schema names the parameters of a function and gives each a kind. The recorder's schemas are
 * generated from record/wrap/mpi.def; archives carry the schemas of the functions they use, so
 * readers need no table of MPI. What words of each kind mean is public: refrain/event.h.
 */
#ifndef RFN_EVENT_KIND_H
#define RFN_EVENT_KIND_H

#include "refrain/event.h"

#include <stdint.h>

/* Whether words of this kind depend on the rank in regular programs: they are kept beside the
 * structure that ranks compare. */
static inline int rfn_kind_depends_on_rank(uint8_t kind)
{
    return kind == RFN_KIND_RANK || kind == RFN_KIND_PLACE;
}

/* Whether input i, of this kind, stands in the structure: it neither varies (moved) nor depends on
 * the rank. */
static inline int rfn_input_is_shared(uint8_t kind, uint32_t moved, unsigned i)
{
    return !(moved >> i & 1) && !rfn_kind_depends_on_rank(kind);
}

#endif
