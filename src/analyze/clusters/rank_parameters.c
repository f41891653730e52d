/* Streams that share a value set have equal structures and columns. What takes reading columns,
 * signatures and the extremes of what varies, is found once per value set and kept. */
#include "analyze/clusters/rank_parameters.h"

#include "analyze/clusters/paper_signatures.h"
#include "archive/cursor/stream_signatures.h"
#include "archive/read/structure_walk.h"
#include "archive/write/forced_parameters.h"
#include "base/grow.h"
#include "refrain/clusters.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_ROOM = 1 << 20, THREAD_SHIFT = 20 };
/* Of lists; as many as inputs have values before they lie in columns. */
enum { PARTNERS_MOST = 64 };
enum { WORLD = -1 }; /* instead of the number of a communicator */

/* Least and most of an input's values that do not stand in the structure. */
struct extremes {
    bool there;
    int64_t least, most;
    int64_t *values; /* of ranks: the different ones, ascending, of lists as they came; else NULL */
    size_t n_values, capacity;
};

/* What a value set says. */
struct digest {
    uint64_t group; /* of the streams that have it */
    uint64_t signature;
    struct varying { /* inputs that vary or are lists, keys ascending */
        uint64_t key;
        struct extremes extremes;
    } * inputs;
    size_t n_inputs, capacity;
};

static uint64_t input_key(uint32_t symbol, unsigned input)
{
    return (uint64_t)symbol * RFN_PARAMS_MAX + input;
}

/* An input of a call path, of the rank that is being read. */
struct input {
    uint32_t number, role, width; /* words per entry */
    int64_t *words;
    size_t n_words, capacity;
    bool ranges; /* only least and most, which are the first two words */
};

struct path {
    uint64_t key;
    struct input *inputs;
    uint32_t n_inputs;
};

/* The call paths of a rank, of a main cluster's lowest. */
struct calls {
    size_t n;
    uint64_t *keys;
};

/* One stream. */
struct stream {
    uint32_t number, rank, thread, member;
    struct rfn_stream_parts parts;
    const struct rfn_structure *structure;
    const struct rfn_values *values;
    const struct rfn_member_table *rank_params;
    const struct digest *digest;
};

struct rfn_rank_parameters {
    const struct rfn_archive *archive;
    struct rfn_call_hashes call_hashes;
    enum rfn_parameter_form form;
    struct rfn_cluster_extremes extremes;
    struct rfn_map calls;   /* signature -> struct calls */
    bool stored;            /* the archive has signatures of the form */
    struct rfn_map paths;   /* key -> struct rfn_parameter_path, as an object */
    struct rfn_map digests; /* value set -> struct digest */
    struct rfn_map members; /* world rank and communicator -> rank there + 1 */
    struct path *of_rank;   /* of the rank that is being read, in order of the first call */
    size_t n_paths, capacity;
    struct rfn_map numbers; /* key -> place in of_rank */
};

/* ---- memory ---- */

static void free_digest(void *object)
{
    struct digest *digest = object;
    for (size_t i = 0; digest->inputs && i < digest->n_inputs; i++)
        free(digest->inputs[i].extremes.values);
    free(digest->inputs);
    free(digest);
}

static void free_calls(void *object)
{
    struct calls *calls = object;
    free(calls->keys);
    free(calls);
}

static void forget_rank(struct rfn_rank_parameters *parameters)
{
    for (size_t i = 0; i < parameters->n_paths; i++) {
        struct path *path = &parameters->of_rank[i];
        for (uint32_t k = 0; k < path->n_inputs; k++)
            free(path->inputs[k].words);
        free(path->inputs);
    }
    parameters->n_paths = 0;
    rfn_map_release(&parameters->numbers);
    parameters->numbers = (struct rfn_map)RFN_MAP_INIT;
}

struct rfn_rank_parameters *rfn_rank_parameters_new(const struct rfn_archive *archive,
                                                    struct rfn_cluster_form form)
{
    struct rfn_rank_parameters *parameters = calloc(1, sizeof *parameters);
    if (!parameters)
        return NULL;
    parameters->archive = archive;
    parameters->form = form.parameters;
    parameters->stored = form.paths == RFN_PATHS_ELASTIC && rfn_archive_is_signed(archive);
    if (rfn_call_hashes_init(&parameters->call_hashes, archive, form.paths) == 0)
        return parameters;
    free(parameters);
    return NULL;
}

