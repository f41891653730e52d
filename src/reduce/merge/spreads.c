#include "reduce/merge/spreads.h"

#include "base/grow.h"

#include <stdlib.h>

struct rfn_hash128 rfn_sites_digest(struct rfn_hash128 before, uint64_t function, uint64_t path)
{
    const uint64_t words[] = {before.low, before.high, function, path};
    return rfn_hash128_bytes(words, sizeof words);
}

/* The digest's cluster, which gets streams. Digests whose low halves agree but which differ go
 * under the next key. NULL: out of memory. */
static struct rfn_cluster_sums *cluster_of(struct rfn_spreads *spreads, struct rfn_hash128 digest,
                                           uint64_t first, uint64_t streams)
{
    const uint64_t *number;
    uint64_t key = digest.low;
    for (; (number = rfn_map_get(&spreads->by_digest, key)); key++) {
        struct rfn_cluster_sums *cluster = &spreads->clusters[*number];
        if (!rfn_hash128_equal(cluster->digest, digest))
            continue;
        cluster->first_stream = first < cluster->first_stream ? first : cluster->first_stream;
        cluster->streams += streams;
        return cluster;
    }
    if (RFN_GROW(spreads->clusters, spreads->capacity, spreads->n + 1) < 0 ||
        rfn_map_put(&spreads->by_digest, key, spreads->n) < 0)
        return NULL;
    spreads->clusters[spreads->n] = (struct rfn_cluster_sums){
        .digest = digest, .first_stream = first, .streams = streams};
    return &spreads->clusters[spreads->n++];
}

static int count_bytes(struct rfn_spreads *spreads, size_t before, size_t after)
{
    spreads->bytes += after - before;
    return spreads->max_bytes && spreads->bytes > spreads->max_bytes ? RFN_E_NOMEM : 0;
}

int rfn_spreads_add(struct rfn_spreads *spreads, struct rfn_hash128 digest, uint64_t stream,
                    const struct rfn_spread_table *table)
{
    struct rfn_cluster_sums *cluster = cluster_of(spreads, digest, stream, 1);
    if (!cluster)
        return RFN_E_NOMEM;
    size_t before = cluster->table.bytes;
    RFN_TRY(rfn_spread_table_merge(&cluster->table, table));
    return count_bytes(spreads, before, cluster->table.bytes);
}

void rfn_spreads_release(struct rfn_spreads *spreads)
{
    for (size_t i = 0; i < spreads->n; i++)
        rfn_spread_table_release(&spreads->clusters[i].table);
    free(spreads->clusters);
    rfn_map_release(&spreads->by_digest);
    *spreads = (struct rfn_spreads){0};
}

/* ---- bytes ---- */

void rfn_spreads_write(const struct rfn_spreads *spreads, struct rfn_buf *out)
{
    rfn_buf_varint(out, spreads->n);
    for (size_t i = 0; i < spreads->n; i++) {
        const struct rfn_cluster_sums *cluster = &spreads->clusters[i];
        rfn_buf_u64(out, cluster->digest.low);
        rfn_buf_u64(out, cluster->digest.high);
        rfn_buf_varint(out, cluster->first_stream);
        rfn_buf_varint(out, cluster->streams);
        rfn_spread_table_write(&cluster->table, out);
    }
}

static int read_cluster(struct rfn_spreads *spreads, struct rfn_reader *reader)
{
    struct rfn_hash128 digest = {rfn_reader_u64(reader), 0};
    digest.high = rfn_reader_u64(reader);
    uint64_t first = rfn_reader_varint(reader), streams = rfn_reader_varint(reader);
    if (reader->failed)
        return RFN_E_EXCHANGE;
    struct rfn_cluster_sums *cluster = cluster_of(spreads, digest, first, streams);
    if (!cluster)
        return RFN_E_NOMEM;
    size_t before = cluster->table.bytes;
    RFN_TRY(rfn_spread_table_read(&cluster->table, reader));
    return count_bytes(spreads, before, cluster->table.bytes);
}

int rfn_spreads_read(struct rfn_spreads *spreads, const uint8_t *bytes, size_t size)
{
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    uint64_t n = rfn_reader_limited(&reader, size);
    for (uint64_t i = 0; i < n; i++)
        RFN_TRY(read_cluster(spreads, &reader));
    return reader.failed || rfn_reader_left(&reader) ? RFN_E_EXCHANGE : 0;
}

/* ---- over ranks ---- */

struct way {
    struct rfn_spreads *spreads;
    struct rfn_exchange *exchange;
    size_t counted;
    int error;
};

static void hold(struct way *way, size_t bytes)
{
    rfn_exchange_hold(way->exchange, (int64_t)bytes - (int64_t)way->counted);
    way->counted = bytes;
}

static int merge(void *state, const uint8_t *bytes, size_t size)
{
    struct way *way = state;
    if (!way->error)
        way->error = rfn_spreads_read(way->spreads, bytes, size);
    hold(way, way->spreads->bytes);
    return way->error;
}

static int write(void *state, struct rfn_buf *out)
{
    const struct way *way = state;
    if (!way->error)
        rfn_spreads_write(way->spreads, out);
    return way->error ? way->error : rfn_buf_status(out);
}

int rfn_spreads_run(struct rfn_spreads *spreads, struct rfn_exchange *exchange, int error)
{
    struct way way = {.spreads = spreads, .exchange = exchange, .error = error};
    hold(&way, spreads->bytes);
    int failed = rfn_exchange_up(exchange, merge, write, &way);
    hold(&way, 0);
    return way.error ? way.error : failed;
}
