#include "archive/samples_format.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- SAMPLES ---- */

static int compare_sites(const void *left, const void *right)
{
    const struct rfn_sample_site_number *a = left, *b = right;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static void pack_sites(struct rfn_sample_site_number *sites, size_t n, struct rfn_buf *out)
{
    size_t different = 0;
    if (n > 1)
        qsort(sites, n, sizeof *sites, compare_sites);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || sites[i].hash != sites[i - 1].hash;
    rfn_buf_varint(out, different);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && sites[i].hash == sites[i - 1].hash)
            continue;
        rfn_buf_u64(out, sites[i].hash);
        rfn_buf_varint(out, sites[i].function);
        rfn_buf_varint(out, sites[i].path);
    }
}

int rfn_pack_samples(const struct rfn_samples_facts *of, struct rfn_buf *out)
{
    struct rfn_buf table = RFN_BUF_INIT;
    rfn_buf_string(out, of->strategy);
    rfn_buf_string(out, of->where);
    rfn_buf_varint(out, of->analysis);
    rfn_buf_varint(out,
                   (of->alone ? RFN_SAMPLES_ALONE : 0u) | (of->changed ? RFN_SAMPLES_CHANGED : 0u));
    rfn_buf_varint(out, of->messages);
    rfn_buf_varint(out, of->bytes);
    rfn_buf_varint(out, of->sampled);
    pack_sites(of->sites, of->n_sites, out);
    rfn_sample_table_pack(of->table, &table);
    rfn_buf_blob(out, table.data, table.size);
    rfn_sample_counts_pack(of->counts, out);
    out->failed |= table.failed;
    rfn_buf_release(&table);
    return rfn_buf_status(out);
}

/* ---- SAMPLE_COLUMNS ---- */

static uint64_t word_at(const struct rfn_raw_sample *sample, size_t offset)
{
    uint64_t word;
    memcpy(&word, (const char *)sample + offset, sizeof word);
    return word;
}

/* Words that repeat themselves: each stands behind the number that it has where it comes first. */
static void pack_words(const struct rfn_raw_sample *samples, size_t n, size_t offset,
                       struct rfn_buf *out)
{
    struct rfn_map numbers = RFN_MAP_INIT;
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = word_at(&samples[i], offset);
        const uint64_t *number = rfn_map_get(&numbers, word);
        rfn_buf_varint(out, number ? *number : numbers.n);
        if (number)
            continue;
        rfn_buf_u64(out, word);
        out->failed |= rfn_map_put(&numbers, word, numbers.n) < 0;
    }
    rfn_map_release(&numbers);
}

static void pack_numbers(const struct rfn_raw_sample *samples, size_t n, size_t offset,
                         struct rfn_buf *out)
{
    for (size_t i = 0; i < n; i++)
        rfn_buf_varint(out, word_at(&samples[i], offset));
}

/* How much a time lies before another one. */
static void pack_before(const struct rfn_raw_sample *samples, size_t n, size_t time, size_t other,
                        struct rfn_buf *out)
{
    for (size_t i = 0; i < n; i++)
        rfn_buf_svarint(out, (int64_t)(word_at(&samples[i], other) - word_at(&samples[i], time)));
}

static int compare_samples(const void *left, const void *right)
{
    const struct rfn_raw_sample *a = left, *b = right;
    if (a->received != b->received)
        return a->received < b->received ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

#define AT(member) offsetof(struct rfn_raw_sample, member)

int rfn_pack_sample_columns(const struct rfn_pack_clock *clock, struct rfn_raw_sample *samples,
                            size_t n, struct rfn_buf *out)
{
    uint64_t before = clock->start;
    if (n > 1)
        qsort(samples, n, sizeof *samples, compare_samples);
    rfn_buf_varint(out, 1); /* with times, as in TIMING */
    rfn_pack_clock_pairs(clock, out);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++)
        rfn_buf_varint(out, samples[i].source);
    pack_words(samples, n, AT(send), out);
    pack_words(samples, n, AT(receive), out);
    pack_numbers(samples, n, AT(bytes), out);
    pack_words(samples, n, AT(channel), out);
    pack_numbers(samples, n, AT(position), out);
    pack_words(samples, n, AT(weight), out);
    for (size_t i = 0; i < n; i++) {
        rfn_buf_varint(out, samples[i].received - before);
        before = samples[i].received;
    }
    pack_before(samples, n, AT(entered), AT(received), out);
    pack_before(samples, n, AT(posted), AT(entered), out);
    pack_before(samples, n, AT(sent), AT(received), out);
    return rfn_buf_status(out);
}
