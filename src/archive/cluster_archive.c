#include "archive/cluster_archive.h"

#include "archive/cluster_parts.h"
#include "archive/member_words.h"
#include "archive/merged_parameters.h"
#include "archive/pack_clusters.h"
#include "archive/parameter_roles.h"
#include "base/map.h"
#include "event/kind.h"

#include <stdlib.h>
#include <string.h>

/* Bytes as stored. What is larger has a chunk of its own: who reads one group decompresses all that
 * is stored with it. */
enum { STRUCTURE_MOST = 1 << 14, PLACES_MOST = 1 << 16, VALUES_MOST = 1 << 15, TOGETHER = 1 << 15 };

/* What is packed at once is no larger when decompressed. */
enum { RAW_MOST = 1 << 22 };

/* Bytes for words of members, where memory is short. */
enum { PLACES_ROOM = 1 << 23 };

struct group {
    uint32_t number; /* the old one */
    uint32_t shape;  /* in order of the first group that has it */
    bool alone;
    bool values;           /* are stored with it, else in chunks of their own */
    bool taken;            /* it is in CLUSTERS */
    uint64_t stored, cost; /* of what would be in CLUSTERS */
};

struct clustering {
    const struct rfn_archive *archive;
    const uint32_t *known_shapes; /* NULL: they are to be found, and everything is there */
    struct rfn_rewrite *rewrite;
    struct rfn_expression_finder *finder; /* may be NULL */
    struct rfn_cluster_plan *plan;
    struct group *groups; /* in the new order */
    struct rfn_map shapes;
    unsigned roles; /* that are merged */
    struct rfn_diag *diag;
};

