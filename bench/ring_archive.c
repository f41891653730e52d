/* ring_archive.c - an archive of any size, for what reads archives: ranks that compute, exchange
 * with their neighbours in a ring, and add something up every tenth step.
 *
 *     ring_archive RANKS STEPS OUT
 *
 * Each rank computes a little longer or shorter from step to step, some ranks longer than others.
 */
#include "refrain/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS_PER_SUM = 10, CALL_NS = 2000, BYTES = 4096 };

static const struct rfn_param_info sendrecv_params[] = {
    {"sendbuf", RFN_KIND_BUFFER, 0},      {"sendcount", RFN_KIND_COUNT, 0},
    {"sendtype", RFN_KIND_TYPE, 0},       {"dest", RFN_KIND_RANK, 0},
    {"sendtag", RFN_KIND_TAG, 0},         {"recvbuf", RFN_KIND_BUFFER, 0},
    {"recvcount", RFN_KIND_COUNT, 0},     {"recvtype", RFN_KIND_TYPE, 0},
    {"source", RFN_KIND_RANK, 0},         {"recvtag", RFN_KIND_TAG, 0},
    {"comm", RFN_KIND_COMM, 0},           {"source", RFN_KIND_RANK, RFN_PARAM_OUT},
    {"tag", RFN_KIND_TAG, RFN_PARAM_OUT}, {"bytes", RFN_KIND_BYTES, RFN_PARAM_OUT}};
static const struct rfn_param_info allreduce_params[] = {
    {"sendbuf", RFN_KIND_BUFFER, 0}, {"recvbuf", RFN_KIND_BUFFER, 0}, {"count", RFN_KIND_COUNT, 0},
    {"datatype", RFN_KIND_TYPE, 0},  {"op", RFN_KIND_OP, 0},          {"comm", RFN_KIND_COMM, 0}};

struct ring {
    struct rfn_writer *writer;
    uint32_t ranks;
    uint32_t sendrecv, allreduce, init, finalize, exchange, residual, main;
    int64_t *now, *ready; /* by rank */
    uint64_t random;
};

static void end(const struct rfn_diag *diag)
{
    fprintf(stderr, "ring_archive: %s\n", diag->text);
    exit(1);
}

static int64_t noise(struct ring *ring, int64_t most)
{
    ring->random = ring->random * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(ring->random >> 33) % most;
}

static void put(struct ring *ring, uint32_t rank, uint32_t function, uint32_t path,
                const int64_t *in, const int64_t *out, int64_t exit_ns)
{
    const struct rfn_record record = {.function = function,
                                      .path = path,
                                      .in = in,
                                      .out = out,
                                      .polls = 1,
                                      .enter_ns = ring->ready[rank],
                                      .exit_ns = exit_ns,
                                      .inside_ns = exit_ns - ring->ready[rank]};
    if (rfn_writer_event(ring->writer, rank, &record) < 0)
        exit(1);
    ring->now[rank] = exit_ns;
}

static void compute(struct ring *ring, int64_t ns)
{
    for (uint32_t r = 0; r < ring->ranks; r++)
        ring->ready[r] = ring->now[r] + ns + noise(ring, ns / 4) + (r % 16 == 5 ? ns / 3 : 0);
}

static void exchange(struct ring *ring)
{
    const uint32_t n = ring->ranks;
    for (uint32_t r = 0; r < n; r++) {
        const uint32_t left = (r + n - 1) % n;
        const int64_t come = ring->ready[left] > ring->ready[r] ? ring->ready[left]
                                                                : ring->ready[r];
        const int64_t in[] = {0, BYTES, 0, (r + 1) % n, 7, 0, BYTES, 0, left, 7, 0};
        const int64_t out[] = {RFN_AS_POSTED, RFN_AS_POSTED, RFN_AS_POSTED};
        put(ring, r, ring->sendrecv, ring->exchange, in, out, come + CALL_NS + noise(ring, 500));
    }
}

