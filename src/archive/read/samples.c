/* Times of samples are quanta in the file: of the clock of the rank that received, when it was
 * sent of the source's. They become times of the run when the clocks of all ranks are known. */
#include "archive/read/reader.h"
#include "archive/samples_format.h"
#include "base/grow.h"
#include "refrain/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char malformed[] = "it is malformed";
static const char not_there[] = "it is of a rank that is not there";
static const char behind_its_end[] = "there are bytes behind its end";

enum { SITE_BYTES = 10, SAMPLE_BYTES = 11 }; /* at least */

/* A row takes 8 KiB of memory, and few bytes of a file. */
#ifdef RFN_FUZZING
enum { ROWS_MAX = 1 << 8 };
#else
enum { ROWS_MAX = 1 << 16 };
#endif

struct site {
    uint64_t hash, number; /* rfn_sample_site */
};

/* What a rank's SAMPLE_COLUMNS has beside samples. */
struct rank_clock {
    uint32_t rank;
    size_t n; /* samples */
    struct rfn_clock clock;
    const struct rfn_clock *correction; /* of its host's clock; NULL: none */
    struct rfn_clock_place place, correction_place;
    uint64_t add_ns;
};

struct reading {
    const struct rfn_archive *archive;
    struct rfn_samples *to;
    struct site *sites; /* by hash */
    uint32_t n_sites;
    struct rank_clock *clocks; /* by rank */
    size_t n_clocks, clocks_capacity, samples_capacity;
};

/* ---- SAMPLES ---- */

static const char *read_strategy(struct rfn_reader *reader, char text[RFN_SAMPLE_TEXT])
{
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(reader, &size);
    if (!bytes || size >= RFN_SAMPLE_TEXT)
        return malformed;
    memcpy(text, bytes, size);
    text[size] = 0;
    return NULL;
}

static const char *read_head(struct reading *reading, struct rfn_reader *reader)
{
    struct rfn_samples *to = reading->to;
    size_t size;
    const char *fault = read_strategy(reader, to->strategy);
    const uint8_t *where = rfn_reader_blob(reader, &size);
    if (fault || !where)
        return malformed;
    to->where = calloc(size + 1, 1);
    if (!to->where)
        return rfn_out_of_memory;
    memcpy(to->where, where, size);
    to->known = true;
    to->analysis = (enum rfn_sample_analysis)rfn_reader_limited(reader, RFN_SAMPLE_WRITE);
    const uint64_t flags = rfn_reader_varint(reader);
    to->alone = flags & RFN_SAMPLES_ALONE;
    to->changed = flags & RFN_SAMPLES_CHANGED;
    to->messages = rfn_reader_varint(reader);
    to->bytes = rfn_reader_varint(reader);
    to->sampled = rfn_reader_varint(reader);
    return reader->failed ? malformed : NULL;
}

static const char *read_sites(struct reading *reading, struct rfn_reader *reader)
{
    const struct rfn_archive *archive = reading->archive;
    const uint32_t functions = rfn_archive_functions(archive), paths = rfn_archive_paths(archive);
    const uint32_t n = reading->n_sites = rfn_reader_count(reader, SITE_BYTES);
    struct site *sites = reading->sites = malloc(((size_t)n + 1) * sizeof *sites);
    if (!sites)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n; i++) {
        sites[i].hash = rfn_reader_u64(reader);
        const uint32_t function = rfn_reader_index(reader, functions);
        sites[i].number = rfn_sample_site(function, rfn_reader_index(reader, paths));
        if (reader->failed || (i > 0 && sites[i].hash <= sites[i - 1].hash))
            return malformed;
    }
    return reader->failed ? malformed : NULL;
}