static int no_memory(const struct clustering *clustering)
{
    return rfn_fail(clustering->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

static const struct rfn_toc_entry *chunk_of(const struct clustering *clustering, uint32_t type,
                                            uint64_t id)
{
    const struct rfn_chunks *chunks = &clustering->archive->chunks;
    int64_t entry = rfn_chunks_find(chunks, type, id);
    return entry < 0 ? NULL : &chunks->entries[entry];
}

/* ---- the value sets of a group ---- */

/* Calls visit with each set of a group, in order of its first stream. seen: per set, all false. */
static int each_set(const struct rfn_archive *archive, uint32_t group, bool *seen,
                    int (*visit)(void *context, uint32_t set), void *context)
{
    for (uint32_t i = archive->first_member[group]; i < archive->first_member[group + 1]; i++) {
        uint32_t set = (uint32_t)rfn_stream_word(archive, RFN_WORD_VALUES, archive->members[i]);
        if (!seen[set])
            RFN_TRY(visit(context, set));
        seen[set] = true;
    }
    return 0;
}

/* ---- shapes ---- */

static uint64_t mix_nodes(uint64_t hash, const struct rfn_node_list *list)
{
    hash = rfn_hash_mix(hash, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        hash = rfn_hash_mix(hash, list->nodes[i]);
    return hash;
}

/* All of a structure that must be equal in groups that are stored together. */
static uint64_t shape_hash(const struct rfn_structure *structure)
{
    const uint64_t sizes[] = {structure->n_sites, structure->n_types, structure->n_comms,
                              structure->n_symbols, structure->n_loops};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        hash = rfn_hash_mix(hash, sizes[i]);
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        const struct rfn_symbol_info *symbol = &structure->symbols[i];
        hash = rfn_hash_mix(hash, (uint64_t)symbol->function << 32 | symbol->path);
        hash = rfn_hash_mix(hash, (uint64_t)symbol->moved << 32 | symbol->error);
        hash = rfn_hash_mix(hash, symbol->failed_poll);
    }
    for (uint32_t i = 0; i < structure->n_loops; i++)
        hash = mix_nodes(hash, &structure->loops[i]);
    return mix_nodes(hash, &structure->top);
}

/* Sums up what the values of a group take. */
struct weighing {
    const struct clustering *clustering;
    bool clustered, /* what has no chunk of its own is in CLUSTERS */
        missing;    /* something has none */
    uint64_t stored, cost;
};

static int weigh_set(void *context, uint32_t set)
{
    struct weighing *weighing = context;
    const struct rfn_toc_entry *chunk = chunk_of(weighing->clustering, RFN_CHUNK_VALUES, set);
    weighing->missing |= !chunk;
    if (!chunk && (weighing->clustered || weighing->clustering->known_shapes))
        return 0;
    if (!chunk)
        return rfn_archive_missing(weighing->clustering->archive, "VALUES", set,
                                   weighing->clustering->diag);
    weighing->stored += chunk->stored_size;
    weighing->cost += rfn_chunk_bytes(chunk);
    return 0;
}

/* Of groups in a CLUSTERS: each has a part of what it takes, and would take otherwise. */
static int weigh_clusters(struct clustering *clustering, const struct rfn_toc_entry *chunk)
{
    const struct rfn_archive *archive = clustering->archive;
    uint32_t first = (uint32_t)(chunk->id >> 32), end = (uint32_t)chunk->id;
    uint64_t before;
    RFN_TRY(rfn_clusters_before(archive, chunk, &before, clustering->diag));
    for (uint32_t i = first; i < end && i < archive->n_groups; i++) {
        clustering->groups[i].stored = chunk->stored_size / (end - first);
        clustering->groups[i].cost = before / (end - first);
    }
    if (first < end && first < archive->n_groups)
        clustering->groups[first].cost += before % (end - first);
    return 0;
}

static int weigh_clustered(struct clustering *clustering, struct group *group, bool *seen)
{
    struct weighing weighing = {.clustering = clustering, .clustered = true};
    RFN_TRY(each_set(clustering->archive, group->number, seen, weigh_set, &weighing));
    group->values = weighing.stored <= VALUES_MOST;
    group->stored += group->values ? weighing.stored : 0;
    group->cost += group->values ? weighing.cost : 0;
    return 0;
}

static int weigh(struct clustering *clustering, struct group *group, bool *seen)
{
    struct weighing weighing = {.clustering = clustering};
    if (rfn_group_is_clustered(clustering->archive, group->number))
        return weigh_clustered(clustering, group, seen);
    const struct rfn_toc_entry *structure = chunk_of(clustering, RFN_CHUNK_STRUCTURE,
                                                     group->number);
    const struct rfn_toc_entry *places = chunk_of(clustering, RFN_CHUNK_PLACES, group->number);
    group->alone = !structure && clustering->known_shapes;
    if (group->alone)
        return 0;
    if (!structure || !places)
        return rfn_archive_missing(clustering->archive, structure ? "PLACES" : "STRUCTURE",
                                   group->number, clustering->diag);
    RFN_TRY(each_set(clustering->archive, group->number, seen, weigh_set, &weighing));
    group->alone = structure->stored_size > STRUCTURE_MOST || places->stored_size > PLACES_MOST;
    group->values = !weighing.missing && weighing.stored <= VALUES_MOST;
    group->stored = structure->stored_size + places->stored_size +
                    (group->values ? weighing.stored : 0);
    group->cost = rfn_chunk_bytes(structure) + rfn_chunk_bytes(places) +
                  (group->values ? weighing.cost : 0);
    return 0;
}

static int find_shape(struct clustering *clustering, struct group *group)
{
    struct rfn_part *part;
    if (clustering->known_shapes) {
        group->shape = clustering->known_shapes[group->number];
        return 0;
    }
    RFN_TRY(rfn_part_use(clustering->archive, RFN_CHUNK_STRUCTURE, group->number, NULL, &part,
                         clustering->diag));
    uint64_t hash = rfn_hash_mix(shape_hash(&part->u.structure), group->values);
    rfn_part_done(clustering->archive, part);
    if (group->alone)
        hash = rfn_hash_mix(hash, group->number);
    uint64_t *known = rfn_map_get(&clustering->shapes, hash);
    group->shape = known ? (uint32_t)*known : (uint32_t)clustering->shapes.n;
    if (!known && rfn_map_put(&clustering->shapes, hash, group->shape) < 0)
        return no_memory(clustering);
    return 0;
}

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int list_groups(struct clustering *clustering, bool *seen)
{
    uint32_t n = clustering->archive->n_groups;
    const struct rfn_chunks *chunks = &clustering->archive->chunks;
    for (size_t i = 0; i < chunks->n && clustering->archive->first_set; i++) {
        if (chunks->entries[i].type == RFN_CHUNK_CLUSTERS)
            RFN_TRY(weigh_clusters(clustering, &chunks->entries[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        struct group *group = &clustering->groups[i];
        group->number = i;
        RFN_TRY(weigh(clustering, group, seen));
        RFN_TRY(find_shape(clustering, group));
    }
    qsort(clustering->groups, n, sizeof *clustering->groups, compare_groups);
    return 0;
}

/* ---- new numbers ---- */

struct numbering {
    uint32_t *sets, n;
};

static int number_set(void *context, uint32_t set)
{
    struct numbering *numbering = context;
    numbering->sets[set] = numbering->n++;
    return 0;
}

/* seen: as of each_set. */
static void number_all(struct clustering *clustering, bool *seen)
{
    const struct rfn_archive *archive = clustering->archive;
    struct numbering numbering = {.sets = clustering->plan->sets};
    for (uint32_t i = 0; i < archive->n_groups; i++) {
        clustering->plan->groups[clustering->groups[i].number] = i;
        each_set(archive, clustering->groups[i].number, seen, number_set, &numbering);
    }
}

/* Where nothing is stored together everything stays as it was. */
static void keep_numbers(struct clustering *clustering)
{
    for (uint32_t i = 0; i < clustering->archive->n_groups; i++)
        clustering->plan->groups[i] = i;
    for (uint32_t i = 0; i < clustering->archive->n_value_sets; i++)
        clustering->plan->sets[i] = i;
}

/* ---- places of members ---- */

/* The sequences of PLACES of groups of one shape, which are as long as all their members. */
struct places {
    uint32_t n_members, n_slots;
    struct rfn_rank_value *words; /* per slot, per member */
    bool *of_ranks;
    unsigned *roles;                                /* per slot */
    struct rfn_sought_parameter *parameters;        /* per slot: what it is */
    struct rfn_sought_parameter *number_parameters; /* per number of the structure, */
    size_t n_numbers;                               /* of the first ones */
};

/* shape: whose communicators the calls are to have. */
static void take_symbol(const struct rfn_member *member, const struct rfn_structure *shape,
                        const struct rfn_symbol_info *symbol, struct places *places, uint32_t at)
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
        word->value = rfn_member_word(member->table, slot, member->place,
                                      ranks ? own.rank : world.rank);
        places->roles[slot] = rfn_merged_role_of(function, i);
        places->of_ranks[slot++] = ranks;
    }
}

static void take_member(const struct rfn_member *member, const struct rfn_structure *shape,
                        struct places *places, uint32_t at)
{
    const struct rfn_structure *structure = member->structure;
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        take_symbol(member, shape, &structure->symbols[i], places, at);
    for (size_t slot = structure->n_places; slot < places->n_slots; slot++)
        places->words[slot * places->n_members + at] = (struct rfn_rank_value){
            .rank = member->rank,
            .size = rfn_archive_run(member->archive)->ranks,
            .value = rfn_member_word(member->table, slot, member->place, 0)};
}

/* ---- what numbers and slots mean, for users' expressions ---- */

/* What is no parameter of a call, or means nothing outside of the archive, has no name. */
static struct rfn_sought_parameter sought(const struct rfn_function_info *function, unsigned input)
{
    return (struct rfn_sought_parameter){.function = function->name,
                                         .name = function->params[input].name,
                                         .role = rfn_parameter_role_name(function, input)};
}

static bool is_plain(uint8_t kind)
{
    return kind == RFN_KIND_INT || kind == RFN_KIND_COUNT || kind == RFN_KIND_TAG ||
           kind == RFN_KIND_BYTES;
}

static void name_inputs(const struct rfn_archive *archive, const struct rfn_symbol_info *symbol,
                        struct places *places, size_t *number)
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
        if (is_plain(function->params[i].kind)) {
            *parameter = sought(function, i);
            parameter->size = rfn_archive_run(archive)->ranks;
            parameter->coded = true;
        }
    }
}

/* STRUCTURE is numbers (refrain-archive(5)): sites, datatypes and communicators, then per symbol
 * three and its inputs, then loops. */
static size_t most_numbers(const struct rfn_archive *archive, const struct rfn_structure *structure)
{
    size_t n = 4 + 2 * (size_t)structure->n_sites + structure->n_types;
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        n += 3 + archive->dictionary.functions[structure->symbols[i].function].n_in;
    return n;
}

static int name_parameters(const struct rfn_archive *archive, const struct rfn_structure *structure,
                           struct places *places)
{
    size_t number = 4 + 2 * (size_t)structure->n_sites + structure->n_types;
    places->n_numbers = most_numbers(archive, structure);
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

/* While recording memory is short. */
static bool too_many(const struct clustering *clustering, const struct places *places)
{
    uint64_t words = (uint64_t)places->n_slots * places->n_members;
    return clustering->known_shapes && words > PLACES_ROOM / sizeof *places->words;
}

static int make_places(const struct clustering *clustering, const struct rfn_structure *structure,
                       struct places *places)
{
    places->n_slots = (uint32_t)structure->n_places + structure->n_comms;
    if (too_many(clustering, places))
        return RFN_E_UNSUPPORTED;
    places->words = calloc((size_t)places->n_slots * places->n_members + 1, sizeof *places->words);
    places->of_ranks = calloc((size_t)places->n_slots + 1, sizeof *places->of_ranks);
    places->roles = calloc((size_t)places->n_slots + 1, sizeof *places->roles);
    if (!places->words || !places->of_ranks || !places->roles)
        return RFN_E_NOMEM;
    return clustering->finder ? name_parameters(clustering->archive, structure, places) : 0;
}

/* Whether the sizes of a structure are those of the shape, as its hash says. */
static bool alike(const struct rfn_structure *structure, const struct rfn_structure *shape,
                  const struct places *places)
{
    bool same = !shape ||
                (shape->n_symbols == structure->n_symbols && shape->n_comms == structure->n_comms &&
                 shape->n_places == structure->n_places);
    return same && structure->n_places + structure->n_comms == places->n_slots;
}

/* Takes the members of a group, `most` at most, as those from `at` on, which becomes the number
 * behind them. shape: whose communicators the calls are to have; NULL: its own. */
static int take_group(const struct clustering *clustering, uint32_t group,
                      const struct rfn_structure *shape, uint32_t most, struct places *places,
                      uint32_t *at)
{
    const struct rfn_archive *archive = clustering->archive;
    struct rfn_part *structure, *table;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &structure, clustering->diag));
    int error = rfn_part_use(archive, RFN_CHUNK_PLACES, group, &structure->u.structure, &table,
                             clustering->diag);
    bool there = !error;
    if (there && !places->words)
        error = make_places(clustering, &structure->u.structure, places);
    if (error == RFN_E_NOMEM)
        error = no_memory(clustering);
    if (!error && !alike(&structure->u.structure, shape, places))
        error = RFN_E_UNSUPPORTED;
    uint32_t first = archive->first_member[group], n = archive->first_member[group + 1] - first;
    for (uint32_t i = 0; i < n && i < most && !error; i++) {
        int64_t rank = rfn_stream_word(archive, RFN_WORD_RANK, archive->members[first + i]);
        const struct rfn_member member = {archive, &structure->u.structure, &table->u.places, i,
                                          (uint32_t)rank};
        take_member(&member, shape ? shape : &structure->u.structure, places, (*at)++);
    }
    if (there)
        rfn_part_done(archive, table);
    rfn_part_done(archive, structure);
    return error;
}

