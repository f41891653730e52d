#include "reduce/merge/stream_classes.h"

#include "base/grow.h"
#include "base/map.h"
#include "reduce/clusters/path_signature.h"

#include <stdlib.h>

/* What is larger has a chunk of its own (archive/write/cluster_groups.c decides about that; these
 * only bound what ranks hand on), bytes before they are compressed. */
enum { SHAPE_MOST = 1 << 16, CONTENT_MOST = 1 << 12 };

void rfn_stream_classes_release(struct rfn_stream_classes *kinds)
{
    for (int k = 0; k < RFN_STREAM_KINDS; k++) {
        free(kinds->of[k].items);
        rfn_map_release(&kinds->of[k].by_key);
    }
    free(kinds->own);
    *kinds = (struct rfn_stream_classes){0};
}

/* ---- numbers ---- */

void rfn_mapping_release(struct rfn_mapping *mapping)
{
    free(mapping->things);
    *mapping = (struct rfn_mapping){0};
}

int rfn_mapping_add(struct rfn_mapping *mapping, uint32_t to, bool created)
{
    RFN_TRY(RFN_GROW(mapping->things, mapping->capacity, mapping->n + 1));
    mapping->things[mapping->n++] = (struct rfn_mapped){to, created};
    return 0;
}

int rfn_mapping_add_run(struct rfn_mapping *mapping, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        RFN_TRY(rfn_mapping_add(mapping, (uint32_t)(first + i), false));
    return 0;
}

void rfn_fates_write(const struct rfn_fate *fates, size_t n, struct rfn_buf *out)
{
    uint64_t expected = 0;
    for (size_t i = 0, count; i < n; i += count) {
        count = 1; /* things from i on that have consecutive numbers and the same bits */
        while (i + count < n && fates[i + count].bits == fates[i].bits &&
               fates[i + count].number == fates[i].number + count)
            count++;
        rfn_buf_varint(out, (uint64_t)count << 2 | fates[i].bits);
        rfn_buf_svarint(out, (int64_t)(fates[i].number - expected));
        expected = fates[i].number + count;
    }
}

int rfn_fates_read(struct rfn_fate *fates, size_t n, uint64_t total, struct rfn_reader *reader)
{
    uint64_t expected = 0;
    for (size_t i = 0; i < n;) {
        uint64_t head = rfn_reader_varint(reader), count = head >> 2;
        uint64_t number = expected + (uint64_t)rfn_reader_svarint(reader);
        if (reader->failed || count == 0 || count > n - i || number >= total ||
            count > total - number)
            return RFN_E_EXCHANGE;
        for (uint64_t k = 0; k < count; k++)
            fates[i++] = (struct rfn_fate){number + k, head & 3};
        expected = number + count;
    }
    return 0;
}

/* ---- things ---- */

static bool same(const struct rfn_stream_class_bit *a, const struct rfn_stream_class_bit *b)
{
    return rfn_hash128_equal(a->digest, b->digest) && a->of[0] == b->of[0] && a->of[1] == b->of[1];
}

/* Its place; *created says whether it is new. Different things with one key go under the next. */
static int add_thing(struct rfn_stream_class_bits *things, const struct rfn_stream_class_bit *thing,
                     uint32_t *place, bool *created)
{
    uint64_t key = rfn_hash_mix(rfn_hash_mix(thing->digest.low, thing->digest.high),
                                rfn_hash_mix(thing->of[0], thing->of[1]));
    const uint64_t *known = rfn_map_get(&things->by_key, key);
    for (; known && !same(&things->items[*known], thing);
         known = rfn_map_get(&things->by_key, ++key))
        ;
    *created = !known;
    *place = known ? (uint32_t)*known : (uint32_t)things->n;
    if (known) {
        /* That a stream had no signature does not hide that of another, and a stream of the
         * process's may be added after others have come up the tree. */
        struct rfn_stream_class_bit *item = &things->items[*known];
        if (item->signature == RFN_UNSIGNED)
            item->signature = thing->signature;
        if (item->stream == UINT32_MAX)
            item->stream = thing->stream;
        return 0;
    }
    RFN_TRY(RFN_GROW(things->items, things->capacity, things->n + 1));
    RFN_TRY(rfn_map_put(&things->by_key, key, things->n));
    things->items[things->n++] = *thing;
    return 0;
}

