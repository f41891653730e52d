#include "reduce/merge/process_groups.h"

#include "base/grow.h"

#include <stdlib.h>

/* ---- lists ---- */

void rfn_time_sets_release(struct rfn_time_sets *sets)
{
    for (size_t i = 0; i < sets->n; i++)
        rfn_buf_release(&sets->sets[i].copy);
    free(sets->sets);
    *sets = (struct rfn_time_sets){0};
}

struct rfn_hash128 rfn_time_class(const struct rfn_stream_profile *profile, uint64_t group,
                                  bool volume)
{
    struct rfn_hash128 sequence = rfn_stream_profile_sequence(profile);
    const uint64_t words[] = {sequence.low, sequence.high, group, volume};
    return rfn_hash128_bytes(words, sizeof words);
}

/* Takes the set over, with its copy. */
static int append(struct rfn_time_sets *sets, const struct rfn_time_set *set)
{
    RFN_TRY(RFN_GROW(sets->sets, sets->capacity, sets->n + 1));
    sets->sets[sets->n++] = *set;
    sets->bytes += set->copy.size;
    return 0;
}

int rfn_time_sets_add(struct rfn_time_sets *sets, uint64_t stream, struct rfn_hash128 class_,
                      const struct rfn_stream_profile *profile, const struct rfn_time_line *line,
                      size_t max_bytes)
{
    struct rfn_time_set set = {.stream = stream, .class_ = class_};
    int made = rfn_profile_copy_make(profile, line, max_bytes, &set.copy);
    if (made > 0 && append(sets, &set) < 0)
        made = RFN_E_NOMEM;
    if (made <= 0)
        rfn_buf_release(&set.copy);
    return made;
}

int rfn_time_sets_add_class(struct rfn_time_sets *sets, uint64_t stream, struct rfn_hash128 class_)
{
    return append(sets, &(struct rfn_time_set){.stream = stream, .class_ = class_});
}

/* ---- joining ---- */

static int matches(const struct rfn_time_set *left, struct rfn_profile_copy *right,
                   const struct rfn_criterion *criterion)
{
    struct rfn_profile_copy *copy;
    RFN_TRY(rfn_profile_copy_open(&left->copy, &copy));
    int same = rfn_profile_copies_alike(criterion, copy, right);
    rfn_profile_copy_close(copy);
    return same;
}

/* Looks for the first set that matches. 1 and *place, or 0 and how many there are of the class, or
 * an error. */
static int search(const struct rfn_time_sets *left, const struct rfn_time_set *right,
                  const struct rfn_criterion *criterion, uint32_t *place, size_t *of_class)
{
    struct rfn_profile_copy *copy = NULL;
    int same = 0;
    *of_class = 0;
    for (size_t i = 0; i < left->n && !same; i++) {
        if (!rfn_hash128_equal(left->sets[i].class_, right->class_))
            continue;
        same = criterion->method->all_alike;
        if (!same && !copy)
            same = rfn_profile_copy_open(&right->copy, &copy);
        if (!same)
            same = matches(&left->sets[i], copy, criterion);
        *place = (uint32_t)i;
        ++*of_class;
    }
    rfn_profile_copy_close(copy);
    return same;
}

/* Moves a set to the list, or frees it if it joins one, or there is no room. */
static int put(struct rfn_time_sets *left, struct rfn_time_set *right,
               const struct rfn_criterion *criterion, size_t max_bytes, uint32_t *joined)
{
    size_t of_class;
    int same = search(left, right, criterion, joined, &of_class);
    RFN_TRY(same);
    bool room = of_class < RFN_TIME_SETS_OF_CLASS &&
                (!max_bytes || left->bytes + right->copy.size <= max_bytes);
    if (!same && room) {
        *joined = (uint32_t)left->n;
        RFN_TRY(append(left, right));
        right->copy = (struct rfn_buf)RFN_BUF_INIT;
    } else if (!same) {
        *joined = RFN_TIME_SET_ALONE;
    }
    rfn_buf_release(&right->copy);
    return 0;
}

int rfn_time_sets_join(struct rfn_time_sets *left, struct rfn_time_sets *right,
                       const struct rfn_criterion *criterion, size_t max_bytes, uint32_t *joined)
{
    int error = 0;
    for (size_t i = 0; i < right->n && !error; i++)
        error = put(left, &right->sets[i], criterion, max_bytes, &joined[i]);
    rfn_time_sets_release(right);
    return error;
}

/* ---- along the tree ---- */

/* What became of sets that were joined: as rfn_time_sets_join says. */
struct joined {
    uint32_t *place;
    size_t n;
};

struct way {
    struct rfn_process_groups *groups;
    struct rfn_exchange *exchange;
    struct rfn_time_sets list; /* of this process and the children so far */
    uint64_t alone;            /* streams and sets below that are in no list any more */
    struct joined own, children[RFN_EXCHANGE_CHILDREN];
    uint64_t *streams; /* per set of the list: whose times are its own, in the end */
    size_t n_streams;
};