static uint64_t site_of(const struct reading *reading, uint64_t hash)
{
    uint32_t low = 0, high = reading->n_sites;
    if (hash == RFN_SAMPLE_NO_SITE)
        return RFN_SAMPLE_NO_SITE;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (reading->sites[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    const bool known = low < reading->n_sites && reading->sites[low].hash == hash;
    return known ? reading->sites[low].number : RFN_SAMPLE_OTHER_SITE;
}

/* That they are not below those with a meaning is known. */
static bool ranks_exist(const struct rfn_sample_key *key, uint32_t ranks)
{
    return key->source < (int64_t)ranks && key->dest < (int64_t)ranks;
}

/* How many rows a table says that it has. */
static uint64_t count_rows(const uint8_t *table, size_t size)
{
    struct rfn_reader reader = rfn_reader_over(table, size);
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        rfn_reader_varint(&reader);
    return rfn_reader_varint(&reader);
}

static const char *read_rows(struct reading *reading, struct rfn_reader *reader)
{
    struct rfn_samples *to = reading->to;
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(reader, &size);
    if (!bytes || count_rows(bytes, size) > ROWS_MAX)
        return malformed;
    const int error = rfn_sample_rows_unpack(bytes, size, &to->rows, &to->n_rows, to->dropped);
    if (error < 0)
        return error == RFN_E_NOMEM ? rfn_out_of_memory : malformed;
    for (size_t i = 0; i < to->n_rows; i++) {
        struct rfn_sample_key *key = &to->rows[i].key;
        if (!ranks_exist(key, rfn_archive_run(reading->archive)->ranks))
            return "a category has ranks that do not exist";
        key->send = site_of(reading, key->send);
        key->receive = site_of(reading, key->receive);
    }
    return NULL;
}

static const char *read_counts(struct reading *reading, struct rfn_reader *reader)
{
    struct rfn_samples *to = reading->to;
    const int64_t ranks = rfn_archive_run(reading->archive)->ranks;
    const int error = rfn_sample_counts_read(reader, &to->counts, &to->n_counts);
    if (error < 0)
        return error == RFN_E_NOMEM ? rfn_out_of_memory : malformed;
    for (size_t i = 0; i < to->n_counts; i++) {
        if (to->counts[i].source >= ranks || to->counts[i].dest >= ranks)
            return "messages are counted of ranks that do not exist";
    }
    return NULL;
}

static const char *read_samples(struct reading *reading, const struct rfn_payload *payload)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    const char *fault = read_head(reading, &reader);
    if (!fault)
        fault = read_sites(reading, &reader);
    if (!fault)
        fault = read_rows(reading, &reader);
    if (!fault && reading->archive->chunks.minor >= RFN_COUNTS_SINCE_MINOR)
        fault = read_counts(reading, &reader);
    return !fault && reading->archive->exact && rfn_reader_left(&reader) ? behind_its_end : fault;
}

/* ---- SAMPLE_COLUMNS ---- */

static void put_word(struct rfn_sample *sample, size_t offset, uint64_t word)
{
    memcpy((char *)sample + offset, &word, sizeof word);
}

static uint64_t word_at(const struct rfn_sample *sample, size_t offset)
{
    uint64_t word;
    memcpy(&word, (const char *)sample + offset, sizeof word);
    return word;
}

/* Words that repeat themselves. known has room for n. */
static void read_words(struct rfn_reader *reader, struct rfn_sample *samples, size_t n,
                       size_t offset, uint64_t *known)
{
    size_t n_known = 0;
    for (size_t i = 0; i < n && !reader->failed; i++) {
        const size_t number = rfn_reader_limited(reader, n_known);
        if (number == n_known)
            known[n_known++] = rfn_reader_u64(reader);
        put_word(&samples[i], offset, known[number]);
    }
}

static void read_numbers(struct rfn_reader *reader, struct rfn_sample *samples, size_t n,
                         size_t offset)
{
    for (size_t i = 0; i < n; i++)
        put_word(&samples[i], offset, rfn_reader_varint(reader));
}

/* Of each how much it lies before another time. */
static void read_before(struct rfn_reader *reader, struct rfn_sample *samples, size_t n,
                        size_t time, size_t other)
{
    for (size_t i = 0; i < n; i++)
        put_word(&samples[i], time,
                 word_at(&samples[i], other) - (uint64_t)rfn_reader_svarint(reader));
}

#define AT(member) offsetof(struct rfn_sample, member)

/* Times remain quanta. */
static const char *read_columns(struct reading *reading, struct rfn_reader *reader,
                                const struct rank_clock *of, uint64_t *known)
{
    struct rfn_sample *samples = &reading->to->samples[reading->to->n_samples];
    const uint32_t ranks = rfn_archive_run(reading->archive)->ranks;
    const size_t n = of->n;
    uint64_t received = of->clock.start;
    for (size_t i = 0; i < n; i++)
        samples[i] = (struct rfn_sample){.source = (int32_t)rfn_reader_index(reader, ranks),
                                         .dest = (int32_t)of->rank};
    read_words(reader, samples, n, AT(send), known);
    read_words(reader, samples, n, AT(receive), known);
    read_numbers(reader, samples, n, AT(bytes));
    read_words(reader, samples, n, AT(channel), known);
    read_numbers(reader, samples, n, AT(position));
    read_words(reader, samples, n, AT(weight), known);
    for (size_t i = 0; i < n; i++)
        samples[i].received_ns = (int64_t)(received += rfn_reader_varint(reader));
    read_before(reader, samples, n, AT(entered_ns), AT(received_ns));
    read_before(reader, samples, n, AT(posted_ns), AT(entered_ns));
    read_before(reader, samples, n, AT(sent_ns), AT(received_ns));
    for (size_t i = 0; i < n; i++) {
        samples[i].send = site_of(reading, samples[i].send);
        samples[i].receive = site_of(reading, samples[i].receive);
        if (samples[i].receive == RFN_SAMPLE_NO_SITE)
            samples[i].dest = RFN_SAMPLE_COLLECTIVE;
        if (reader->failed || !isfinite(samples[i].weight) || samples[i].weight <= 0)
            return malformed;
    }
    reading->to->n_samples += n;
    return reading->archive->exact && rfn_reader_left(reader) ? behind_its_end : NULL;
}

/* The lowest stream of a rank; -1: there is none. */
static int64_t stream_of(const struct rfn_archive *archive, uint32_t rank)
{
    uint32_t low = 0, high = archive->n_streams;
    while (low < high) { /* ranks ascend */
        const uint32_t middle = low + (high - low) / 2;
        if (rfn_stream_word(archive, RFN_WORD_RANK, middle) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == archive->n_streams || rfn_stream_word(archive, RFN_WORD_RANK, low) != rank)
        return -1;
    return low;
}

/* It is the clock that times of the rank's events are on. */
static const char *place_clock(struct reading *reading, struct rank_clock *of)
{
    const struct rfn_archive *archive = reading->archive;
    struct rfn_clock_place place = {0};
    const int64_t found = stream_of(archive, of->rank);
    const uint32_t stream = (uint32_t)found;
    if (found < 0)
        return not_there;
    if (of->clock.of_the_run)
        return NULL;
    const uint32_t host = (uint32_t)rfn_stream_word(archive, RFN_WORD_HOST, stream);
    of->add_ns = rfn_archive_origin(archive, host);
    of->correction = rfn_host_clock(&archive->clocks, host);
    if (rfn_clock_ns(&of->clock, &place, of->clock.start) ==
            (uint64_t)rfn_stream_word(archive, RFN_WORD_START, stream) &&
        of->clock.realtime_offset == (uint64_t)rfn_stream_word(archive, RFN_WORD_REALTIME, stream))
        return NULL;
    return rfn_archive_run(archive)->times ? "its clock starts not as STREAMS says" : NULL;
}

static const char *read_rank(struct reading *reading, const struct rfn_payload *payload)
{
    struct rfn_payload_reader scan;
    uint64_t flags;
    if (RFN_GROW(reading->clocks, reading->clocks_capacity, reading->n_clocks + 1) < 0)
        return rfn_out_of_memory;
    struct rank_clock *of = &reading->clocks[reading->n_clocks++];
    *of = (struct rank_clock){.rank = (uint32_t)payload->id};
    rfn_payload_reader_begin(&scan, payload);
    const char *fault = rfn_clock_read(&of->clock, &flags, &scan);
    if (!fault && !(flags & RFN_TIMING_TIMES))
        fault = malformed;
    if (!fault)
        fault = place_clock(reading, of);
    if (fault)
        return fault;
    const size_t at = rfn_payload_reader_at(&scan);
    struct rfn_reader reader = rfn_reader_over(payload->data + at, payload->size - at);
    of->n = rfn_reader_count(&reader, SAMPLE_BYTES);
    if (reader.failed)
        return malformed;
    uint64_t *known = malloc((of->n + 1) * sizeof *known);
    if (known && RFN_GROW(reading->to->samples, reading->samples_capacity,
                          reading->to->n_samples + of->n + 1) == 0)
        fault = read_columns(reading, &reader, of, known);
    else
        fault = rfn_out_of_memory;
    free(known);
    return fault;
}

static int read_all_columns(struct reading *reading, struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &reading->archive->chunks;
    for (size_t i = 0; i < chunks->n; i++) {
        const struct rfn_chunk_key *key = &chunks->by_type[i];
        struct rfn_payload payload;
        if (key->type != RFN_CHUNK_SAMPLE_COLUMNS)
            continue;
        RFN_TRY(rfn_chunks_load(chunks, &chunks->entries[key->entry], &payload, diag));
        const char *fault = key->id < rfn_archive_run(reading->archive)->ranks
                                ? read_rank(reading, &payload)
                                : not_there;
        const int error = rfn_payload_fault(&payload, fault, diag);
        rfn_payload_release(&payload);
        RFN_TRY(error);
    }
    return 0;
}

/* ---- times ---- */

static struct rank_clock *clock_of(const struct reading *reading, uint32_t rank)
{
    size_t low = 0, high = reading->n_clocks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (reading->clocks[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < reading->n_clocks && reading->clocks[low].rank == rank ? &reading->clocks[low]
                                                                        : NULL;
}

static void convert(struct rank_clock *of, int64_t *time)
{
    *time = (int64_t)(rfn_corrected_ns(&of->clock, &of->place, of->correction,
                                       &of->correction_place, (uint64_t)*time) +
                      of->add_ns);
}

/* It is not known when a source sent that has no clock: a process that wrote alone has samples of
 * what others sent. */
static void convert_times(const struct reading *reading)
{
    struct rfn_samples *to = reading->to;
    size_t next = 0, kept = 0;
    for (size_t i = 0; i < reading->n_clocks; i++) {
        struct rank_clock *own = &reading->clocks[i];
        for (size_t k = 0; k < own->n; k++) {
            struct rfn_sample sample = to->samples[next++];
            struct rank_clock *source = clock_of(reading, (uint32_t)sample.source);
            if (!source)
                continue;
            convert(source, &sample.sent_ns);
            convert(own, &sample.posted_ns);
            convert(own, &sample.entered_ns);
            convert(own, &sample.received_ns);
            to->samples[kept++] = sample;
        }
    }
    to->n_samples = kept;
}

/* ---- all of it ---- */

static int read_rows_of(struct reading *reading, struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &reading->archive->chunks;
    struct rfn_payload payload;
    const int64_t entry = rfn_chunks_find(chunks, RFN_CHUNK_SAMPLES, 0);
    if (entry < 0 || !rfn_chunks_know(chunks, RFN_CHUNK_SAMPLES))
        return 0;
    RFN_TRY(rfn_chunks_load(chunks, &chunks->entries[entry], &payload, diag));
    const int error = rfn_payload_fault(&payload, read_samples(reading, &payload), diag);
    rfn_payload_release(&payload);
    return error;
}

static void end(struct reading *reading)
{
    for (size_t i = 0; i < reading->n_clocks; i++)
        rfn_clock_release(&reading->clocks[i].clock);
    free(reading->clocks);
    free(reading->sites);
}

int rfn_samples_read_rows(const struct rfn_archive *archive, struct rfn_samples *samples,
                          struct rfn_diag *diag)
{
    struct reading reading = {.archive = archive, .to = samples};
    *samples = (struct rfn_samples){0};
    const int error = read_rows_of(&reading, diag);
    end(&reading);
    return error;
}

int rfn_samples_read(const struct rfn_archive *archive, struct rfn_samples *samples,
                     struct rfn_diag *diag)
{
    struct reading reading = {.archive = archive, .to = samples};
    *samples = (struct rfn_samples){0};
    int error = read_rows_of(&reading, diag);
    if (!error && samples->known)
        error = read_all_columns(&reading, diag);
    if (!error)
        convert_times(&reading);
    else
        samples->n_samples = 0;
    end(&reading);
    return error;
}

void rfn_samples_release(struct rfn_samples *samples)
{
    free(samples->where);
    free(samples->rows);
    free(samples->counts);
    free(samples->samples);
    *samples = (struct rfn_samples){0};
}