static int add_own(struct rfn_stream_classes *kinds, enum rfn_stream_class kind,
                   struct rfn_stream_class_bit thing, uint32_t *place)
{
    bool created;
    thing.stream = (uint32_t)kinds->n_own;
    return add_thing(&kinds->of[kind], &thing, place, &created);
}

int rfn_stream_classes_add(struct rfn_stream_classes *kinds,
                           const struct rfn_stream_digests *digests)
{
    uint32_t shape, content;
    struct rfn_own_classes own;
    RFN_TRY(RFN_GROW(kinds->own, kinds->capacity, kinds->n_own + 1));
    RFN_TRY(add_own(kinds, RFN_KIND_OF_SHAPE,
                    (struct rfn_stream_class_bit){.digest = {.low = digests->shape},
                                                  .signature = digests->signature,
                                                  .bytes = digests->shape_bytes},
                    &shape));
    RFN_TRY(add_own(
        kinds, RFN_KIND_OF_CONTENT,
        (struct rfn_stream_class_bit){.digest = digests->content, .bytes = digests->content_bytes},
        &content));
    RFN_TRY(add_own(kinds, RFN_KIND_OF_GROUP,
                    (struct rfn_stream_class_bit){.digest = digests->structure, .of = {shape}},
                    &own.group));
    RFN_TRY(add_own(
        kinds, RFN_KIND_OF_VALUES,
        (struct rfn_stream_class_bit){.signature = digests->signature, .of = {own.group, content}},
        &own.values));
    kinds->own[kinds->n_own++] = own;
    return 0;
}

int64_t rfn_stream_classes_bytes(const struct rfn_stream_classes *kinds)
{
    size_t bytes = kinds->capacity * sizeof *kinds->own;
    for (int k = 0; k < RFN_STREAM_KINDS; k++) {
        const struct rfn_stream_class_bits *things = &kinds->of[k];
        bytes += things->capacity * sizeof *things->items + rfn_map_bytes(&things->by_key);
    }
    return (int64_t)bytes;
}

/* ---- up ---- */

/* varint n, per thing:
 *   SHAPE    u64 digest, u64 signature, varint bytes
 *   CONTENT  u64 digest, twice, varint bytes
 *   GROUP    u64 digest, twice, varint shape
 *   VALUES   varint group, varint content * 2 + (0: the signature is that of the shape; 1: u64) */
static void write_thing(const struct rfn_stream_classes *kinds, enum rfn_stream_class kind,
                        const struct rfn_stream_class_bit *thing, struct rfn_buf *out)
{
    if (kind == RFN_KIND_OF_VALUES) {
        const struct rfn_stream_class_bit *group =
            &kinds->of[RFN_KIND_OF_GROUP].items[thing->of[0]];
        bool usual = thing->signature == kinds->of[RFN_KIND_OF_SHAPE].items[group->of[0]].signature;
        rfn_buf_varint(out, thing->of[0]);
        rfn_buf_varint(out, (uint64_t)thing->of[1] << 1 | !usual);
        if (!usual)
            rfn_buf_u64(out, thing->signature);
        return;
    }
    rfn_buf_u64(out, thing->digest.low);
    rfn_buf_u64(out, kind == RFN_KIND_OF_SHAPE ? thing->signature : thing->digest.high);
    rfn_buf_varint(out, kind == RFN_KIND_OF_GROUP ? thing->of[0] : thing->bytes);
}