static void release_places(struct places *places)
{
    free(places->words);
    free(places->of_ranks);
    free(places->roles);
    free(places->parameters);
    free(places->number_parameters);
}

/* STRUCTURE or VALUES, from a chunk of its own or from CLUSTERS. */
static int load_part(const struct clustering *clustering, uint32_t type, uint64_t id,
                     struct rfn_payload *payload)
{
    const struct rfn_toc_entry *chunk = chunk_of(clustering, type, id);
    if (chunk)
        return rfn_chunks_load(&clustering->archive->chunks, chunk, payload, clustering->diag);
    return rfn_part_load(clustering->archive, type, id, NULL, payload, clustering->diag);
}

/* ---- forced merging ---- */

/* The lowest rank of a shape, whose words all others get. */
struct lowest {
    struct rfn_part *structure; /* NULL: nothing is merged */
    struct rfn_payload payload;
    struct places places; /* of one member */
};

static uint32_t first_of_shape(const struct clustering *clustering, uint32_t at)
{
    while (at > 0 && clustering->groups[at - 1].shape == clustering->groups[at].shape)
        at--;
    return clustering->groups[at].number;
}

/* Of the shape of a group, by its place in the new order. To be released even after errors. */
static int find_lowest(const struct clustering *clustering, uint32_t at, struct lowest *lowest)
{
    uint32_t group = first_of_shape(clustering, at), behind = 0;
    *lowest = (struct lowest){.places.n_members = 1};
    if (!clustering->roles)
        return 0;
    RFN_TRY(rfn_part_use(clustering->archive, RFN_CHUNK_STRUCTURE, group, NULL, &lowest->structure,
                         clustering->diag));
    RFN_TRY(load_part(clustering, RFN_CHUNK_STRUCTURE, group, &lowest->payload));
    return take_group(clustering, group, NULL, 1, &lowest->places, &behind);
}

