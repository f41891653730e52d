/* places.h - where a function's parameters stand, by their names in the MPI standard. */
#ifndef RFN_ANALYZE_PLACES_H
#define RFN_ANALYZE_PLACES_H

#include "refrain/archive.h"
#include "refrain/event.h"

#include <string.h>

/* Inputs that say what a call moves and between whom. */
#define RFN_VOLUME_INPUTS(X) \
    X(count)                 \
    X(datatype)              \
    X(dest)                  \
    X(source)                \
    X(tag)                   \
    X(recvtag)               \
    X(root)                  \
    X(partitions)            \
    X(sendbuf)               \
    X(recvbuf)               \
    X(sendcount)             \
    X(sendtype)              \
    X(sendcounts)            \
    X(sendtypes)             \
    X(recvcount)             \
    X(recvtype)              \
    X(recvcounts)            \
    X(recvtypes)             \
    X(origin_count)          \
    X(origin_datatype)       \
    X(result_count)          \
    X(result_datatype)       \
    X(target_count)          \
    X(target_datatype)       \
    X(target_rank)

/* The input of that name, -1 when there is none. */
static inline int8_t rfn_input_named(const struct rfn_function_info *function, const char *name)
{
    for (int i = 0; i < function->n_in && i < RFN_PARAMS_MAX; i++) {
        if (strcmp(function->params[i].name, name) == 0)
            return (int8_t)i;
    }
    return -1;
}

/* The first input of a kind, -1 when there is none. */
static inline int8_t rfn_input_of_kind(const struct rfn_function_info *function, uint8_t kind)
{
    for (int i = 0; i < function->n_in && i < RFN_PARAMS_MAX; i++) {
        if (function->params[i].kind == kind)
            return (int8_t)i;
    }
    return -1;
}

/* The first outcome of a kind, -1 when there is none. */
static inline int8_t rfn_outcome_of_kind(const struct rfn_function_info *function, uint8_t kind)
{
    for (int i = 0; i < function->n_out && i < RFN_PARAMS_MAX; i++) {
        if (function->params[function->n_in + i].kind == kind)
            return (int8_t)i;
    }
    return -1;
}

/* The word of an input, or otherwise when the function has no such input. */
static inline int64_t rfn_input(const struct rfn_record *record, int8_t at, int64_t otherwise)
{
    return at < 0 ? otherwise : record->in[at];
}

/* The word of an outcome; RFN_UNKNOWN when the function has no such outcome, or has failed. */
static inline int64_t rfn_outcome(const struct rfn_record *record, int8_t at)
{
    return at < 0 || record->error ? RFN_UNKNOWN : record->out[at];
}

/* The words of a list that is an input. NULL and *n = 0 where there is none. */
static inline const int64_t *rfn_input_list(const struct rfn_cursor *cursor,
                                            const struct rfn_record *record, int8_t at, size_t *n,
                                            uint8_t kind)
{
    *n = 0;
    return at < 0 ? NULL : rfn_cursor_list(cursor, record->in[at], n, kind);
}

#endif