void rfn_stream_classes_write(const struct rfn_stream_classes *kinds, struct rfn_buf *out)
{
    for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++) {
        rfn_buf_varint(out, kinds->of[k].n);
        for (size_t i = 0; i < kinds->of[k].n; i++)
            write_thing(kinds, k, &kinds->of[k].items[i], out);
    }
}

int rfn_stream_classes_hash(const struct rfn_stream_classes *kinds, uint64_t *hash)
{
    struct rfn_buf sent = RFN_BUF_INIT;
    rfn_stream_classes_write(kinds, &sent);
    const int error = rfn_buf_status(&sent);
    *hash = error ? 0 : rfn_hash_bytes(sent.data, sent.size);
    rfn_buf_release(&sent);
    return error;
}

int rfn_stream_classes_recognize(const struct rfn_stream_classes *kinds,
                                 struct rfn_mapping mappings[RFN_STREAM_KINDS])
{
    for (int k = 0; k < RFN_STREAM_KINDS; k++)
        RFN_TRY(rfn_mapping_add_run(&mappings[k], 0, kinds->of[k].n));
    return 0;
}

/* What a child says of its shapes and groups, by its numbers. */
struct told {
    uint64_t *signatures; /* of shapes */
    uint32_t *shapes;     /* of groups */
    size_t n_shapes, n_groups, shapes_capacity, groups_capacity;
};

/* What a child's number is here. */
static int read_reference(const struct rfn_mapping *mapping, uint64_t place, uint32_t *to)
{
    if (place >= mapping->n)
        return RFN_E_EXCHANGE;
    *to = mapping->things[place].to;
    return 0;
}

/* References become the node's own places. */
static int read_thing(enum rfn_stream_class kind, const struct rfn_mapping *mappings,
                      struct told *told, struct rfn_stream_class_bit *thing,
                      struct rfn_reader *reader)
{
    *thing = (struct rfn_stream_class_bit){.stream = UINT32_MAX};
    if (kind == RFN_KIND_OF_VALUES) {
        uint64_t group = rfn_reader_varint(reader), content = rfn_reader_varint(reader);
        RFN_TRY(read_reference(&mappings[RFN_KIND_OF_GROUP], group, &thing->of[0]));
        RFN_TRY(read_reference(&mappings[RFN_KIND_OF_CONTENT], content >> 1, &thing->of[1]));
        thing->signature = content & 1 ? rfn_reader_u64(reader)
                                       : told->signatures[told->shapes[group]];
        return reader->failed ? RFN_E_EXCHANGE : 0;
    }
    thing->digest.low = rfn_reader_u64(reader);
    uint64_t word = rfn_reader_u64(reader), last = rfn_reader_varint(reader);
    if (kind == RFN_KIND_OF_SHAPE) {
        thing->signature = word;
        RFN_TRY(RFN_GROW(told->signatures, told->shapes_capacity, told->n_shapes + 1));
        told->signatures[told->n_shapes++] = word;
    } else {
        thing->digest.high = word;
    }
    if (kind == RFN_KIND_OF_GROUP) {
        RFN_TRY(read_reference(&mappings[RFN_KIND_OF_SHAPE], last, &thing->of[0]));
        RFN_TRY(RFN_GROW(told->shapes, told->groups_capacity, told->n_groups + 1));
        told->shapes[told->n_groups++] = (uint32_t)last;
    } else {
        thing->bytes = last;
    }
    return reader->failed ? RFN_E_EXCHANGE : 0;
}

static int join_kind(struct rfn_stream_classes *kinds, enum rfn_stream_class kind,
                     struct rfn_mapping *mappings, struct told *told, struct rfn_reader *reader)
{
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    for (uint64_t i = 0; i < n; i++) {
        struct rfn_stream_class_bit thing;
        uint32_t place;
        bool created;
        RFN_TRY(read_thing(kind, mappings, told, &thing, reader));
        RFN_TRY(add_thing(&kinds->of[kind], &thing, &place, &created));
        RFN_TRY(rfn_mapping_add(&mappings[kind], place, created));
    }
    return reader->failed ? RFN_E_EXCHANGE : 0;
}

