#include "record/finish/definitions.h"

#include "record/core/job.h"
#include "record/core/options.h"
#include "record/handles/comms.h"
#include "record/handles/types.h"
#include "record/regions/regions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- modules and paths ---- */

/* The hash of a module: of its build-id, which is the same wherever the file lies, else of all. */
static int define_module(struct rfn_merge *merge, uint32_t number, uint64_t *hash)
{
    const struct rec_module *module = rec_module(number);
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_string(&content, rec_module_path(module, rec_options.executable));
    rfn_buf_blob(&content, module->build_id, module->build_id_size);
    if (module->function)
        rfn_buf_string(&content, module->function);
    uint64_t id = module->build_id_size ? rfn_hash_bytes(module->build_id, module->build_id_size)
                                        : rfn_hash_bytes(content.data, content.size);
    int error = rfn_buf_status(&content);
    if (!error)
        error = rfn_merge_define(merge, RFN_DEFINITION_MODULE, id, content.data, content.size,
                                 hash);
    rfn_buf_release(&content);
    return error;
}

static int define_path(struct rfn_merge *merge, const struct rec_sites *sites, uint32_t site,
                       uint64_t *hash)
{
    size_t n;
    const struct rec_frame *frames = rec_sites_frames(sites, site, &n);
    struct rfn_buf content = RFN_BUF_INIT;
    int error = 0;
    rfn_buf_varint(&content, n);
    for (size_t i = 0; i < n && !error; i++) {
        uint64_t module = 0;
        error = define_module(merge, frames[i].module, &module);
        rfn_buf_u64(&content, module);
        rfn_buf_varint(&content, frames[i].offset);
    }
    if (!error)
        error = rfn_buf_status(&content);
    if (!error)
        error = rfn_merge_define(merge, RFN_DEFINITION_PATH, 0, content.data, content.size, hash);
    rfn_buf_release(&content);
    return error;
}

static int define_function(struct rfn_merge *merge, uint32_t function, uint64_t *hash)
{
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_pack_function(&rec_functions[function], &content);
    int error = rfn_buf_status(&content);
    if (!error)
        error = rfn_merge_define(merge, RFN_DEFINITION_FUNCTION, 0, content.data, content.size,
                                 hash);
    rfn_buf_release(&content);
    return error;
}

static int define_region(struct rfn_merge *merge, const struct rec_region *region)
{
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_u64(&content, (uint64_t)region->word);
    rfn_buf_string(&content, region->name);
    int error = rfn_buf_status(&content);
    if (!error)
        error = rfn_merge_define(merge, RFN_DEFINITION_REGION, (uint64_t)region->word, content.data,
                                 content.size, NULL);
    rfn_buf_release(&content);
    return error;
}

static int describe_stream(struct rec_stream_definitions *description, struct rfn_merge *merge)
{
    const struct rec_sites *sites = &description->stream->sites;
    description->n_sites = rec_sites_count(sites);
    description->functions = calloc(description->n_sites + 1, sizeof *description->functions);
    description->paths = calloc(description->n_sites + 1, sizeof *description->paths);
    if (!description->functions || !description->paths)
        return RFN_E_NOMEM;
    for (uint32_t site = 0; site < description->n_sites; site++) {
        RFN_TRY(
            define_function(merge, rec_sites_function(sites, site), &description->functions[site]));
        RFN_TRY(define_path(merge, sites, site, &description->paths[site]));
    }
    for (uint32_t i = 0; i < rec_regions_count(description->stream); i++) {
        const struct rec_region region = rec_regions_get(description->stream, i);
        RFN_TRY(define_region(merge, &region));
    }
    return 0;
}

static int describe_streams(struct rec_definitions *description, struct rfn_merge *merge)
{
    size_t n = rec_streams ? rec_streams->number + 1 : 0;
    description->streams = calloc(n + 1, sizeof *description->streams);
    if (!description->streams)
        return RFN_E_NOMEM;
    description->n_streams = n;
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        description->streams[stream->number].stream = stream;
    for (size_t i = 0; i < n; i++)
        RFN_TRY(describe_stream(&description->streams[i], merge));
    return 0;
}

/* ---- datatypes and communicators ---- */

static int describe_types(struct rec_definitions *description, struct rfn_merge *merge)
{
    description->n_types = rec_types_count();
    description->types = calloc(description->n_types + 1, sizeof *description->types);
    if (!description->types)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < description->n_types; i++) {
        const struct rec_type *type = rec_type(i);
        RFN_TRY(rfn_merge_define(merge, RFN_DEFINITION_DATATYPE, 0, type->content,
                                 type->content_size, &description->types[i]));
    }
    return 0;
}

static void pack_ranks(const struct rec_ranks *ranks, struct rfn_buf *out)
{
    rfn_buf_varint(out, ranks->size);
    rfn_buf_varint(out, ranks->n_runs);
    for (uint32_t i = 0; i < ranks->n_runs; i++) {
        rfn_buf_varint(out, ranks->runs[i].start);
        rfn_buf_varint(out, ranks->runs[i].count);
        rfn_buf_svarint(out, ranks->runs[i].stride);
    }
}

/* Only the lowest of the members contributes the communicator, unless that may not be recorded; the
 * others name it by its hash. */
