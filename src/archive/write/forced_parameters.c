#include "archive/write/forced_parameters.h"

#include "archive/write/pack_clusters.h"
#include "event/kind.h"

#include <stdlib.h>
#include <string.h>

/* ---- roles ---- */

enum rfn_cluster_role rfn_parameter_role(const struct rfn_function_info *function, unsigned input)
{
    switch (function->params[input].kind) {
    case RFN_KIND_RANK:
        return function->class_ == RFN_CLASS_ONE_TO_ALL || function->class_ == RFN_CLASS_ALL_TO_ONE
                   ? RFN_ROLE_ROOT
                   : RFN_ROLE_PEER;
    case RFN_KIND_COUNT:
    case RFN_KIND_BYTES:
    case RFN_KIND_COUNT | RFN_KIND_LIST:
        return RFN_ROLE_COUNT;
    case RFN_KIND_TYPE:
    case RFN_KIND_OP:
        return RFN_ROLE_EXACT;
    case RFN_KIND_COMM:
        return RFN_ROLE_COMM;
    case RFN_KIND_PLACE:
        return RFN_ROLE_PLACE;
    default:
        return RFN_ROLE_CALL;
    }
}

const char *rfn_role_name(enum rfn_cluster_role role)
{
    static const char *const names[] = {
        [RFN_ROLE_CALL] = "other", [RFN_ROLE_PEER] = "peer",   [RFN_ROLE_RANGE] = "range",
        [RFN_ROLE_ROOT] = "root",  [RFN_ROLE_COUNT] = "count", [RFN_ROLE_EXACT] = "exact",
        [RFN_ROLE_COMM] = "comm",  [RFN_ROLE_PLACE] = "place", [RFN_ROLE_SIGNATURE] = "signature"};
    return names[role];
}

const char *rfn_parameter_role_name(const struct rfn_function_info *function, unsigned input)
{
    bool tag = (function->params[input].kind & ~RFN_KIND_LIST) == RFN_KIND_TAG;
    return tag ? "tag" : rfn_role_name(rfn_parameter_role(function, input));
}

static const char *const names[] = {"peer", "root", "count", "exact", "comm", "place", "tag"};

enum { N_ROLES = sizeof names / sizeof *names };

int rfn_forced_roles_parse(const char *text, unsigned *roles, struct rfn_diag *diag)
{
    *roles = 0;
    for (const char *name = text;; name++) {
        const size_t length = strcspn(name, ",");
        unsigned i = 0;
        while (i < N_ROLES && (strlen(names[i]) != length || memcmp(names[i], name, length) != 0))
            i++;
        if (i == N_ROLES)
            return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                            "there are no parameters '%.*s' (peer, root, count, exact, comm, "
                            "place, tag)",
                            (int)(length < 32 ? length : 32), name);
        *roles |= 1u << i;
        name += length;
        if (!*name)
            return 0;
    }
}

int rfn_forced_check(const char *text, struct rfn_diag *diag)
{
    unsigned roles;
    return rfn_forced_roles_parse(text, &roles, diag);
}

void rfn_forced_roles_text(unsigned roles, char text[RFN_FORCED_TEXT])
{
    size_t at = 0;
    for (unsigned i = 0; i < N_ROLES; i++) {
        if (!(roles >> i & 1))
            continue;
        if (at)
            text[at++] = ',';
        memcpy(text + at, names[i], strlen(names[i]));
        at += strlen(names[i]);
    }
    text[at] = '\0';
}

unsigned rfn_forced_role_of(const struct rfn_function_info *function, unsigned input)
{
    static const unsigned merged[] = {
        [RFN_ROLE_PEER] = RFN_FORCED_PEER,   [RFN_ROLE_ROOT] = RFN_FORCED_ROOT,
        [RFN_ROLE_COUNT] = RFN_FORCED_COUNT, [RFN_ROLE_EXACT] = RFN_FORCED_EXACT,
        [RFN_ROLE_COMM] = RFN_FORCED_COMM,   [RFN_ROLE_PLACE] = RFN_FORCED_PLACE};
    uint8_t kind = function->params[input].kind;
    if (kind & RFN_KIND_LIST)
        return 0;
    return kind == RFN_KIND_TAG ? RFN_FORCED_TAG : merged[rfn_parameter_role(function, input)];
}