static void all_together(struct ring *ring, uint32_t function, uint32_t path, const int64_t *in)
{
    int64_t last = 0;
    for (uint32_t r = 0; r < ring->ranks; r++)
        last = ring->ready[r] > last ? ring->ready[r] : last;
    for (uint32_t r = 0; r < ring->ranks; r++)
        put(ring, r, function, path, in, NULL, last + 3 * CALL_NS + noise(ring, 2000));
}

static uint32_t function(struct ring *ring, const char *name, uint8_t class_, uint8_t flags,
                         const struct rfn_param_info *params, uint8_t n_in, uint8_t n_out)
{
    const struct rfn_function_info info = {.name = name,
                                           .class_ = class_,
                                           .flags = flags,
                                           .n_in = n_in,
                                           .n_out = n_out,
                                           .params = params};
    return (uint32_t)rfn_writer_function(ring->writer, &info);
}

static uint32_t path(struct ring *ring, const char *inner, uint32_t line)
{
    const struct rfn_location frames[] = {{inner, "ring.c", line, "ring", line},
                                          {"main", "ring.c", line + 100, "ring", line + 1000}};
    return (uint32_t)rfn_writer_path(ring->writer, inner ? frames : frames + 1, inner ? 2 : 1);
}

static void define(struct ring *ring)
{
    const struct rfn_datatype_info byte = {"MPI_BYTE", 1, 1, 1};
    rfn_writer_datatype(ring->writer, &byte);
    rfn_writer_comm(ring->writer, RFN_COMM_WORLD, NULL, 0, NULL, 0);
    rfn_writer_host(ring->writer, "node", ring->ranks);
    ring->sendrecv = function(ring, "MPI_Sendrecv", RFN_CLASS_SENDRECV, 0, sendrecv_params, 11, 3);
    ring->allreduce = function(ring, "MPI_Allreduce", RFN_CLASS_ALL_TO_ALL, RFN_FUNCTION_COLLECTIVE,
                               allreduce_params, 6, 0);
    ring->init = function(ring, "MPI_Init", RFN_CLASS_SETUP, RFN_FUNCTION_COLLECTIVE, NULL, 0, 0);
    ring->finalize = function(ring, "MPI_Finalize", RFN_CLASS_SETUP, RFN_FUNCTION_COLLECTIVE, NULL,
                              0, 0);
    ring->exchange = path(ring, "exchange", 40);
    ring->residual = path(ring, "residual", 70);
    ring->main = path(ring, NULL, 20);
    for (uint32_t r = 0; r < ring->ranks; r++)
        rfn_writer_stream(ring->writer, r, 0, 0, false);
}

int main(int argc, char **argv)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (argc != 4) {
        fprintf(stderr, "usage: ring_archive RANKS STEPS OUT\n");
        return 2;
    }
    struct ring ring = {.ranks = (uint32_t)atoi(argv[1]), .random = 1};
    const struct rfn_run run = {.recorder = "refrain",
                                .program = "ring",
                                .command = "ring",
                                .mpi = "none",
                                .flavour = "none",
                                .ranks = ring.ranks,
                                .times = true};
    const int64_t sum[] = {0, 0, 8, 0, 0, 0};
    ring.now = calloc(ring.ranks, sizeof *ring.now);
    ring.ready = calloc(ring.ranks, sizeof *ring.ready);
    if (!ring.now || !ring.ready || rfn_writer_new(argv[3], true, &run, &ring.writer, &diag) < 0)
        end(&diag);
    define(&ring);
    all_together(&ring, ring.init, ring.main, NULL);
    for (int step = 0; step < atoi(argv[2]); step++) {
        compute(&ring, 20000);
        exchange(&ring);
        compute(&ring, 3000);
        if (step % STEPS_PER_SUM == STEPS_PER_SUM - 1)
            all_together(&ring, ring.allreduce, ring.residual, sum);
        for (uint32_t r = 0; r < ring.ranks; r++)
            ring.now[r] = ring.now[r] > ring.ready[r] ? ring.now[r] : ring.ready[r];
    }
    compute(&ring, 1000);
    all_together(&ring, ring.finalize, ring.main, NULL);
    if (rfn_writer_close(ring.writer, NULL) < 0)
        end(&diag);
    free(ring.now);
    free(ring.ready);
    return 0;
}
