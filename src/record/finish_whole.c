#include "record/finish_whole.h"

#include "record/options.h"
#include "record/place.h"
#include "record/say.h"

/* A message, and what rank 0 only looks at where it has nothing like it (part):
 *   u64 wishes
 *   the digests of its stream: u64 signature, shape; twice u64 structure; twice u64 content
 *   svarint words, of STREAMS; u64 hash of the host
 *   varint n communicators; table of PLACES: its last words are hashes of these
 *   u8 whether it has times; then varint offset and size as stored of TIMING
 *   what is counted: rfn_collection_write_counts, varint peak of memory
 * part:
 *   varint n datatypes; table of numbers that may differ in groups of a shape: the first ones are
 *     hashes of these
 *   blob places of these numbers; blob STRUCTURE, with hashes
 *   blob VALUES
 * A table: varint n, per word rfn_runs_write. */
enum { MESSAGE, PART };

static int take(void *context, int rank, int part, const uint8_t *bytes, size_t size, bool *wants);

/* ---- what a rank sends ---- */

static bool may_send(const struct rec_finishing *finish)
{
    const uint64_t wishes = rec_finishing_own_wishes();
    return finish->description.n_streams == 1 && wishes & WANTS_FILE &&
           !(wishes & (WANTS_ALL | WANTS_REDUCED)) && rec_options.cluster &&
           !rfn_stream_any_moved(finish->description.streams->stream->events) &&
           rfn_stream_is_small(&finish->packed->digests);
}

static void write_digests(const struct rfn_stream_digests *digests, struct rfn_buf *out)
{
    rfn_buf_u64(out, digests->signature);
    rfn_buf_u64(out, digests->shape);
    rfn_buf_u64(out, digests->structure.low);
    rfn_buf_u64(out, digests->structure.high);
    rfn_buf_u64(out, digests->content.low);
    rfn_buf_u64(out, digests->content.high);
}

static void write_table(const struct rfn_table *table, struct rfn_buf *out)
{
    rfn_buf_varint(out, table->n_slots);
    for (size_t s = 0; s < table->n_slots; s++)
        rfn_runs_write(&table->slots[s], out);
}

/* A table of a stream, which has one word in each of its sequences. `known`: how many of them are
 * hashes. */
static int write_words(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       size_t (*count)(const struct rfn_stream *stream,
                                       const struct rfn_pack_refs *refs),
                       int (*pack)(const struct rfn_stream *stream,
                                   const struct rfn_pack_refs *refs, struct rfn_table *table),
                       size_t known, struct rfn_buf *out)
{
    struct rfn_tables tables;
    RFN_TRY(rfn_tables_init(&tables, 1));
    struct rfn_table *table = rfn_tables_use(&tables, 0, count(stream, refs));
    int error = table ? pack(stream, refs, table) : RFN_E_NOMEM;
    rfn_buf_varint(out, known);
    if (!error)
        write_table(table, out);
    rfn_tables_release(&tables);
    return error;
}

static int write_structure(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                           struct rfn_buf *out)
{
    struct rec_structure structure = REC_STRUCTURE_INIT;
    int error = rec_structure_pack(stream, refs, &structure);
    if (!error) {
        rfn_buf_blob(out, structure.places.data, structure.places.size);
        rfn_buf_blob(out, structure.numbers.data, structure.numbers.size);
    }
    rec_structure_release(&structure);
    return error;
}

static int write_values(const struct rfn_rope *values, struct rfn_buf *out)
{
    struct rfn_buf flat = RFN_BUF_INIT;
    rfn_rope_flatten(values, &flat);
    int error = rfn_buf_status(&flat);
    rfn_buf_blob(out, flat.data, flat.size);
    rfn_buf_release(&flat);
    return error;
}

/* They stand in the file, if there are any. */
static int write_times(struct rec_whole *whole, struct rfn_buf *out)
{
    const struct rec_ahead *ahead = whole->ahead;
    struct rfn_rope times = RFN_ROPE_INIT;
    int error = 0;
    if (!ahead->whole && rec_options.times)
        return RFN_E_UNSUPPORTED;
    if (!ahead->whole) {
        error = rec_pack_times(whole->finish->description.streams->stream->events, NULL, &times);
        error = error ? error : rfn_rope_size(&times) ? RFN_E_UNSUPPORTED : 0;
        rfn_rope_release(&times);
    }
    whole->finish->packed->timing_bytes = ahead->whole ? ahead->entry.stored_size : 0;
    rfn_buf_u8(out, ahead->whole);
    if (ahead->whole) {
        rfn_buf_varint(out, ahead->entry.offset);
        rfn_buf_varint(out, ahead->entry.stored_size);
    }
    return error;
}