/* ---- STRUCTURE: numbers of two groups side by side ---- */

struct sides {
    struct rfn_reader own, reference;
    unsigned roles, changed;
    struct rfn_buf *out;
};

/* role: of the numbers; 0 for those that stay. */
static void copy(struct sides *sides, uint64_t n, unsigned role)
{
    bool merged = role & sides->roles;
    for (uint64_t i = 0; i < n && !sides->own.failed && !sides->reference.failed; i++) {
        uint64_t own = rfn_reader_varint(&sides->own);
        uint64_t reference = rfn_reader_varint(&sides->reference);
        rfn_buf_varint(sides->out, merged ? reference : own);
        if (merged && own != reference)
            sides->changed |= role;
    }
}

int rfn_force_structure(const struct rfn_dictionary *dictionary, const struct rfn_structure *of,
                        unsigned roles, const struct rfn_pack_bytes *own,
                        const struct rfn_pack_bytes *reference, unsigned *changed,
                        struct rfn_buf *out)
{
    struct sides sides = {.own = rfn_reader_over(own->data, own->size),
                          .reference = rfn_reader_over(reference->data, reference->size),
                          .roles = roles,
                          .out = out};
    copy(&sides, 1 + 2 * (uint64_t)of->n_sites + 1, 0);
    copy(&sides, of->n_types, RFN_FORCED_EXACT);
    copy(&sides, 2, 0); /* communicators, symbols */
    for (uint32_t i = 0; i < of->n_symbols; i++) {
        const struct rfn_symbol_info *symbol = &of->symbols[i];
        const struct rfn_function_info *function = &dictionary->functions[symbol->function];
        copy(&sides, 3, 0); /* site and failed poll, error, moved */
        for (unsigned k = 0; k < function->n_in; k++) {
            if (rfn_input_is_shared(function->params[k].kind, symbol->moved, k))
                copy(&sides, 1, rfn_forced_role_of(function, k));
        }
    }
    while (rfn_reader_left(&sides.own) && rfn_reader_left(&sides.reference))
        copy(&sides, 1, 0);
    *changed |= sides.changed;
    bool alike = !sides.own.failed && !sides.reference.failed && !rfn_reader_left(&sides.own) &&
                 !rfn_reader_left(&sides.reference);
    return alike ? rfn_buf_status(out) : RFN_E_UNSUPPORTED;
}

/* ---- RANK_PARAMS ---- */

/* Of those that are out of what there is, the ranks wrap round. */
static int64_t wrapped(int64_t rank, uint32_t size)
{
    int64_t rest = size ? rank % (int64_t)size : rank;
    return size && rest < 0 ? rest + size : rest;
}

int64_t rfn_force_word(unsigned role, const struct rfn_rank_value *own,
                       const struct rfn_rank_value *lowest)
{
    const int64_t size = lowest->size;
    if (role == RFN_FORCED_PLACE)
        return lowest->value;
    if (role == RFN_FORCED_ROOT)
        return lowest->value < 0 ? lowest->value : wrapped(lowest->value, own->size);
    if (role != RFN_FORCED_PEER)
        return own->value;
    if (lowest->value < 0 || lowest->value >= size)
        return lowest->value;                            /* MPI_ANY_SOURCE, MPI_PROC_NULL */
    int64_t way = lowest->value - (int64_t)lowest->rank; /* to its partner, the shorter one */
    if (way > size / 2)
        way -= size;
    if (way < -size / 2)
        way += size;
    return wrapped((int64_t)own->rank + way, own->size);
}