static void release_lowest(const struct clustering *clustering, struct lowest *lowest)
{
    if (lowest->structure)
        rfn_part_done(clustering->archive, lowest->structure);
    rfn_payload_release(&lowest->payload);
    release_places(&lowest->places);
}

/* Whose communicators calls are to have that are merged with it; NULL: their own. */
static const struct rfn_structure *shape_of(const struct clustering *clustering,
                                            const struct lowest *lowest)
{
    return clustering->roles & RFN_MERGED_COMM ? &lowest->structure->u.structure : NULL;
}

/* In place of the payload of a STRUCTURE. */
static int merge_structure(const struct clustering *clustering, const struct lowest *lowest,
                           struct rfn_payload *payload, struct rfn_pack_bytes *bytes)
{
    const struct rfn_pack_bytes reference = {lowest->payload.data, lowest->payload.size};
    struct rfn_buf out = RFN_BUF_INIT;
    if (!lowest->structure)
        return 0;
    int error = rfn_merge_structure(&clustering->archive->dictionary,
                                    &lowest->structure->u.structure, clustering->roles, bytes,
                                    &reference, &out);
    if (error) {
        rfn_buf_release(&out);
        return error;
    }
    free(payload->data);
    payload->data = out.data;
    payload->size = out.size;
    *bytes = (struct rfn_pack_bytes){out.data, out.size};
    return 0;
}