static int write_message(struct rec_whole *whole, const struct rfn_pack_refs *refs,
                         struct rfn_buf *out)
{
    const struct rec_finishing *finish = whole->finish;
    int64_t words[RFN_STREAM_SLOTS];
    rec_finishing_words(finish, 0, words);
    rfn_buf_u64(out, rec_finishing_own_wishes());
    write_digests(&finish->packed->digests, out);
    for (int s = 0; s < RFN_STREAM_SLOTS; s++)
        rfn_buf_svarint(out, words[s]);
    rfn_buf_u64(out, finish->description.host);
    RFN_TRY(write_words(finish->description.streams->stream->events, refs, rfn_pack_places_count,
                        rfn_pack_places, refs->n_comms, out));
    RFN_TRY(write_times(whole, out));
    return rfn_buf_status(out);
}

static int write_part(const struct rec_finishing *finish, const struct rfn_pack_refs *refs,
                      struct rfn_buf *out)
{
    const struct rfn_stream *stream = finish->description.streams->stream->events;
    RFN_TRY(
        write_words(stream, refs, rfn_pack_numbers_count, rfn_pack_numbers, refs->n_types, out));
    RFN_TRY(write_structure(stream, refs, out));
    RFN_TRY(write_values(&finish->packed->values, out));
    return rfn_buf_status(out);
}

int rec_whole_begin(struct rec_whole *whole, struct rec_finishing *finish, struct rec_ahead *ahead,
                    int error)
{
    *whole = (struct rec_whole){
        .finish = finish, .ahead = ahead, .gathering = {.take = take, .state = whole}, .fd = -1};
    if (error || !may_send(finish))
        return error ? error : RFN_E_UNSUPPORTED;
    struct rfn_pack_refs refs = finish->description.streams->refs;
    refs.comms = (const int64_t *)finish->description.comm_hashes;
    RFN_TRY(write_message(whole, &refs, &whole->gathering.own[MESSAGE]));
    return write_part(finish, &refs, &whole->gathering.own[PART]);
}

static void release_own(struct rec_whole *whole)
{
    for (int part = 0; part < RFN_GATHERED_PARTS; part++)
        rfn_buf_release(&whole->gathering.own[part]);
}

void rec_whole_release(struct rec_whole *whole)
{
    release_own(whole);
    rfn_buf_release(&whole->standing);
}

/* What merging up the tree has taken is known when it is over. */
static void write_counts(struct rec_whole *whole)
{
    struct rfn_collection counted = {.step = RFN_MERGING_TABLES};
    rec_finishing_count(whole->finish, &counted);
    rfn_collection_write_counts(&counted, &whole->gathering.own[MESSAGE]);
    rfn_buf_varint(&whole->gathering.own[MESSAGE], whole->finish->exchange->peak);
}

/* ---- what rank 0 takes ---- */

static struct rfn_stream_digests read_digests(struct rfn_reader *reader)
{
    struct rfn_stream_digests digests = {0};
    digests.signature = rfn_reader_u64(reader);
    digests.shape = rfn_reader_u64(reader);
    digests.structure.low = rfn_reader_u64(reader);
    digests.structure.high = rfn_reader_u64(reader);
    digests.content.low = rfn_reader_u64(reader);
    digests.content.high = rfn_reader_u64(reader);
    return digests;
}

/* Whether all that the rank's stream has is small enough, and there is room for it. */
static bool all_together(const struct rfn_stream_kinds *kinds, size_t stream)
{
    bool all = true;
    for (enum rfn_stream_kind kind = 0; kind < RFN_STREAM_KINDS; kind++)
        all = all && rfn_stream_fate(kinds, stream, kind).together;
    return all;
}

/* The number of a definition for its hash. */
static int read_number(const struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t hash,
                       int64_t *number)
{
    *number = rfn_merge_number(merge, kind, hash);
    return *number < 0 ? RFN_E_EXCHANGE : 0;
}

/* The next word of a table that has one in each sequence. */
static int read_word(struct rfn_reader *reader, int64_t *word)
{
    struct rfn_runs runs = RFN_RUNS_INIT;
    int error = rfn_runs_join(&runs, reader);
    if (!error && (runs.n != 1 || runs.runs->count != 1 || !runs.runs->is_absolute))
        error = RFN_E_EXCHANGE;
    *word = error ? 0 : runs.runs->absolute;
    rfn_runs_release(&runs);
    return error;
}

