#include "archive/write/cluster_job.h"

#include "archive/write/forced_parameters.h"
#include "event/kind.h"

#include <stdlib.h>

/* Bytes for words of members, where memory is short. */
enum { RANK_PARAMS_ROOM = 1 << 23, RANK_PARAMS_ROOM_OFF_LINE = 1 << 30 };

/* ---- rank parameters of members ---- */

/* shape: whose communicators the calls are to have. */
static void take_symbol(const struct rfn_member *member, const struct rfn_structure *shape,
                        const struct rfn_symbol_info *symbol,
                        struct rfn_cluster_rank_params *rank_params, uint32_t at)
{
    const struct rfn_function_info *function =
        &member->archive->dictionary.functions[symbol->function];
    const struct rfn_symbol_info *same = &shape->symbols[symbol - member->structure->symbols];
    struct rfn_rank_value own = rfn_member_own_place(member, symbol, function);
    struct rfn_rank_value shaped = same->function == symbol->function
                                       ? rfn_member_own_place(member, same, function)
                                       : own;
    struct rfn_rank_value world = {.rank = member->rank,
                                   .size = rfn_archive_run(member->archive)->ranks};
    size_t slot = symbol->rank_params;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (!rfn_symbol_in_rank_params(symbol, function, i))
            continue;
        bool ranks = function->params[i].kind == RFN_KIND_RANK;
        struct rfn_rank_value *word = &rank_params->words[slot * rank_params->n_members + at];
        *word = ranks ? shaped : world;
        word->value = rfn_rank_param(member->table, slot, member->place,
                                     ranks ? own.rank : world.rank);
        rank_params->roles[slot] = rfn_forced_role_of(function, i);
        rank_params->of_ranks[slot++] = ranks;
    }
}

/* ---- what numbers and slots mean, for users' expressions ---- */

/* What is no parameter of a call, or means nothing outside of the archive, has no name. */
static struct rfn_sought_parameter sought(const struct rfn_function_info *function, unsigned input)
{
    return (struct rfn_sought_parameter){.function = function->name,
                                         .name = function->params[input].name,
                                         .role = rfn_parameter_role_name(function, input)};
}

static void name_inputs(const struct rfn_archive *archive, const struct rfn_symbol_info *symbol,
                        struct rfn_cluster_rank_params *rank_params, size_t *number)
{
    const struct rfn_function_info *function = &archive->dictionary.functions[symbol->function];
    size_t slot = symbol->rank_params;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (symbol->moved >> i & 1)
            continue;
        if (rfn_symbol_in_rank_params(symbol, function, i)) {
            rank_params->parameters[slot++] = sought(function, i);
            continue;
        }
        struct rfn_sought_parameter *parameter = &rank_params->number_parameters[(*number)++];
        const uint8_t kind = function->params[i].kind;
        if (kind == RFN_KIND_INT || kind == RFN_KIND_COUNT || kind == RFN_KIND_TAG ||
            kind == RFN_KIND_BYTES) {
            *parameter = sought(function, i);
            parameter->size = rfn_archive_run(archive)->ranks;
            parameter->coded = true;
        }
    }
}

/* STRUCTURE is numbers (refrain-archive(5)): sites, datatypes and communicators, then per symbol
 * three and its inputs, then loops. */
static int name_parameters(const struct rfn_archive *archive, const struct rfn_structure *structure,
                           struct rfn_cluster_rank_params *rank_params)
{
    size_t number = 4 + 2 * (size_t)structure->n_sites + structure->n_types;
    rank_params->n_numbers = number;
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        rank_params->n_numbers +=
            3 + archive->dictionary.functions[structure->symbols[i].function].n_in;
    rank_params->parameters = calloc((size_t)rank_params->n_slots + 1,
                                     sizeof *rank_params->parameters);
    rank_params->number_parameters = calloc(rank_params->n_numbers,
                                            sizeof *rank_params->number_parameters);
    if (!rank_params->parameters || !rank_params->number_parameters)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        number += 3;
        name_inputs(archive, &structure->symbols[i], rank_params, &number);
    }
    for (size_t slot = structure->n_rank_params; slot < rank_params->n_slots; slot++)
        rank_params->parameters[slot] = (struct rfn_sought_parameter){.name = "comm",
                                                                      .role = "comm"};
    return 0;
}