/* What comes to another communicator is in it. */
static void merge_places(const struct clustering *clustering, const struct lowest *lowest,
                         struct places *places)
{
    bool elsewhere = clustering->roles & RFN_MERGED_COMM;
    for (uint32_t slot = 0; slot < places->n_slots && lowest->structure; slot++) {
        unsigned role = places->roles[slot] & clustering->roles;
        for (uint32_t i = 0; i < places->n_members; i++) {
            struct rfn_rank_value *word = &places->words[(size_t)slot * places->n_members + i];
            word->value = rfn_merge_word(role, word, &lowest->places.words[slot]);
            if (elsewhere && places->of_ranks[slot] && word->size && word->value >= word->size)
                word->value %= word->size;
        }
    }
}

/* ---- packing a shape ---- */

/* What is read for it, and owned. */
struct material {
    const struct clustering *clustering;
    struct rfn_payload *payloads; /* structures, then values */
    struct rfn_pack_bytes *bytes; /* the same */
    uint32_t n, capacity;
    uint32_t *ranks;
    uint64_t size;
    struct places places;
};

static void release_material(struct material *material)
{
    for (uint32_t i = 0; i < material->n; i++)
        rfn_payload_release(&material->payloads[i]);
    free(material->payloads);
    free(material->bytes);
    free(material->ranks);
    release_places(&material->places);
}