int rfn_stream_classes_join(struct rfn_stream_classes *kinds,
                            struct rfn_mapping mappings[RFN_STREAM_KINDS],
                            struct rfn_reader *reader)
{
    struct told told = {0};
    int error = 0;
    for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS && !error; k++)
        error = join_kind(kinds, k, mappings, &told, reader);
    free(told.signatures);
    free(told.shapes);
    return error;
}

/* ---- rank 0 ---- */

/* In order of first appearance, or of the numbers of what they refer to first. */
static int number_things(struct rfn_stream_class_bits *things,
                         const struct rfn_stream_class_bits *by)
{
    uint64_t *next = calloc(by->n + 2, sizeof *next);
    if (!next)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < things->n; i++)
        next[by->items[things->items[i].of[0]].fate.number + 1]++;
    for (size_t i = 0; i < by->n; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < things->n; i++)
        things->items[i].fate.number = next[by->items[things->items[i].of[0]].fate.number]++;
    free(next);
    return 0;
}

/* Those of a main cluster follow each other. */
static int number_shapes(struct rfn_stream_class_bits *shapes)
{
    size_t *next = calloc(shapes->n + 1, sizeof *next);
    uint64_t *signatures = malloc((shapes->n + 1) * sizeof *signatures);
    uint32_t *mains = malloc((shapes->n + 1) * sizeof *mains); /* the first with its signature */
    int error = next && signatures && mains ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < shapes->n && !error; i++)
        signatures[i] = shapes->items[i].signature;
    if (!error)
        error = rfn_first_equal(signatures, (uint32_t)shapes->n, mains);
    for (size_t i = 0; i < shapes->n && !error; i++)
        next[mains[i] + 1]++;
    for (size_t i = 0; i < shapes->n && !error; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < shapes->n && !error; i++)
        shapes->items[i].fate.number = next[mains[i]]++;
    free(mains);
    free(signatures);
    free(next);
    return error;
}

/* Of things whose users each get a copy on rank 0: those that are small enough, while there is room
 * for all copies. Users of those are together, too. */
static int choose(struct rfn_stream_class_bits *things, struct rfn_stream_class_bits *users,
                  unsigned reference, uint64_t most, uint64_t room)
{
    uint64_t *copies = calloc(things->n + 1, sizeof *copies);
    if (!copies)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < users->n; i++)
        copies[users->items[i].of[reference]]++;
    for (size_t i = 0; i < things->n; i++) {
        struct rfn_stream_class_bit *thing = &things->items[i];
        if (thing->bytes > most || (thing->bytes + 1) * copies[i] > room)
            continue;
        room -= (thing->bytes + 1) * copies[i];
        thing->fate.bits |= RFN_KIND_TOGETHER;
    }
    for (size_t i = 0; i < users->n; i++)
        users->items[i].fate.bits |= things->items[users->items[i].of[reference]].fate.bits &
                                     RFN_KIND_TOGETHER;
    free(copies);
    return 0;
}

int rfn_stream_classes_number(struct rfn_stream_classes *kinds, uint64_t together)
{
    struct rfn_stream_class_bits *of = kinds->of;
    for (int k = 0; k < RFN_STREAM_KINDS; k++) {
        struct rfn_stream_class_bits *things = &of[k];
        things->total = things->n;
        for (size_t i = 0; i < things->n; i++)
            things->items[i].fate = (struct rfn_fate){i, RFN_KIND_FIRST};
    }
    if (!together)
        return 0;
    RFN_TRY(number_shapes(&of[RFN_KIND_OF_SHAPE]));
    RFN_TRY(number_things(&of[RFN_KIND_OF_GROUP], &of[RFN_KIND_OF_SHAPE]));
    RFN_TRY(number_things(&of[RFN_KIND_OF_VALUES], &of[RFN_KIND_OF_GROUP]));
    RFN_TRY(choose(&of[RFN_KIND_OF_SHAPE], &of[RFN_KIND_OF_GROUP], 0, SHAPE_MOST, together));
    return choose(&of[RFN_KIND_OF_CONTENT], &of[RFN_KIND_OF_VALUES], 1, CONTENT_MOST, together);
}