static bool contributes(const struct rec_comm *comm, int world_rank)
{
    bool predefined = comm->kind == REC_COMM_WORLD || comm->kind == REC_COMM_SELF;
    return predefined ? rec_job_is_first()
                      : rec_job_is_limited() || comm->lowest == (uint32_t)world_rank;
}

static int define_comm(struct rfn_merge *merge, const struct rec_comm *comm)
{
    bool predefined = comm->kind == REC_COMM_WORLD || comm->kind == REC_COMM_SELF;
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_u8(&content, (uint8_t)comm->kind);
    rfn_buf_u64(&content, comm->identity);
    if (!predefined)
        pack_ranks(comm->local, &content);
    if (comm->kind == REC_COMM_INTER)
        pack_ranks(comm->remote, &content);
    int error = rfn_buf_status(&content);
    if (!error)
        error = rfn_merge_define(merge, RFN_DEFINITION_COMM, comm->identity, content.data,
                                 content.size, NULL);
    rfn_buf_release(&content);
    return error;
}

static int describe_comms(struct rec_definitions *description, struct rfn_merge *merge,
                          int world_rank, bool alone)
{
    size_t n = description->n_comms = rec_comms_count();
    description->comm_ranks = calloc(n + 1, sizeof *description->comm_ranks);
    description->comms = calloc(n + 1, sizeof *description->comms);
    description->comm_hashes = calloc(n + 1, sizeof *description->comm_hashes);
    if (!description->comm_ranks || !description->comms || !description->comm_hashes)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct rec_comm *comm = rec_comm(i);
        description->comm_ranks[i] = comm->my_rank;
        description->comm_hashes[i] = comm->identity;
        if (alone || contributes(comm, world_rank))
            RFN_TRY(define_comm(merge, comm));
        else
            RFN_TRY(rfn_merge_define(merge, RFN_DEFINITION_COMM, comm->identity, NULL, 0, NULL));
    }
    return 0;
}

static int describe_host(struct rec_definitions *description, struct rfn_merge *merge)
{
    struct rfn_buf content = RFN_BUF_INIT;
    int error = rec_job_host(&content);
    if (!error)
        error = rfn_merge_define(merge, RFN_DEFINITION_HOST, 0, content.data, content.size,
                                 &description->host);
    rfn_buf_release(&content);
    return error;
}

int rec_definitions_make(struct rec_definitions *description, struct rfn_merge *merge,
                         int world_rank, bool alone)
{
    RFN_TRY(describe_streams(description, merge));
    RFN_TRY(describe_types(description, merge));
    RFN_TRY(describe_comms(description, merge, world_rank, alone));
    RFN_TRY(describe_host(description, merge));
    for (size_t i = 0; i < description->n_streams; i++) {
        struct rec_stream_definitions *stream = &description->streams[i];
        stream->refs = (struct rfn_pack_refs){.site_functions = stream->functions,
                                              .site_paths = stream->paths,
                                              .n_sites = stream->n_sites,
                                              .types = description->types,
                                              .n_types = description->n_types,
                                              .comm_ranks = description->comm_ranks,
                                              .comms = description->comms,
                                              .n_comms = description->n_comms,
                                              .world_rank = world_rank};
    }
    return 0;
}

int rec_definitions_so_far(struct rec_definitions *description, struct rfn_merge *merge,
                           struct rec_stream *stream)
{
    description->streams = calloc(1, sizeof *description->streams);
    if (!description->streams)
        return RFN_E_NOMEM;
    description->n_streams = 1;
    description->streams->stream = stream;
    RFN_TRY(describe_stream(description->streams, merge));
    RFN_TRY(describe_types(description, merge));
    return describe_host(description, merge);
}

static int to_number(const struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t *hash)
{
    int64_t number = rfn_merge_number(merge, kind, *hash);
    if (number < 0)
        return RFN_E_EXCHANGE;
    *hash = (uint64_t)number;
    return 0;
}

int rec_definitions_number(struct rec_definitions *description, const struct rfn_merge *merge)
{
    for (size_t i = 0; i < description->n_streams; i++) {
        struct rec_stream_definitions *stream = &description->streams[i];
        for (size_t s = 0; s < stream->n_sites; s++) {
            RFN_TRY(to_number(merge, RFN_DEFINITION_FUNCTION, &stream->functions[s]));
            RFN_TRY(to_number(merge, RFN_DEFINITION_PATH, &stream->paths[s]));
        }
    }
    for (size_t i = 0; i < description->n_types; i++)
        RFN_TRY(to_number(merge, RFN_DEFINITION_DATATYPE, &description->types[i]));
    for (size_t i = 0; i < description->n_comms; i++) {
        uint64_t number = description->comm_hashes[i];
        RFN_TRY(to_number(merge, RFN_DEFINITION_COMM, &number));
        description->comms[i] = (int64_t)number;
    }
    return to_number(merge, RFN_DEFINITION_HOST, &description->host);
}

void rec_definitions_release(struct rec_definitions *description)
{
    for (size_t i = 0; i < description->n_streams; i++) {
        free(description->streams[i].functions);
        free(description->streams[i].paths);
    }
    free(description->streams);
    free(description->types);
    free(description->comm_ranks);
    free(description->comms);
    free(description->comm_hashes);
}