static int load(struct material *material, uint32_t type, uint64_t id)
{
    const struct clustering *clustering = material->clustering;
    struct rfn_payload *payload = &material->payloads[material->n];
    RFN_TRY(load_part(clustering, type, id, payload));
    material->bytes[material->n++] = (struct rfn_pack_bytes){payload->data, payload->size};
    material->size += payload->size;
    return material->size > RAW_MOST ? RFN_E_UNSUPPORTED : 0;
}

static int load_set(void *context, uint32_t set)
{
    return load(context, RFN_CHUNK_VALUES, set);
}

/* All of the groups from..end - 1 in the new order. */
static int gather(struct material *material, uint32_t from, uint32_t end,
                  const struct lowest *lowest, bool *seen)
{
    const struct clustering *clustering = material->clustering;
    const struct rfn_archive *archive = clustering->archive;
    uint32_t at = 0;
    for (uint32_t i = from; i < end; i++) {
        uint32_t number = clustering->groups[i].number;
        uint32_t stream = archive->members[archive->first_member[number]];
        material->ranks[i - from] = (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, stream);
        RFN_TRY(load(material, RFN_CHUNK_STRUCTURE, number));
        RFN_TRY(merge_structure(clustering, lowest, &material->payloads[material->n - 1],
                                &material->bytes[material->n - 1]));
        RFN_TRY(take_group(clustering, number, shape_of(clustering, lowest), UINT32_MAX,
                           &material->places, &at));
    }
    if (lowest->structure && lowest->places.n_slots != material->places.n_slots)
        return RFN_E_UNSUPPORTED; /* they only have one hash */
    merge_places(clustering, lowest, &material->places);
    for (uint32_t i = from; i < end && clustering->groups[i].values; i++)
        RFN_TRY(each_set(archive, clustering->groups[i].number, seen, load_set, material));
    return 0;
}

static int make_material(struct material *material, uint32_t from, uint32_t end)
{
    const struct clustering *clustering = material->clustering;
    const uint32_t *first = clustering->archive->first_member;
    for (uint32_t i = from; i < end; i++) {
        uint32_t number = clustering->groups[i].number;
        material->places.n_members += first[number + 1] - first[number];
    }
    uint32_t most = end - from + material->places.n_members; /* at most a value set per member */
    material->payloads = calloc(most, sizeof *material->payloads);
    material->bytes = calloc(most, sizeof *material->bytes);
    material->ranks = calloc(end - from, sizeof *material->ranks);
    return material->payloads && material->bytes && material->ranks ? 0 : no_memory(clustering);
}

/* RFN_E_UNSUPPORTED: it cannot be packed, and is to stay as it is. */
static int add_shape(const struct clustering *clustering, struct rfn_clusters_packer *packer,
                     uint32_t from, uint32_t end, bool *seen)
{
    struct material material = {.clustering = clustering};
    struct lowest lowest;
    uint32_t n = end - from;
    int error = find_lowest(clustering, from, &lowest);
    if (!error)
        error = make_material(&material, from, end);
    if (!error)
        error = gather(&material, from, end, &lowest, seen);
    if (!error)
        error = rfn_clusters_add(
            packer, &(struct rfn_pack_shape){.n_groups = n,
                                             .n_sets = material.n - n,
                                             .n_members = material.places.n_members,
                                             .n_slots = material.places.n_slots,
                                             .structures = material.bytes,
                                             .ranks = material.ranks,
                                             .values = material.bytes + n,
                                             .places = material.places.words,
                                             .of_ranks = material.places.of_ranks,
                                             .finder = clustering->finder,
                                             .number_parameters = material.places.number_parameters,
                                             .n_number_parameters = material.places.n_numbers,
                                             .place_parameters = material.places.parameters});
    release_material(&material);
    release_lowest(clustering, &lowest);
    return error;
}

/* ---- a chunk ---- */