static int take_words(struct rec_finishing *finish, size_t rank, struct rfn_reader *reader)
{
    int64_t words[RFN_STREAM_SLOTS], host;
    for (int s = 0; s < RFN_STREAM_SLOTS; s++)
        words[s] = rfn_reader_svarint(reader);
    words[RFN_SLOT_END] = rec_options.times ? rec_gathered.came : 0; /* all ranks' */
    RFN_TRY(read_number(&finish->merge, RFN_DEFINITION_HOST, rfn_reader_u64(reader), &host));
    return rec_finishing_add_words(finish, rank, rank, (uint64_t)host, words);
}

static int take_places(struct rec_finishing *finish, size_t rank, struct rfn_reader *reader)
{
    const uint64_t group = rfn_stream_fate(&finish->merge.streams, rank, RFN_KIND_OF_GROUP).number;
    const uint64_t n_comms = rfn_reader_varint(reader);
    const uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    if (reader->failed || n_comms > n)
        return RFN_E_EXCHANGE;
    struct rfn_table *places = rfn_tables_use(&finish->places, (size_t)group, n);
    if (!places)
        return RFN_E_NOMEM;
    for (uint64_t s = 0; s < n - n_comms; s++)
        RFN_TRY(rfn_runs_join(&places->slots[s], reader));
    for (uint64_t s = n - n_comms; s < n; s++) {
        int64_t hash, number;
        RFN_TRY(read_word(reader, &hash));
        RFN_TRY(read_number(&finish->merge, RFN_DEFINITION_COMM, (uint64_t)hash, &number));
        RFN_TRY(rfn_runs_append(&places->slots[s], number, false, 0));
    }
    return 0;
}

/* Numbers that may differ, where another group of the shape has been there. */
static int take_numbers(struct rec_finishing *finish, const struct rec_brings *brings,
                        struct rfn_reader *reader)
{
    struct rfn_table *table = NULL;
    const uint64_t n_types = rfn_reader_varint(reader);
    const uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    if (!reader->failed && brings->numbers)
        table = rfn_tables_use(&finish->together.numbers, (size_t)brings->of_shape, n);
    if (!reader->failed && brings->numbers && !table)
        return RFN_E_NOMEM;
    for (uint64_t s = 0; s < n; s++) {
        int64_t number;
        RFN_TRY(read_word(reader, &number));
        if (s < n_types)
            RFN_TRY(
                read_number(&finish->merge, RFN_DEFINITION_DATATYPE, (uint64_t)number, &number));
        if (table)
            RFN_TRY(rfn_runs_append(&table->slots[s], number, false, 0));
    }
    return reader->failed ? RFN_E_EXCHANGE : 0;
}

static int take_structure(struct rec_finishing *finish, const struct rec_brings *brings,
                          struct rfn_reader *reader)
{
    struct rec_structure structure = REC_STRUCTURE_INIT;
    size_t n_places, n_hashed;
    const uint8_t *places = rfn_reader_blob(reader, &n_places);
    const uint8_t *hashed = rfn_reader_blob(reader, &n_hashed);
    if (reader->failed || !brings->shape)
        return reader->failed ? RFN_E_EXCHANGE : 0;
    rfn_buf_bytes(&structure.places, places, n_places);
    int error = rfn_buf_status(&structure.places);
    if (!error)
        error = rfn_pack_structure_numbers(&finish->merge, hashed, n_hashed, &structure.numbers);
    if (!error)
        error = rec_together_add_shape(&finish->together, brings->of_shape, &structure);
    rec_structure_release(&structure);
    return error;
}

static int take_values(struct rec_finishing *finish, const struct rec_brings *brings,
                       struct rfn_reader *reader)
{
    size_t size;
    const uint8_t *values = rfn_reader_blob(reader, &size);
    if (reader->failed)
        return RFN_E_EXCHANGE;
    return brings->content
               ? rec_together_add_content(&finish->together, brings->of_content, values, size)
               : 0;
}

static int take_times(struct rec_whole *whole, size_t rank, struct rfn_reader *reader)
{
    struct rfn_toc_entry entry = {.type = RFN_CHUNK_TIMING, .id = rank};
    if (rfn_reader_u8(reader)) {
        entry.offset = rfn_reader_varint(reader);
        entry.stored_size = rfn_reader_varint(reader);
        rfn_buf_bytes(&whole->standing, &entry, sizeof entry);
    }
    return reader->failed ? RFN_E_EXCHANGE : rfn_buf_status(&whole->standing);
}

/* Where it arrives, as one message: no rank can say of its own how much of it is taken. */
static void count_received(struct rec_whole *whole, int rank, int part)
{
    struct rfn_sent *sent = &whole->collection.sent[RFN_MERGING_TABLES];
    const uint64_t received = whole->finish->exchange->bytes_received;
    sent->messages += rank > 0 && part == MESSAGE;
    sent->bytes += received - whole->received;
    whole->received = received;
}