void rfn_rank_parameters_free(struct rfn_rank_parameters *parameters)
{
    if (!parameters)
        return;
    forget_rank(parameters);
    rfn_map_release_objects(&parameters->paths, free);
    rfn_map_release_objects(&parameters->digests, free_digest);
    rfn_map_release_objects(&parameters->calls, free_calls);
    rfn_map_release(&parameters->members);
    rfn_call_hashes_release(&parameters->call_hashes);
    free(parameters->of_rank);
    free(parameters);
}

static int fault(const struct stream *stream, const struct rfn_archive *archive, int error,
                 const char *what, struct rfn_diag *diag)
{
    const struct rfn_payload *payload = &stream->values->payload;
    return rfn_fail(diag, error, (int64_t)payload->offset, (int)stream->rank,
                    "%s: %s at offset %" PRIu64 " (rank %" PRIu32 ", stream %" PRIu32 "): %s",
                    archive->chunks.path, error == RFN_E_CORRUPT ? "damaged" : "cannot read",
                    payload->offset, stream->rank, stream->number, what);
}

/* ---- which inputs are parameters ---- */

/* Lists of ranks are partners where a communicator is made of them: neighbours in a graph. */
static bool lists_partners(const struct rfn_function_info *function, unsigned input)
{
    return function->params[input].kind == (RFN_KIND_RANK | RFN_KIND_LIST) &&
           function->class_ == RFN_CLASS_COMM;
}

static uint32_t role_of(const struct rfn_function_info *function, unsigned input)
{
    return lists_partners(function, input) ? RFN_ROLE_PEER
                                           : (uint32_t)rfn_parameter_role(function, input);
}

/* ---- digests of value sets ---- */

static void widen(struct extremes *extremes, int64_t value)
{
    if (!extremes->there || value < extremes->least)
        extremes->least = value;
    if (!extremes->there || value > extremes->most)
        extremes->most = value;
    extremes->there = true;
}