/* Where what is stored together ends that begins with this group. */
static uint32_t end_of_chunk(const struct clustering *clustering, uint32_t from)
{
    uint64_t stored = 0;
    uint32_t i = from;
    for (; i < clustering->archive->n_groups; i++) {
        const struct group *group = &clustering->groups[i];
        stored += group->stored;
        if (group->alone || (i > from && stored > TOGETHER))
            break;
    }
    return i > from ? i : from + 1;
}

static bool one_shape(const struct group *a, const struct group *b)
{
    return a->shape == b->shape && a->values == b->values;
}

static int add_shapes(const struct clustering *clustering, struct rfn_clusters_packer *packer,
                      uint32_t from, uint32_t end, bool *seen)
{
    for (uint32_t i = from, next; i < end; i = next) {
        for (next = i + 1; next < end; next++) {
            if (!one_shape(&clustering->groups[i], &clustering->groups[next]))
                break;
        }
        RFN_TRY(add_shape(clustering, packer, i, next, seen));
    }
    return 0;
}

static int add_payload(struct clustering *clustering, const struct rfn_clusters_packer *packer,
                       uint32_t from, uint32_t end, uint64_t before)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_clusters_pack(packer, before, &payload.bytes);
    if (!error && rfn_rope_size(&payload) > RFN_CLUSTERS_BYTES_MAX)
        error = RFN_E_UNSUPPORTED;
    if (!error)
        error = rfn_rewrite_add(clustering->rewrite, RFN_CHUNK_CLUSTERS, rfn_clusters_id(from, end),
                                &payload);
    rfn_rope_release(&payload);
    return error;
}

/* How many formulas are in chunks that stay. */
static uint64_t stored_formulas(const struct clustering *clustering)
{
    return clustering->finder ? clustering->finder->stored : 0;
}

static int forget_formulas(struct clustering *clustering, uint64_t stored)
{
    if (clustering->finder)
        clustering->finder->stored = stored;
    return 0;
}

/* Stores groups together if that is shorter. */
static int add_chunk(struct clustering *clustering, uint32_t from, uint32_t end, bool *seen)
{
    struct rfn_clusters_packer packer = {0};
    uint64_t before = 0, stored = stored_formulas(clustering);
    for (uint32_t i = from; i < end; i++)
        before += clustering->groups[i].cost;
    int error = add_shapes(clustering, &packer, from, end, seen);
    if (!error)
        error = add_payload(clustering, &packer, from, end, before);
    rfn_clusters_packer_release(&packer);
    if (error == RFN_E_UNSUPPORTED)
        return forget_formulas(clustering, stored);
    RFN_TRY(error);
    struct rfn_rewrite *rewrite = clustering->rewrite;
    bool shorter = rfn_chunk_bytes(&rewrite->chunks[rewrite->n - 1].entry) < before;
    if (!shorter) {
        rfn_rewrite_drop(rewrite);
        forget_formulas(clustering, stored);
    }
    for (uint32_t i = from; i < end; i++)
        clustering->groups[i].taken = shorter;
    return 0;
}

/* Returns whether any groups are stored together, or an error. */
static int add_together(struct clustering *clustering, bool *seen)
{
    size_t before = clustering->rewrite->n;
    for (uint32_t i = 0, next; i < clustering->archive->n_groups; i = next) {
        next = end_of_chunk(clustering, i);
        if (!clustering->groups[i].alone)
            RFN_TRY(add_chunk(clustering, i, next, seen));
    }
    return clustering->rewrite->n > before;
}

/* ---- what stays ---- */

/* What was in a CLUSTERS gets a chunk of its own. */
static int add_part(struct clustering *clustering, uint32_t type, uint64_t id, uint64_t new_id)
{
    const struct rfn_archive *archive = clustering->archive;
    struct rfn_part *structure = NULL;
    struct rfn_payload payload = {0};
    struct rfn_rope rope = RFN_ROPE_INIT;
    if (type == RFN_CHUNK_PLACES)
        RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, id, NULL, &structure, clustering->diag));
    int error = rfn_part_load(archive, type, id, structure ? &structure->u.structure : NULL,
                              &payload, clustering->diag);
    if (structure)
        rfn_part_done(archive, structure);
    RFN_TRY(error);
    rfn_buf_bytes(&rope.bytes, payload.data, payload.size);
    rfn_payload_release(&payload);
    error = rfn_buf_status(&rope.bytes);
    if (!error)
        error = rfn_rewrite_add(clustering->rewrite, type, new_id, &rope);
    rfn_rope_release(&rope);
    return error;
}

