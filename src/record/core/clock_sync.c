#include "record/core/clock_sync.h"

#include "archive/read/host_clocks.h"
#include "archive/write/pack.h"
#include "record/core/job.h"
#include "record/core/options.h"
#include "record/core/wait_warning.h"

#include <stdlib.h>

/* Round trips: at least so many, then until none was shorter for some time, at most so many. */
enum { LEAST = 16, CALM = 8, MOST = 64 };
enum { TAG_PING = 2, TAG_PONG = 3 };
enum { DRIFT_AT_MOST = 1000 }; /* one in ... */

/* ---- nodes: host and lowest rank of each, in order of these ranks ---- */

enum { NODE_BYTES = 16 };

struct nodes {
    struct rfn_buf list; /* u64 hash of the host, u64 rank, per node */
    struct rfn_map seen; /* hosts */
};

static uint64_t host_of(const struct rfn_buf *nodes, size_t i)
{
    struct rfn_reader reader = rfn_reader_over(nodes->data + i * NODE_BYTES, NODE_BYTES);
    return rfn_reader_u64(&reader);
}

static int rank_of(const struct rfn_buf *nodes, size_t i)
{
    struct rfn_reader reader = rfn_reader_over(nodes->data + i * NODE_BYTES + 8, 8);
    return (int)rfn_reader_u64(&reader);
}

static int add_node(struct nodes *nodes, uint64_t host, uint64_t rank)
{
    if (rfn_map_get(&nodes->seen, host))
        return 0;
    RFN_TRY(rfn_map_put(&nodes->seen, host, rank));
    rfn_buf_u64(&nodes->list, host);
    rfn_buf_u64(&nodes->list, rank);
    return rfn_buf_status(&nodes->list);
}

/* Messages come in order of ranks: the first rank of a host is the lowest. */
static int merge_nodes(void *state, const uint8_t *bytes, size_t size)
{
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    while (rfn_reader_left(&reader) >= NODE_BYTES) {
        uint64_t host = rfn_reader_u64(&reader);
        RFN_TRY(add_node(state, host, rfn_reader_u64(&reader)));
    }
    return 0;
}

static int write_nodes(void *state, struct rfn_buf *out)
{
    const struct nodes *nodes = state;
    rfn_buf_bytes(out, nodes->list.data, nodes->list.size);
    return rfn_buf_status(out);
}

/* All ranks learn all nodes, or all of them fail. */
static bool find_nodes(struct rec_exchange *exchange, uint64_t host, struct rfn_buf *list)
{
    struct nodes nodes = {.list = RFN_BUF_INIT, .seen = RFN_MAP_INIT};
    int error = add_node(&nodes, host, (uint64_t)exchange->exchange.rank);
    int merged = rfn_exchange_up(&exchange->exchange, merge_nodes, write_nodes, &nodes);
    error = error ? error : merged;
    if (exchange->exchange.rank > 0)
        rfn_buf_release(&nodes.list);
    int learned = rfn_exchange_down(&exchange->exchange, &nodes.list, error);
    rfn_map_release(&nodes.seen);
    *list = nodes.list;
    return rec_all_say(exchange->comm, !error && !learned);
}

/* ---- two clocks ---- */

struct pong {
    uint64_t stamp;                /* when the ping was there */
    struct rfn_clock_offset known; /* of the answering node, to the node of rank 0 */
};

/* One round trip; its length. */
static uint64_t ping(MPI_Comm comm, int to, bool last, struct rfn_clock_offset *offset)
{
    struct pong pong = {0};
    uint8_t more = !last;
    uint64_t sent = (uint64_t)rec_monotonic_ns();
    rec_mpi.MPI_Send(&more, 1, MPI_BYTE, to, TAG_PING, comm);
    rec_mpi.MPI_Recv(&pong, sizeof pong, MPI_BYTE, to, TAG_PONG, comm, MPI_STATUS_IGNORE);
    uint64_t round_trip = (uint64_t)rec_monotonic_ns() - sent;
    offset->monotonic_ns = sent + round_trip / 2;
    offset->offset_ns = (int64_t)(pong.stamp - offset->monotonic_ns) + pong.known.offset_ns;
    offset->round_trip_ns = round_trip + pong.known.round_trip_ns;
    return round_trip;
}