static int take_message(struct rec_whole *whole, size_t rank, struct rfn_reader *reader)
{
    struct rec_finishing *finish = whole->finish;
    if (rfn_reader_u64(reader) != rec_finishing_own_wishes())
        return RFN_E_UNSUPPORTED;
    const struct rfn_stream_digests digests = read_digests(reader);
    if (rank > 0)
        RFN_TRY(rfn_merge_stream(&finish->merge, &digests));
    if (!all_together(&finish->merge.streams, rank))
        return RFN_E_UNSUPPORTED;
    RFN_TRY(take_words(finish, rank, reader));
    RFN_TRY(take_places(finish, rank, reader));
    RFN_TRY(take_times(whole, rank, reader));
    rfn_collection_add_counts(&whole->collection, reader);
    const uint64_t peak = rfn_reader_varint(reader);
    finish->output.peak = peak > finish->output.peak ? peak : finish->output.peak;
    return 0;
}

static int take_part(struct rec_finishing *finish, const struct rec_brings *brings,
                     struct rfn_reader *reader)
{
    RFN_TRY(take_numbers(finish, brings, reader));
    RFN_TRY(take_structure(finish, brings, reader));
    return take_values(finish, brings, reader);
}

static int take(void *context, int rank, int part, const uint8_t *bytes, size_t size, bool *wants)
{
    struct rec_whole *whole = context;
    struct rec_finishing *finish = whole->finish;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    struct rec_brings brings = {0};
    int error = part == MESSAGE ? take_message(whole, (size_t)rank, &reader) : 0;
    if (!error)
        brings = rec_together_brings(&finish->merge, (size_t)rank);
    if (!error && part == PART)
        error = take_part(finish, &brings, &reader);
    *wants = brings.shape || brings.numbers || brings.content;
    count_received(whole, rank, part);
    return !error && reader.failed ? RFN_E_EXCHANGE : error;
}

/* ---- whether that is all ---- */

enum { GO_ON, WRITTEN, FAILED }; /* rank 0's word */

/* On rank 0, which has heard of all. */
static int create(struct rec_whole *whole)
{
    struct rec_signals signals;
    rec_ahead_settle(whole->ahead, &rec_gathered.node, true);
    rec_signals_hold(&signals);
    whole->fd = rec_output_create(&whole->finish->output, whole->finish->exchange, &whole->result);
    rec_signals_release(&signals);
    return whole->fd < 0 ? whole->fd : 0;
}

/* What was taken, so that it can be brought in another way. */
static void forget(struct rec_whole *whole)
{
    struct rec_finishing *finish = whole->finish;
    rec_tables_release(finish);
    rec_output_release(&finish->output);
    finish->output = (struct rec_output)REC_OUTPUT_INIT;
    rfn_buf_release(&whole->standing);
    whole->result = (struct rec_archive_result){0};
}

bool rec_whole_gather(struct rec_whole *whole, int error)
{
    struct rec_finishing *finish = whole->finish;
    struct rfn_exchange *exchange = finish->exchange;
    uint64_t verdict = GO_ON;
    const bool first = exchange->rank == 0;
    rec_finishing_end_step(finish, RFN_MERGING_MERGE);
    if (!error)
        write_counts(whole);
    if (!error && first) {
        rec_gathered_came(); /* as all have, of whom rank 0 has heard */
        finish->output.ahead = whole->ahead;
        whole->received = exchange->bytes_received;
        error = rec_tables_begin(finish);
    }
    error = rfn_exchange_gather(exchange, &whole->gathering, error);
    release_own(whole);
    if (first && !error)
        error = create(whole);
    if (first && !error)
        return true;
    if (first)
        forget(whole);
    rfn_exchange_tell(exchange, &verdict);
    return verdict != GO_ON;
}

int rec_whole_end(struct rec_whole *whole, int error)
{
    struct rec_finishing *finish = whole->finish;
    rec_finishing_note(finish, &whole->collection);
    rec_finishing_end_step(finish, RFN_MERGING_TABLES);
    if (!error)
        error = rec_chunk_definitions(finish);
    if (!error)
        error = rec_chunk_first(finish);
    error = rec_output_complete(&finish->output, finish->exchange, whole->fd, &whole->standing,
                                error, &whole->result);
    uint64_t verdict = error ? FAILED : WRITTEN;
    rfn_exchange_tell(finish->exchange, &verdict); /* whoever does not hear of it */
    return error;
}