/* ---- down ---- */

/* The child is first where it brought what this node is first to have. */
static int tell_kind(const struct rfn_stream_class_bits *things, const struct rfn_mapping *mapping,
                     struct rfn_buf *out)
{
    struct rfn_fate *fates = malloc((mapping->n + 1) * sizeof *fates);
    if (!fates)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < mapping->n; i++) {
        fates[i] = things->items[mapping->things[i].to].fate;
        if (!mapping->things[i].created)
            fates[i].bits &= (uint8_t)~RFN_KIND_FIRST;
    }
    rfn_buf_varint(out, things->total);
    rfn_fates_write(fates, mapping->n, out);
    free(fates);
    return rfn_buf_status(out);
}

int rfn_stream_classes_tell(const struct rfn_stream_classes *kinds,
                            const struct rfn_mapping mappings[RFN_STREAM_KINDS],
                            struct rfn_buf *out)
{
    for (int k = 0; k < RFN_STREAM_KINDS; k++)
        RFN_TRY(tell_kind(&kinds->of[k], &mappings[k], out));
    return 0;
}

static int learn_kind(struct rfn_stream_class_bits *things, struct rfn_reader *reader)
{
    struct rfn_fate *fates = malloc((things->n + 1) * sizeof *fates);
    if (!fates)
        return RFN_E_NOMEM;
    things->total = rfn_reader_varint(reader);
    int error = rfn_fates_read(fates, things->n, things->total, reader);
    for (size_t i = 0; i < things->n && !error; i++)
        things->items[i].fate = fates[i];
    free(fates);
    return error;
}

int rfn_stream_classes_learn(struct rfn_stream_classes *kinds, struct rfn_reader *reader)
{
    for (int k = 0; k < RFN_STREAM_KINDS; k++)
        RFN_TRY(learn_kind(&kinds->of[k], reader));
    return 0;
}

/* ---- in the end ---- */

struct rfn_stream_class_of rfn_stream_class_of(const struct rfn_stream_classes *kinds,
                                               size_t stream, enum rfn_stream_class kind)
{
    const struct rfn_own_classes *own = &kinds->own[stream];
    const struct rfn_stream_class_bit *group = &kinds->of[RFN_KIND_OF_GROUP].items[own->group];
    const struct rfn_stream_class_bit *values = &kinds->of[RFN_KIND_OF_VALUES].items[own->values];
    const struct rfn_stream_class_bit *things[RFN_STREAM_KINDS] = {
        [RFN_KIND_OF_SHAPE] = &kinds->of[RFN_KIND_OF_SHAPE].items[group->of[0]],
        [RFN_KIND_OF_CONTENT] = &kinds->of[RFN_KIND_OF_CONTENT].items[values->of[1]],
        [RFN_KIND_OF_GROUP] = group,
        [RFN_KIND_OF_VALUES] = values};
    const struct rfn_stream_class_bit *thing = things[kind];
    return (struct rfn_stream_class_of){.number = thing->fate.number,
                                        .first = thing->stream == stream &&
                                                 thing->fate.bits & RFN_KIND_FIRST,
                                        .together = thing->fate.bits & RFN_KIND_TOGETHER};
}

uint64_t *rfn_stream_classes_signatures(const struct rfn_stream_classes *kinds)
{
    const struct rfn_stream_class_bits *sets = &kinds->of[RFN_KIND_OF_VALUES];
    uint64_t *signatures = calloc(sets->n + 1, sizeof *signatures);
    for (size_t i = 0; i < sets->n && signatures; i++)
        signatures[sets->items[i].fate.number] = sets->items[i].signature;
    return signatures;
}