static int join(struct way *way, struct rfn_time_sets *right, struct joined *joined)
{
    joined->n = right->n;
    joined->place = calloc(right->n + 1, sizeof *joined->place);
    if (!joined->place)
        return RFN_E_NOMEM;
    size_t before = way->list.bytes;
    int error = rfn_time_sets_join(&way->list, right, way->groups->criterion,
                                   way->groups->max_bytes, joined->place);
    rfn_exchange_hold(way->exchange, (int64_t)(way->list.bytes - before));
    for (size_t i = 0; i < joined->n && !error; i++)
        way->alone += joined->place[i] == RFN_TIME_SET_ALONE;
    return error;
}

/* A message: alone; sets until its end, each u64 and u64 class, varint stream, blob copy. */

static int read_set(struct rfn_time_sets *sets, struct rfn_reader *reader)
{
    struct rfn_time_set set = {.class_ = {rfn_reader_u64(reader), 0}};
    size_t size;
    set.class_.high = rfn_reader_u64(reader);
    set.stream = rfn_reader_varint(reader);
    const uint8_t *bytes = rfn_reader_blob(reader, &size);
    if (reader->failed)
        return RFN_E_EXCHANGE;
    rfn_buf_bytes(&set.copy, bytes, size);
    int error = rfn_buf_status(&set.copy);
    if (!error)
        error = append(sets, &set);
    if (error)
        rfn_buf_release(&set.copy);
    return error;
}

static int merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    struct rfn_time_sets right = {0};
    way->alone += rfn_reader_varint(&reader);
    int error = 0;
    while (!error && rfn_reader_left(&reader))
        error = read_set(&right, &reader);
    if (!error)
        error = reader.failed ? RFN_E_EXCHANGE : join(way, &right, &way->children[child]);
    rfn_time_sets_release(&right);
    return error;
}

/* Of the list, what is not needed on the way down. */
static void forget_copies(struct way *way)
{
    rfn_exchange_hold(way->exchange, -(int64_t)way->list.bytes);
    for (size_t i = 0; i < way->list.n; i++)
        rfn_buf_release(&way->list.sets[i].copy);
    way->list.bytes = 0;
}

static int write(void *state, struct rfn_buf *out)
{
    struct way *way = state;
    rfn_buf_varint(out, way->alone);
    for (size_t i = 0; i < way->list.n; i++) {
        const struct rfn_time_set *set = &way->list.sets[i];
        rfn_buf_u64(out, set->class_.low);
        rfn_buf_u64(out, set->class_.high);
        rfn_buf_varint(out, set->stream);
        rfn_buf_blob(out, set->copy.data, set->copy.size);
    }
    forget_copies(way);
    return rfn_buf_status(out);
}

static int make_streams(struct way *way)
{
    way->n_streams = way->list.n;
    way->streams = calloc(way->list.n + 1, sizeof *way->streams);
    for (size_t i = 0; way->streams && i < way->list.n; i++)
        way->streams[i] = way->list.sets[i].stream;
    return way->streams ? 0 : RFN_E_NOMEM;
}

static int turn(void *state)
{
    struct way *way = state;
    way->groups->n_sets = way->alone + way->list.n;
    forget_copies(way);
    return make_streams(way);
}

/* Per set that the child sent: 0 if it is alone now, else 1 + the stream. */
static int write_down(void *state, int child, struct rfn_buf *out)
{
    const struct way *way = state;
    const struct joined *joined = &way->children[child];
    for (size_t i = 0; i < joined->n; i++) {
        uint32_t place = joined->place[i];
        rfn_buf_varint(out, place == RFN_TIME_SET_ALONE ? 0 : way->streams[place] + 1);
    }
    return rfn_buf_status(out);
}

static int read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    RFN_TRY(make_streams(way));
    for (size_t i = 0; i < way->list.n; i++) {
        uint64_t stream = rfn_reader_varint(&reader);
        if (stream)
            way->streams[i] = stream - 1;
    }
    return reader.failed ? RFN_E_EXCHANGE : 0;
}

int rfn_process_groups_run(struct rfn_process_groups *groups, struct rfn_exchange *exchange,
                           int error)
{
    static const struct rfn_round round = {.merge = merge,
                                           .write = write,
                                           .turn = turn,
                                           .write_down = write_down,
                                           .read_down = read_down};
    struct way way = {.groups = groups, .exchange = exchange, .alone = groups->alone};
    size_t n = groups->sets.n;
    uint64_t *numbers = calloc(n + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++)
        numbers[i] = groups->sets.sets[i].stream;
    /* The streams of a process come one after the other, as processes do. */
    struct rfn_time_sets own = groups->sets;
    groups->sets = (struct rfn_time_sets){0};
    if (!error)
        error = numbers ? join(&way, &own, &way.own) : RFN_E_NOMEM;
    rfn_time_sets_release(&own);
    error = rfn_exchange_round(exchange, &round, &way, error);
    for (size_t i = 0; i < way.own.n && !error; i++) {
        uint32_t place = way.own.place[i];
        if (place != RFN_TIME_SET_ALONE)
            numbers[i] = way.streams[place];
    }
    forget_copies(&way);
    rfn_time_sets_release(&way.list);
    free(way.own.place);
    for (int i = 0; i < RFN_EXCHANGE_CHILDREN; i++)
        free(way.children[i].place);
    free(way.streams);
    if (error)
        free(numbers);
    groups->streams = error ? NULL : numbers;
    return error;
}

void rfn_process_groups_release(struct rfn_process_groups *groups)
{
    rfn_time_sets_release(&groups->sets);
    free(groups->streams);
    groups->streams = NULL;
}