static void ask(MPI_Comm comm, int parent, struct rfn_clock_offset *best)
{
    uint64_t shortest = UINT64_MAX;
    bool last = false;
    for (int trip = 1, calm = 0; !last; trip++) {
        struct rfn_clock_offset offset;
        last = trip >= MOST || (trip >= LEAST && calm >= CALM);
        uint64_t round_trip = ping(comm, parent, last, &offset);
        calm++;
        if (round_trip < shortest) {
            shortest = round_trip;
            *best = offset;
            calm = 0;
        }
    }
}

static void answer(MPI_Comm comm, int child, const struct rfn_clock_offset *known)
{
    uint8_t more = 1;
    while (more) {
        struct pong pong = {.known = *known};
        if (rec_mpi.MPI_Recv(&more, 1, MPI_BYTE, child, TAG_PING, comm, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return;
        pong.stamp = (uint64_t)rec_monotonic_ns();
        rec_mpi.MPI_Send(&pong, sizeof pong, MPI_BYTE, child, TAG_PONG, comm);
    }
}

/* ---- the tree ---- */

static void measure(MPI_Comm comm, const struct rfn_buf *nodes, size_t self,
                    struct rfn_clock_offset *offset)
{
    size_t n = nodes->size / NODE_BYTES, step = 1;
    *offset = (struct rfn_clock_offset){.monotonic_ns = (uint64_t)rec_monotonic_ns()};
    while (step < n && !(self & step))
        step *= 2; /* all below are children's */
    if (self > 0)
        ask(comm, rank_of(nodes, self - step), offset);
    for (step /= 2; step > 0; step /= 2) { /* those with the most below them first */
        if (self + step < n)
            answer(comm, rank_of(nodes, self + step), offset);
    }
}

uint64_t rec_clock_sync_host(void)
{
    struct rfn_buf content = RFN_BUF_INIT;
    rec_job_host(&content);
    uint64_t hash = rfn_hash_bytes(content.data, content.size);
    rfn_buf_release(&content);
    return hash;
}

/* What a rank knows of its node. */
static struct own {
    uint64_t host;
    bool measures; /* it is the lowest rank of a node, but not of the first */
    bool at_start, at_end;
    struct rfn_clock_offset start, end;
} own;

/* ---- when ---- */

#ifndef RFN_FLAVOUR_SMPI /* whose ranks have one clock */
/* Whether the ranks compare clocks, unless it turns out that they are on one node. What was found
 * out once stays: the program may change its environment. */
static bool is_wanted(void)
{
    static enum { UNKNOWN, NO, YES } wanted;
    if (!wanted && rec_job_learn()) {
        bool may = rec_job_size() > 1 && rec_options.clock_sync != REC_CLOCK_SYNC_NEVER;
        bool must = rec_options.clock_sync == REC_CLOCK_SYNC_ALWAYS;
        wanted = may && (must || !rec_job_on_one_node(rec_job_size())) ? YES : NO;
    }
    return wanted == YES;
}
#else
static bool is_wanted(void)
{
    return false;
}
#endif

/* Whether rank 0 wants it, and an archive as it was asked for has times of these clocks. */
static bool first_wants(struct rec_exchange *exchange)
{
    uint64_t word = is_wanted() && rec_options.times && rec_clock.kind != REC_CLOCK_MPI;
    return rfn_exchange_tell(&exchange->exchange, &word) == 0 && word;
}

/* False if nothing was measured, on all ranks. */
static bool compare_clocks(struct rec_exchange *exchange, struct rfn_clock_offset *offset)
{
    struct rfn_buf nodes = RFN_BUF_INIT;
    if (!first_wants(exchange))
        return false;
    own.host = rec_clock_sync_host();
    bool several = find_nodes(exchange, own.host, &nodes) && nodes.size > NODE_BYTES;
    own.measures = false;
    for (size_t i = 0; several && i < nodes.size / NODE_BYTES; i++) {
        if (rank_of(&nodes, i) != exchange->exchange.rank || host_of(&nodes, i) != own.host)
            continue;
        own.measures = i > 0;
        measure(exchange->comm, &nodes, i, offset);
    }
    rfn_buf_release(&nodes);
    return several;
}

void rec_clock_sync_start(void)
{
    struct rec_wait_warning warning;
    struct rec_exchange exchange;
    if (!is_wanted())
        return;
    rec_wait_warning_begin(&warning, "start MPI and compare their clocks");
    if (rec_exchange_open(&exchange, true) == 0) {
        own.at_start = compare_clocks(&exchange, &own.start);
        rec_exchange_close(&exchange);
    }
    rec_wait_warning_end(&warning);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0 ? b - a : a - b;
}

size_t rec_clock_sync_settle(struct rfn_clock_offset offsets[2])
{
    uint64_t drift = (offsets[1].monotonic_ns - offsets[0].monotonic_ns) / DRIFT_AT_MOST;
    uint64_t change = distance((uint64_t)offsets[0].offset_ns, (uint64_t)offsets[1].offset_ns);
    uint64_t error = distance(offsets[0].round_trip_ns, offsets[1].round_trip_ns) / 2;
    if (offsets[1].monotonic_ns > offsets[0].monotonic_ns && change <= drift && error <= drift)
        return 2;
    if (offsets[1].round_trip_ns < offsets[0].round_trip_ns)
        offsets[0] = offsets[1];
    return 1;
}

/* ---- collecting: u64 hash of the host, varint n, per measurement u64, svarint, varint; before all
 * of it the hash of rank 0's host ---- */

static void write_own(struct rfn_buf *out)
{
    struct rfn_clock_offset offsets[2] = {own.start, own.end};
    size_t n = own.at_start && own.at_end ? rec_clock_sync_settle(offsets) : 1;
    if (!own.at_start)
        offsets[0] = own.end;
    rfn_buf_u64(out, own.host);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++) {
        rfn_buf_u64(out, offsets[i].monotonic_ns);
        rfn_buf_svarint(out, offsets[i].offset_ns);
        rfn_buf_varint(out, offsets[i].round_trip_ns);
    }
}

static int append(void *state, const uint8_t *bytes, size_t size)
{
    rfn_buf_bytes(state, bytes, size);
    return rfn_buf_status(state);
}

static int hand_over(void *state, struct rfn_buf *out)
{
    const struct rfn_buf *measured = state;
    return append(out, measured->data, measured->size);
}

/* Rank 0 gets all measurements. */
static int gather(struct rec_exchange *exchange, struct rfn_buf *measured)
{
    if (exchange->exchange.rank == 0)
        rfn_buf_u64(measured, own.host);
    else if (own.measures)
        write_own(measured);
    const int error = rfn_exchange_up(&exchange->exchange, append, hand_over, measured);
    if (error < 0 || exchange->exchange.rank > 0)
        rfn_buf_release(measured);
    return error;
}

int rec_clock_sync_share(struct rec_exchange *exchange, struct rfn_buf *measured)
{
    *measured = (struct rfn_buf)RFN_BUF_INIT;
    if (!own.at_start)
        return 0;
    const int error = gather(exchange, measured);
    return rfn_exchange_down(&exchange->exchange, measured, error);
}

void rec_clock_sync_end(struct rec_exchange *exchange, struct rfn_buf *measured)
{
    *measured = (struct rfn_buf)RFN_BUF_INIT;
#ifdef RFN_FLAVOUR_SMPI
    return;
#endif
    if (exchange->exchange.size == 1)
        return;
    own.at_end = compare_clocks(exchange, &own.end);
    if (!own.at_end)
        return;
    gather(exchange, measured);
}

/* ---- the correction of one host ---- */

/* Reads what was measured of the next host: how many measurements, of which the first two are in
 * offsets; -1: there is none. */
static int next_host(struct rfn_reader *reader, uint64_t *host, struct rfn_clock_offset offsets[2])
{
    if (!rfn_reader_left(reader))
        return -1;
    *host = rfn_reader_u64(reader);
    uint64_t n = rfn_reader_limited(reader, 2);
    for (uint64_t i = 0; i < n; i++) {
        offsets[i].monotonic_ns = rfn_reader_u64(reader);
        offsets[i].offset_ns = rfn_reader_svarint(reader);
        offsets[i].round_trip_ns = rfn_reader_varint(reader);
    }
    return reader->failed ? -1 : (int)n;
}

/* As readers correct times (refrain-archive(5), CLOCKS), to within rounding. */
static int64_t offset_at(const struct rfn_clock_offset offsets[2], int n, uint64_t monotonic_ns)
{
    int64_t since = (int64_t)(monotonic_ns - offsets[0].monotonic_ns);
    if (n < 2)
        return offsets[0].offset_ns;
    int64_t apart = (int64_t)(offsets[1].monotonic_ns - offsets[0].monotonic_ns);
    if (apart < (int64_t)RFN_CLOCKS_DRIFT_NS && (since < 0 || since >= apart))
        return offsets[since < 0 ? 0 : 1].offset_ns;
    double drift = (double)(offsets[1].offset_ns - offsets[0].offset_ns) / (double)apart;
    return offsets[0].offset_ns + (int64_t)(drift * (double)since);
}

bool rec_clock_sync_offset(const uint8_t *measured, size_t size, uint64_t of_host,
                           uint64_t monotonic_ns, int64_t *offset_ns)
{
    struct rfn_reader reader = rfn_reader_over(measured, size);
    struct rfn_clock_offset offsets[2] = {{0}, {0}};
    uint64_t host;
    int n;
    *offset_ns = 0;
    if (rfn_reader_u64(&reader) == of_host)
        return !reader.failed;
    while ((n = next_host(&reader, &host, offsets)) >= 0) {
        if (n == 0 || host != of_host)
            continue;
        *offset_ns = offset_at(offsets, n, monotonic_ns);
        return true;
    }
    return false;
}

/* ---- CLOCKS ---- */

struct hosts {
    struct rfn_pack_host_clock *hosts;
    struct rfn_clock_offset *offsets; /* of all of them */
    size_t n, n_offsets;
};

static int compare_hosts(const void *a, const void *b)
{
    const struct rfn_pack_host_clock *left = a, *right = b;
    return left->host < right->host ? -1 : left->host > right->host;
}

/* A rank's name was the same in the merge, so each host is known; were it not, it would be left
 * out. */
static int read_hosts(struct hosts *hosts, const struct rfn_merge *merge, struct rfn_reader *reader)
{
    while (rfn_reader_left(reader)) {
        int64_t number = rfn_merge_number(merge, RFN_DEFINITION_HOST, rfn_reader_u64(reader));
        uint64_t n = rfn_reader_varint(reader);
        struct rfn_clock_offset *offsets = hosts->offsets + hosts->n_offsets;
        for (uint64_t i = 0; i < n && !reader->failed; i++) {
            offsets[i].monotonic_ns = rfn_reader_u64(reader);
            offsets[i].offset_ns = rfn_reader_svarint(reader);
            offsets[i].round_trip_ns = rfn_reader_varint(reader);
            hosts->n_offsets++;
        }
        if (reader->failed)
            return RFN_E_EXCHANGE;
        if (number >= 0)
            hosts->hosts[hosts->n++] = (struct rfn_pack_host_clock){(uint64_t)number, offsets,
                                                                    (size_t)n};
    }
    return 0;
}

int rec_clock_sync_pack(const struct rfn_buf *measured, const struct rfn_merge *merge,
                        struct rfn_buf *out)
{
    struct rfn_reader reader = rfn_reader_over(measured->data, measured->size);
    struct hosts hosts = {0};
    if (measured->size == 0)
        return 0;
    int64_t reference = rfn_merge_number(merge, RFN_DEFINITION_HOST, rfn_reader_u64(&reader));
    hosts.hosts = calloc(measured->size / 8 + 1, sizeof *hosts.hosts);
    hosts.offsets = calloc(measured->size / 8 + 1, sizeof *hosts.offsets);
    int error = hosts.hosts && hosts.offsets ? 0 : RFN_E_NOMEM;
    if (!error && reference >= 0)
        error = read_hosts(&hosts, merge, &reader);
    if (!error && hosts.n > 0) {
        qsort(hosts.hosts, hosts.n, sizeof *hosts.hosts, compare_hosts);
        error = rfn_pack_clocks((uint64_t)reference, hosts.hosts, hosts.n, out);
    }
    free(hosts.hosts);
    free(hosts.offsets);
    return error;
}