static int make_rank_params(const struct rfn_cluster_job *job,
                            const struct rfn_structure *structure,
                            struct rfn_cluster_rank_params *rank_params)
{
    /* While recording memory is short. Off line, too, it does not grow with what a few bytes say.
     */
    const size_t room = job->known_shapes ? RANK_PARAMS_ROOM : RANK_PARAMS_ROOM_OFF_LINE;
    rank_params->n_slots = (uint32_t)structure->n_rank_params + structure->n_comms;
    const uint64_t n_words = (uint64_t)rank_params->n_slots * rank_params->n_members;
    if (n_words > room / sizeof *rank_params->words)
        return RFN_E_UNSUPPORTED;
    rank_params->words = calloc(n_words + 1, sizeof *rank_params->words);
    rank_params->of_ranks = calloc((size_t)rank_params->n_slots + 1, sizeof *rank_params->of_ranks);
    rank_params->roles = calloc((size_t)rank_params->n_slots + 1, sizeof *rank_params->roles);
    if (!rank_params->words || !rank_params->of_ranks || !rank_params->roles)
        return RFN_E_NOMEM;
    return job->finder ? name_parameters(job->archive, structure, rank_params) : 0;
}

int rfn_cluster_take_group(const struct rfn_cluster_job *job, uint32_t group,
                           const struct rfn_structure *shape, uint32_t most,
                           struct rfn_cluster_rank_params *rank_params, uint32_t *at)
{
    const struct rfn_archive *archive = job->archive;
    struct rfn_part *part, *table;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &part, job->diag));
    const struct rfn_structure *structure = &part->u.structure;
    int error = rfn_part_use(archive, RFN_CHUNK_RANK_PARAMS, group, structure, &table, job->diag);
    const bool there = !error;
    if (there && !rank_params->words)
        error = make_rank_params(job, structure, rank_params);
    if (error == RFN_E_NOMEM)
        error = rfn_cluster_no_memory(job);
    shape = shape ? shape : structure;
    /* Sizes are those of the shape, if its hash is right. */
    if (!error &&
        (shape->n_symbols != structure->n_symbols || shape->n_comms != structure->n_comms ||
         shape->n_rank_params != structure->n_rank_params ||
         structure->n_rank_params + structure->n_comms != rank_params->n_slots))
        error = RFN_E_UNSUPPORTED;
    const uint32_t first = archive->first_member[group];
    const uint32_t n = archive->first_member[group + 1] - first;
    for (uint32_t i = 0; i < n && i < most && !error; i++, ++*at) {
        int64_t rank = rfn_stream_word(archive, RFN_WORD_RANK, archive->members[first + i]);
        const struct rfn_member member = {archive, structure, &table->u.rank_params, i,
                                          (uint32_t)rank};
        for (uint32_t k = 0; k < structure->n_symbols; k++)
            take_symbol(&member, shape, &structure->symbols[k], rank_params, *at);
        for (size_t slot = structure->n_rank_params; slot < rank_params->n_slots; slot++)
            rank_params->words[slot * rank_params->n_members + *at] = (struct rfn_rank_value){
                .rank = member.rank,
                .size = rfn_archive_run(archive)->ranks,
                .value = rfn_rank_param(member.table, slot, member.place, 0)};
    }
    if (there)
        rfn_part_done(archive, table);
    rfn_part_done(archive, part);
    return error;
}

void rfn_cluster_rank_params_release(struct rfn_cluster_rank_params *rank_params)
{
    free(rank_params->words);
    free(rank_params->of_ranks);
    free(rank_params->roles);
    free(rank_params->parameters);
    free(rank_params->number_parameters);
}