static int copy_as(struct clustering *clustering, uint32_t type, uint64_t id, uint64_t new_id)
{
    const struct rfn_chunks *chunks = &clustering->archive->chunks;
    int64_t entry = rfn_chunks_find(chunks, type, id);
    if (entry < 0 && clustering->known_shapes)
        return 0;
    if (entry < 0)
        return add_part(clustering, type, id, new_id);
    return rfn_rewrite_copy_as(clustering->rewrite, (size_t)entry, new_id);
}

/* The values of one group after the other. */
struct copying {
    struct clustering *clustering;
    const uint32_t *numbers;
};

static int copy_set(void *context, uint32_t set)
{
    struct copying *copying = context;
    return copy_as(copying->clustering, RFN_CHUNK_VALUES, set, copying->numbers[set]);
}

static int copy_rest(struct clustering *clustering, bool *seen)
{
    const struct rfn_archive *archive = clustering->archive;
    struct copying copying = {clustering, clustering->plan->sets};
    for (uint32_t i = 0; i < archive->n_groups; i++) {
        const struct group *group = &clustering->groups[i];
        uint32_t number = clustering->plan->groups[group->number];
        if (group->taken && group->values)
            continue;
        RFN_TRY(each_set(archive, group->number, seen, copy_set, &copying));
        if (group->taken)
            continue;
        RFN_TRY(copy_as(clustering, RFN_CHUNK_PLACES, group->number, number));
        RFN_TRY(copy_as(clustering, RFN_CHUNK_STRUCTURE, group->number, number));
    }
    return 0;
}

/* ---- the whole ---- */

/* Each turn goes over all value sets once. */
static bool *next_turn(const struct clustering *clustering, bool *seen)
{
    return memset(seen, 0, (clustering->archive->n_value_sets + (size_t)1) * sizeof *seen);
}

static int add_all(struct clustering *clustering, bool *seen)
{
    RFN_TRY(list_groups(clustering, next_turn(clustering, seen)));
    number_all(clustering, next_turn(clustering, seen));
    int together = add_together(clustering, next_turn(clustering, seen));
    RFN_TRY(together);
    if (!together)
        keep_numbers(clustering);
    return copy_rest(clustering, next_turn(clustering, seen));
}

int rfn_cluster_archive(const struct rfn_archive *archive,
                        const struct rfn_cluster_options *options, struct rfn_rewrite *rewrite,
                        struct rfn_cluster_plan *plan, struct rfn_diag *diag)
{
    struct clustering clustering = {.archive = archive,
                                    .known_shapes = options->shapes,
                                    .roles = options->merged_roles,
                                    .finder = options->finder,
                                    .rewrite = rewrite,
                                    .plan = plan,
                                    .shapes = RFN_MAP_INIT,
                                    .diag = diag};
    bool *seen = malloc((archive->n_value_sets + (size_t)1) * sizeof *seen);
    clustering.groups = calloc(archive->n_groups + (size_t)1, sizeof *clustering.groups);
    plan->groups = calloc(archive->n_groups + (size_t)1, sizeof *plan->groups);
    plan->sets = calloc(archive->n_value_sets + (size_t)1, sizeof *plan->sets);
    bool made = seen && clustering.groups && plan->groups && plan->sets;
    int error = made ? add_all(&clustering, seen) : RFN_E_NOMEM;
    free(seen);
    free(clustering.groups);
    rfn_map_release(&clustering.shapes);
    return error == RFN_E_NOMEM ? no_memory(&clustering) : error;
}

void rfn_cluster_plan_release(struct rfn_cluster_plan *plan)
{
    free(plan->groups);
    free(plan->sets);
}