static int compare_words(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keeps a value if it is not there yet. */
static int keep_value(struct extremes *extremes, struct rfn_map *seen, int64_t value)
{
    if (rfn_map_get(seen, (uint64_t)value))
        return 0;
    RFN_TRY(rfn_map_put(seen, (uint64_t)value, 1));
    RFN_TRY(RFN_GROW(extremes->values, extremes->capacity, extremes->n_values + 1));
    extremes->values[extremes->n_values++] = value;
    return 0;
}

/* What a column has: extremes, and with `all` each different value. */
static int read_values(struct rfn_column_cursor *column, bool all, struct extremes *extremes)
{
    struct rfn_map seen = RFN_MAP_INIT;
    int64_t value;
    int error = 0;
    for (uint64_t at = 0; at < column->n && !error; at = rfn_column_at(column)) {
        error = rfn_column_next(column, &value);
        if (!error && !column->packed.width)
            error = rfn_column_skip(column, column->left);
        if (error)
            break;
        widen(extremes, value);
        if (all)
            error = keep_value(extremes, &seen, value);
    }
    rfn_map_release(&seen);
    if (extremes->n_values)
        qsort(extremes->values, extremes->n_values, sizeof *extremes->values, compare_words);
    return error;
}

/* seen: if all values are to be kept, else NULL. */
static int widen_by_list(const struct stream *stream, struct rfn_list_reader *lists, int64_t number,
                         struct rfn_map *seen, struct extremes *extremes)
{
    struct rfn_list_copy *copy;
    bool made;
    if (number == 0 && !seen)
        widen(extremes, 0);
    if (number <= 0)
        return 0;
    if ((uint64_t)number > stream->values->lists.n)
        return RFN_E_CORRUPT;
    RFN_TRY(rfn_list_reader_find(lists, (uint64_t)number * RFN_LIST_FORMS, (uint64_t)number, &copy,
                                 &made));
    int error = 0;
    for (uint32_t i = 0; i < copy->n && !error; i++) {
        widen(extremes, copy->words[i]);
        if (seen)
            error = keep_value(extremes, seen, copy->words[i]);
    }
    return error;
}

static int digest_input(const struct stream *stream, const struct rfn_symbol_info *symbol,
                        unsigned input, uint8_t kind, struct rfn_list_reader *lists, size_t column,
                        struct rfn_map *seen, struct extremes *extremes)
{
    bool list = kind & RFN_KIND_LIST;
    if (!(symbol->moved >> input & 1))
        return list ? widen_by_list(stream, lists, symbol->in[input], seen, extremes) : 0;
    struct rfn_column_cursor cursor;
    const size_t *at = &stream->values->columns[column];
    RFN_TRY(rfn_payload_column(&stream->values->payload, at[0], at[1], &cursor));
    int error = list ? 0 : read_values(&cursor, kind == RFN_KIND_RANK, extremes);
    for (uint64_t k = 0; k < cursor.n && list && !error; k = rfn_column_at(&cursor)) {
        int64_t number;
        error = rfn_column_next(&cursor, &number);
        if (!error && !cursor.packed.width)
            error = rfn_column_skip(&cursor, cursor.left);
        if (!error)
            error = widen_by_list(stream, lists, number, seen, extremes);
    }
    rfn_column_close(&cursor);
    return error == RFN_E_RANGE ? RFN_E_CORRUPT : error;
}

static int digest_symbol(const struct rfn_archive *archive, const struct stream *stream,
                         struct rfn_list_reader *lists, uint32_t number, struct digest *digest)
{
    const struct rfn_symbol_info *symbol = &stream->structure->symbols[number];
    const struct rfn_function_info *function = &archive->dictionary.functions[symbol->function];
    size_t column = symbol->value;
    for (unsigned i = 0; i < function->n_in; i++) {
        bool moved = symbol->moved >> i & 1;
        uint8_t kind = function->params[i].kind;
        if (role_of(function, i) != RFN_ROLE_CALL && (moved || kind & RFN_KIND_LIST)) {
            RFN_TRY(RFN_GROW(digest->inputs, digest->capacity, digest->n_inputs + 1));
            struct varying *varying = &digest->inputs[digest->n_inputs++];
            *varying = (struct varying){.key = input_key(number, i)};
            struct rfn_map seen = RFN_MAP_INIT;
            int error = digest_input(stream, symbol, i, kind, lists, column,
                                     lists_partners(function, i) ? &seen : NULL,
                                     &varying->extremes);
            rfn_map_release(&seen);
            RFN_TRY(error);
        }
        column += moved;
    }
    return 0;
}

static const struct extremes *find_extremes(const struct digest *digest, uint64_t key)
{
    size_t low = 0, high = digest->n_inputs;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (digest->inputs[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    assert(low < digest->n_inputs && digest->inputs[low].key == key);
    return &digest->inputs[low].extremes;
}

/* The signature that the recorder has made, or a new one, and what fields need of a value set. */
static int make_digest(struct rfn_rank_parameters *parameters, const struct stream *stream,
                       struct digest *digest, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = parameters->archive;
    const uint64_t events = (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream->number);
    int error = 0;
    digest->signature = (uint64_t)rfn_stream_word(archive, RFN_WORD_SIGNATURE, stream->number);
    if (!parameters->stored)
        error = rfn_call_signature(&parameters->call_hashes, stream->structure, stream->values,
                                   events, NULL, &digest->signature);
    if (error == RFN_E_RANGE)
        return fault(stream, archive, RFN_E_UNSUPPORTED,
                     "loops are nested so that no signature can be computed", diag);
    if (error < 0)
        return fault(stream, archive, error, "trip counts are malformed", diag);
    if (parameters->form != RFN_PARAMETERS_FIELDS)
        return 0;
    struct rfn_list_reader *lists = rfn_list_reader_new(&stream->values->lists,
                                                        &stream->values->payload, LIST_ROOM);
    error = lists ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < stream->structure->n_symbols && !error; i++) {
        if (rfn_call_counts(archive, &stream->structure->symbols[i]))
            error = digest_symbol(archive, stream, lists, i, digest);
    }
    rfn_list_reader_free(lists);
    return error < 0 ? fault(stream, archive, error, "values of parameters are malformed", diag)
                     : 0;
}

static int use_digest(struct rfn_rank_parameters *parameters, struct stream *stream,
                      struct rfn_diag *diag)
{
    uint64_t set = (uint64_t)rfn_stream_word(parameters->archive, RFN_WORD_VALUES, stream->number);
    uint64_t group = (uint64_t)rfn_stream_word(parameters->archive, RFN_WORD_GROUP, stream->number);
    struct digest *digest = rfn_map_object(&parameters->digests, set);
    if (!digest) {
        digest = rfn_map_make_object(&parameters->digests, set, sizeof *digest);
        if (!digest)
            return RFN_E_NOMEM;
        digest->group = group;
        RFN_TRY(make_digest(parameters, stream, digest, diag));
    }
    if (digest->group != group)
        return fault(stream, parameters->archive, RFN_E_CORRUPT,
                     "its values are those of another structure", diag);
    stream->digest = digest;
    return 0;
}

/* ---- communicators ---- */

/* A local communicator as archive number, or -1. */
static int64_t comm_of(const struct stream *stream, int64_t local)
{
    if (local < 0 || local >= stream->structure->n_comms)
        return -1;
    return rfn_rank_param(stream->rank_params, stream->structure->n_rank_params + (size_t)local,
                          stream->member, 0);
}

/* Who calls, among whom: of a call without communicator, in the world. */
struct own {
    int64_t place, size, comm;
};

/* Of a rank in a communicator that it numbers so. */
static uint64_t member_key(uint32_t rank, int64_t comm)
{
    const int64_t words[] = {rank, comm};
    return rfn_hash_bytes(words, sizeof words);
}

static int find_own(struct rfn_rank_parameters *parameters, const struct stream *stream,
                    const struct rfn_symbol_info *symbol, const struct rfn_function_info *function,
                    struct own *own)
{
    const struct rfn_archive *archive = parameters->archive;
    int64_t local = -1;
    *own = (struct own){stream->rank, archive->dictionary.run.ranks, WORLD};
    for (unsigned i = 0; i < function->n_in; i++) {
        if (function->params[i].kind == RFN_KIND_COMM)
            local = symbol->moved >> i & 1 ? -1 : symbol->in[i];
    }
    int64_t comm = comm_of(stream, local);
    if (comm < 0 || rfn_archive_comm(archive, (uint32_t)comm)->kind == RFN_COMM_WORLD)
        return 0;
    int64_t place = rfn_comm_rank_of(archive, (uint32_t)comm, stream->rank);
    if (place < 0)
        return 0;
    *own = (struct own){place, rfn_comm_peers(archive, (uint32_t)comm, stream->rank),
                        local | (int64_t)stream->thread << THREAD_SHIFT};
    return rfn_map_put(&parameters->members, member_key(stream->rank, own->comm),
                       (uint64_t)place + 1);
}

int64_t rfn_rank_parameters_place(const struct rfn_rank_parameters *parameters, uint32_t rank,
                                  int64_t comm)
{
    if (comm == WORLD)
        return rank;
    const uint64_t *place = rfn_map_get(&parameters->members, member_key(rank, comm));
    return place ? (int64_t)*place - 1 : -1;
}

/* ---- one call path ---- */

/* The path of the rank's that a symbol belongs to; NULL: out of memory. */
static struct path *use_path(struct rfn_rank_parameters *parameters, const struct stream *stream,
                             const struct rfn_symbol_info *symbol)
{
    uint64_t words[] = {rfn_call_hash(&parameters->call_hashes, symbol->function, symbol->path),
                        stream->thread};
    uint64_t key = stream->thread ? rfn_hash_bytes(words, sizeof words) : words[0];
    const uint64_t *known = rfn_map_get(&parameters->numbers, key);
    if (known)
        return &parameters->of_rank[*known];
    struct rfn_parameter_path *where = rfn_map_object(&parameters->paths, key);
    if (!where && !(where = rfn_map_make_object(&parameters->paths, key, sizeof *where)))
        return NULL;
    if (RFN_GROW(parameters->of_rank, parameters->capacity, parameters->n_paths + 1) < 0 ||
        rfn_map_put(&parameters->numbers, key, parameters->n_paths) < 0)
        return NULL;
    *where = (struct rfn_parameter_path){stream->thread, symbol->function, symbol->path};
    struct path *path = &parameters->of_rank[parameters->n_paths++];
    const struct rfn_function_info *function =
        &parameters->archive->dictionary.functions[symbol->function];
    *path = (struct path){.key = key,
                          .inputs = calloc(function->n_in + (size_t)1, sizeof *path->inputs)};
    for (unsigned i = 0; i < function->n_in && path->inputs; i++) {
        const uint32_t role = role_of(function, i);
        const bool wide = role == RFN_ROLE_PEER || role == RFN_ROLE_COMM;
        if (role != RFN_ROLE_CALL)
            path->inputs[path->n_inputs++] = (struct input){.number = i,
                                                            .role = role,
                                                            .width = wide                     ? 3
                                                                     : role == RFN_ROLE_COUNT ? 2
                                                                                              : 1};
    }
    return path->inputs ? path : NULL;
}

/* Appends an entry unless it is there. */
static int add_entry(struct input *input, const int64_t *entry)
{
    size_t size = input->width * sizeof *entry;
    for (size_t i = 0; i < input->n_words; i += input->width) {
        if (!memcmp(input->words + i, entry, size))
            return 0;
    }
    RFN_TRY(RFN_GROW(input->words, input->capacity, input->n_words + input->width));
    memcpy(input->words + input->n_words, entry, size);
    input->n_words += input->width;
    return 0;
}

/* Widens what the first two words say. */
static int add_range(struct input *input, int64_t least, int64_t most)
{
    RFN_TRY(RFN_GROW(input->words, input->capacity, 2));
    if (input->n_words < 2 || least < input->words[0])
        input->words[0] = least;
    if (input->n_words < 2 || most > input->words[1])
        input->words[1] = most;
    input->n_words = 2;
    return 0;
}

static int64_t relative(int64_t word, const struct own *own)
{
    int64_t offset = (word - own->place) % own->size;
    return offset < 0 ? offset + own->size : offset;
}

static bool is_rank(int64_t word, const struct own *own)
{
    return word >= 0 && own->size > 0 && word < own->size;
}

/* What there was before of an input whose values are too many is forgotten: least and most of
 * what came since say enough. */
static int add_moved(struct input *input, const struct extremes *extremes, const struct own *own)
{
    if (!input->ranges && input->role != RFN_ROLE_COUNT)
        input->n_words = 0;
    if (!input->ranges && input->role == RFN_ROLE_PEER)
        input->role = RFN_ROLE_RANGE;
    input->ranges = true;
    if (input->role != RFN_ROLE_RANGE)
        return extremes->there ? add_range(input, extremes->least, extremes->most) : 0;
    for (size_t i = 0; i < extremes->n_values; i++) {
        int64_t word = extremes->values[i];
        int64_t offset = is_rank(word, own) ? relative(word, own) : word;
        RFN_TRY(add_range(input, offset, offset));
    }
    return 0;
}

/* A word that stands in the structure or in RANK_PARAMS. A special value instead of a partner
 * stands for one in the same communicator as others; what is neither is no partner. */
static int add_word(const struct rfn_archive *archive, const struct stream *stream,
                    struct input *input, int64_t word, const struct own *own)
{
    int64_t entry[3] = {word, own->size, own->comm};
    switch (input->role) {
    case RFN_ROLE_COMM: {
        const int64_t comm = comm_of(stream, word);
        const struct rfn_comm_info *info = comm < 0 ? NULL
                                                    : rfn_archive_comm(archive, (uint32_t)comm);
        entry[1] = info ? (int64_t)info->kind : -1;
        entry[2] = info ? info->size : 0;
        return input->ranges ? 0 : add_entry(input, entry);
    }
    case RFN_ROLE_PEER:
        if (is_rank(word, own)) {
            entry[0] = relative(word, own);
        } else if (word >= 0) {
            entry[1] = 0;
            entry[2] = WORLD;
        }
        return add_entry(input, entry);
    case RFN_ROLE_RANGE:
        word = is_rank(word, own) ? relative(word, own) : word;
        return add_range(input, word, word);
    case RFN_ROLE_COUNT:
        return add_range(input, word, word);
    default:
        return input->ranges ? add_range(input, word, word) : add_entry(input, entry);
    }
}

/* ---- one stream ---- */

static int add_input(struct rfn_rank_parameters *parameters, const struct stream *stream,
                     uint32_t number, struct input *input, size_t slot, const struct own *own)
{
    const struct rfn_symbol_info *symbol = &stream->structure->symbols[number];
    const struct rfn_function_info *function =
        &parameters->archive->dictionary.functions[symbol->function];
    uint8_t kind = function->params[input->number].kind;
    bool moved = symbol->moved >> input->number & 1;
    if (moved || kind & RFN_KIND_LIST) {
        const bool list = kind & RFN_KIND_LIST, partners = lists_partners(function, input->number);
        const struct extremes *extremes = find_extremes(stream->digest,
                                                        input_key(number, input->number));
        /* Where least and most are one value, no other is left out. Of short lists of partners each
         * value is kept, but not where it stood. */
        bool several = extremes->there && extremes->least < extremes->most;
        parameters->extremes.lists |= several && list;
        parameters->extremes.many_values |= several && moved && !list;
        if (partners ? moved || extremes->n_values > PARTNERS_MOST : moved && !list)
            return add_moved(input, extremes, own);
        for (size_t i = 0; i < extremes->n_values && partners; i++)
            RFN_TRY(add_word(parameters->archive, stream, input, extremes->values[i], own));
        return extremes->there && !partners ? add_range(input, extremes->least, extremes->most) : 0;
    }
    int64_t word = symbol->in[input->number];
    if (rfn_symbol_in_rank_params(symbol, function, input->number))
        word = rfn_rank_param(stream->rank_params, slot, stream->member,
                              kind == RFN_KIND_RANK ? own->place : stream->rank);
    return add_word(parameters->archive, stream, input, word, own);
}

static int add_symbol(struct rfn_rank_parameters *parameters, const struct stream *stream,
                      uint32_t number)
{
    const struct rfn_symbol_info *symbol = &stream->structure->symbols[number];
    const struct rfn_function_info *function =
        &parameters->archive->dictionary.functions[symbol->function];
    struct own own;
    if (!rfn_call_counts(parameters->archive, symbol))
        return 0;
    struct path *path = use_path(parameters, stream, symbol);
    if (!path)
        return RFN_E_NOMEM;
    if (parameters->form != RFN_PARAMETERS_FIELDS)
        return 0;
    RFN_TRY(find_own(parameters, stream, symbol, function, &own));
    size_t slot = symbol->rank_params;
    for (unsigned i = 0, k = 0; i < function->n_in && k < path->n_inputs; i++) {
        if (path->inputs[k].number == i)
            RFN_TRY(add_input(parameters, stream, number, &path->inputs[k++], slot, &own));
        slot += rfn_symbol_in_rank_params(symbol, function, i);
    }
    return 0;
}

static int read_stream(struct rfn_rank_parameters *parameters, uint32_t number, uint64_t *signature,
                       struct rfn_diag *diag)
{
    const struct rfn_archive *archive = parameters->archive;
    struct rfn_stream_info info = rfn_archive_stream(archive, number);
    struct stream stream = {.number = number,
                            .rank = info.rank,
                            .thread = info.thread,
                            .member = rfn_stream_place(archive, number)};
    int error = rfn_stream_parts_use(archive, number, &stream.parts, diag);
    if (!error) {
        stream.structure = stream.parts.structure;
        stream.rank_params = stream.parts.rank_params;
        stream.values = stream.parts.values;
        error = use_digest(parameters, &stream, diag);
    }
    for (uint32_t i = 0; !error && i < stream.structure->n_symbols; i++)
        error = add_symbol(parameters, &stream, i);
    if (!error)
        *signature = stream.digest->signature;
    rfn_stream_parts_done(archive, &stream.parts);
    return error;
}

/* ---- the rank ---- */

static int make_member(const struct rfn_rank_parameters *parameters,
                       struct rfn_cluster_member *member, struct rfn_clusters *clusters)
{
    size_t n_words = 0;
    for (size_t i = 0; i < parameters->n_paths; i++) {
        member->n_fields += 1 + parameters->of_rank[i].n_inputs;
        for (uint32_t k = 0; k < parameters->of_rank[i].n_inputs; k++)
            n_words += parameters->of_rank[i].inputs[k].n_words;
    }
    struct rfn_cluster_field *fields = calloc(member->n_fields + 1, sizeof *fields);
    int64_t *words = calloc(n_words + 1, sizeof *words);
    int error = fields && words ? 0 : RFN_E_NOMEM;
    member->fields = fields;
    member->words = words;
    for (size_t i = 0, f = 0, w = 0; i < parameters->n_paths && !error; i++) {
        const struct path *path = &parameters->of_rank[i];
        fields[f++] = (struct rfn_cluster_field){.path = path->key, .role = RFN_ROLE_CALL};
        for (uint32_t k = 0; k < path->n_inputs; k++) {
            const struct input *input = &path->inputs[k];
            fields[f++] = (struct rfn_cluster_field){path->key, input->number, input->role,
                                                     (uint32_t)input->n_words};
            if (input->n_words)
                memcpy(words + w, input->words, input->n_words * sizeof *words);
            w += input->n_words;
        }
    }
    if (!error)
        error = rfn_clusters_begin(clusters, member);
    free(fields);
    free(words);
    return error;
}

/* Ranks come in their order: the first one with a signature is the lowest of its main cluster. */
static int remember_calls(struct rfn_rank_parameters *parameters, uint64_t signature)
{
    if (rfn_map_object(&parameters->calls, signature))
        return 0;
    struct calls *calls = rfn_map_make_object(&parameters->calls, signature, sizeof *calls);
    if (!calls)
        return RFN_E_NOMEM;
    calls->keys = calloc(parameters->n_paths + 1, sizeof *calls->keys);
    if (!calls->keys)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < parameters->n_paths; i++)
        calls->keys[calls->n++] = parameters->of_rank[i].key;
    return 0;
}

int rfn_rank_parameters_read(struct rfn_rank_parameters *parameters, uint32_t first, uint32_t end,
                             struct rfn_clusters *clusters, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = parameters->archive;
    const bool paper = parameters->form == RFN_PARAMETERS_PAPER;
    const struct rfn_cluster_field field = {.role = RFN_ROLE_SIGNATURE, .n_words = paper ? 1 : 2};
    struct rfn_cluster_member member = {.rank = rfn_archive_stream(archive, first).rank};
    int64_t words[2];
    int error = 0;
    for (uint32_t i = first; i < end && !error; i++) {
        uint64_t own;
        error = read_stream(parameters, i, &own, diag);
        if (!error)
            member.signature = i == first ? own
                                          : rfn_archive_merge_signatures(member.signature, own);
        member.calls += rfn_archive_stream(archive, i).calls;
    }
    if (!error)
        error = remember_calls(parameters, member.signature);
    if (!error && parameters->form == RFN_PARAMETERS_FIELDS) {
        error = make_member(parameters, &member, clusters);
    } else if (!error) { /* the forms of the paper: one field */
        error = paper ? rfn_paper_parameters(archive, first, end, words, diag)
                      : rfn_reference_signature(archive, first, end, words, diag);
        member.fields = &field;
        member.n_fields = 1;
        member.words = words;
        if (!error)
            error = rfn_clusters_begin(clusters, &member);
    }
    forget_rank(parameters);
    if (error == RFN_E_NOMEM)
        rfn_fail(diag, error, -1, (int)member.rank, "%s", rfn_error_text(error));
    return error;
}

const struct rfn_parameter_path *
rfn_rank_parameters_path(const struct rfn_rank_parameters *parameters, uint64_t key)
{
    return rfn_map_object(&parameters->paths, key);
}

const uint64_t *rfn_rank_parameters_calls(const struct rfn_rank_parameters *parameters,
                                          uint64_t signature, size_t *n)
{
    const struct calls *calls = rfn_map_object(&parameters->calls, signature);
    *n = calls ? calls->n : 0;
    return calls ? calls->keys : NULL;
}

struct rfn_cluster_extremes
rfn_rank_parameters_extremes(const struct rfn_rank_parameters *parameters)
{
    return parameters->extremes;
}
