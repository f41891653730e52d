#include "archive/write/cluster_job.h"

#include "archive/write/forced_parameters.h"
#include "event/kind.h"

#include <stdlib.h>

/* Bytes for words of members, where memory is short. */
enum { PLACES_ROOM = 1 << 23, PLACES_ROOM_OFF_LINE = 1 << 30 };

/* ---- places of members ---- */

/* shape: whose communicators the calls are to have. */
static void take_symbol(const struct rfn_member *member, const struct rfn_structure *shape,
                        const struct rfn_symbol_info *symbol, struct rfn_cluster_places *places,
                        uint32_t at)
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
    size_t slot = symbol->place;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (!rfn_symbol_in_places(symbol, function, i))
            continue;
        bool ranks = function->params[i].kind == RFN_KIND_RANK;
        struct rfn_rank_value *word = &places->words[slot * places->n_members + at];
        *word = ranks ? shaped : world;
        word->value = rfn_rank_param(member->table, slot, member->place,
                                     ranks ? own.rank : world.rank);
        places->roles[slot] = rfn_forced_role_of(function, i);
        places->of_ranks[slot++] = ranks;
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
                        struct rfn_cluster_places *places, size_t *number)
{
    const struct rfn_function_info *function = &archive->dictionary.functions[symbol->function];
    size_t slot = symbol->place;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (symbol->moved >> i & 1)
            continue;
        if (rfn_symbol_in_places(symbol, function, i)) {
            places->parameters[slot++] = sought(function, i);
            continue;
        }
        struct rfn_sought_parameter *parameter = &places->number_parameters[(*number)++];
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
                           struct rfn_cluster_places *places)
{
    size_t number = 4 + 2 * (size_t)structure->n_sites + structure->n_types;
    places->n_numbers = number;
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        places->n_numbers += 3 + archive->dictionary.functions[structure->symbols[i].function].n_in;
    places->parameters = calloc((size_t)places->n_slots + 1, sizeof *places->parameters);
    places->number_parameters = calloc(places->n_numbers, sizeof *places->number_parameters);
    if (!places->parameters || !places->number_parameters)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        number += 3;
        name_inputs(archive, &structure->symbols[i], places, &number);
    }
    for (size_t slot = structure->n_places; slot < places->n_slots; slot++)
        places->parameters[slot] = (struct rfn_sought_parameter){.name = "comm", .role = "comm"};
    return 0;
}

static int make_places(const struct rfn_cluster_job *job, const struct rfn_structure *structure,
                       struct rfn_cluster_places *places)
{
    /* While recording memory is short. Off line, too, it does not grow with what a few bytes say.
     */
    const size_t room = job->known_shapes ? PLACES_ROOM : PLACES_ROOM_OFF_LINE;
    places->n_slots = (uint32_t)structure->n_places + structure->n_comms;
    const uint64_t n_words = (uint64_t)places->n_slots * places->n_members;
    if (n_words > room / sizeof *places->words)
        return RFN_E_UNSUPPORTED;
    places->words = calloc(n_words + 1, sizeof *places->words);
    places->of_ranks = calloc((size_t)places->n_slots + 1, sizeof *places->of_ranks);
    places->roles = calloc((size_t)places->n_slots + 1, sizeof *places->roles);
    if (!places->words || !places->of_ranks || !places->roles)
        return RFN_E_NOMEM;
    return job->finder ? name_parameters(job->archive, structure, places) : 0;
}

int rfn_cluster_take_group(const struct rfn_cluster_job *job, uint32_t group,
                           const struct rfn_structure *shape, uint32_t most,
                           struct rfn_cluster_places *places, uint32_t *at)
{
    const struct rfn_archive *archive = job->archive;
    struct rfn_part *part, *table;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &part, job->diag));
    const struct rfn_structure *structure = &part->u.structure;
    int error = rfn_part_use(archive, RFN_CHUNK_PLACES, group, structure, &table, job->diag);
    const bool there = !error;
    if (there && !places->words)
        error = make_places(job, structure, places);
    if (error == RFN_E_NOMEM)
        error = rfn_cluster_no_memory(job);
    shape = shape ? shape : structure;
    /* Sizes are those of the shape, if its hash is right. */
    if (!error && (shape->n_symbols != structure->n_symbols ||
                   shape->n_comms != structure->n_comms || shape->n_places != structure->n_places ||
                   structure->n_places + structure->n_comms != places->n_slots))
        error = RFN_E_UNSUPPORTED;
    const uint32_t first = archive->first_member[group];
    const uint32_t n = archive->first_member[group + 1] - first;
    for (uint32_t i = 0; i < n && i < most && !error; i++, ++*at) {
        int64_t rank = rfn_stream_word(archive, RFN_WORD_RANK, archive->members[first + i]);
        const struct rfn_member member = {archive, structure, &table->u.places, i, (uint32_t)rank};
        for (uint32_t k = 0; k < structure->n_symbols; k++)
            take_symbol(&member, shape, &structure->symbols[k], places, *at);
        for (size_t slot = structure->n_places; slot < places->n_slots; slot++)
            places->words[slot * places->n_members + *at] = (struct rfn_rank_value){
                .rank = member.rank,
                .size = rfn_archive_run(archive)->ranks,
                .value = rfn_rank_param(member.table, slot, member.place, 0)};
    }
    if (there)
        rfn_part_done(archive, table);
    rfn_part_done(archive, part);
    return error;
}

void rfn_cluster_places_release(struct rfn_cluster_places *places)
{
    free(places->words);
    free(places->of_ranks);
    free(places->roles);
    free(places->parameters);
    free(places->number_parameters);
}
