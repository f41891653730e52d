/* merge_internal.h - what the steps of rfn_merge_archives share (refrain/merge_archives.h).
 *
 *   merge_archives.c     the order of streams; META, DEFINITIONS, STREAMS, CLOCKS; the file
 *   merge_check.c        whether the archives are of one run
 *   merge_structures.c   groups and value sets: STRUCTURE, VALUES, RANK_PARAMS
 *   merge_times.c        time sets: TIMING, PROFILE, PROFILES
 *   merge_usage.c        USAGE
 *   merge_open.c         OPEN
 *   merge_clusters.c     what alike ranks did, once
 *   journals.c           archives of what is left of a run that did not end
 *
 * It does what the ranks do at the end of a run (record/finish/finish.c), by the same merge
 * (reduce/merge/merge.h) without the exchange: every archive contributes its definitions, and each
 * of its streams the digests of its structure and values, with hashes in place of numbers. Then
 * numbers are known, and what refers to others is written with the new ones. Times refer to nothing
 * and are copied as they are stored. Memory is that of tables of definitions, groups and streams.
 */
#ifndef RFN_ARCHIVE_MERGE_MERGE_INTERNAL_H
#define RFN_ARCHIVE_MERGE_MERGE_INTERNAL_H

#include "archive/merge/unpack_definitions.h"
#include "archive/write/cluster_archive.h"
#include "archive/write/pack_profiles.h"
#include "archive/write/rewrite.h"
#include "refrain/merge_archives.h"

#define RFN_JOIN_NONE UINT32_MAX

/* An archive that is read. */
struct rfn_archive_merge_input {
    const struct rfn_archive *archive;
    uint32_t lowest_rank; /* that is kept */
    struct rfn_unpacked definitions;
    struct rfn_archive_merge_digest {
        struct rfn_hash128 digest;
        bool known;
    } * structures, *values; /* by group and value set */
    uint32_t *streams;       /* new numbers; RFN_JOIN_NONE: it is not kept */
    uint32_t *time_sets;     /* new ones by old ones, of those that streams have */
    bool *written;           /* time sets whose times are in the new file already */
    int64_t apart;           /* the last PROFILES found that cannot be copied whole; -1: none */
    uint64_t later_ns;       /* what is to be added to times since the start of its run */
};

/* A stream that is kept, and what it has in the new file. */
struct rfn_archive_merge_stream {
    uint32_t input, stream; /* where it comes from: number there */
    uint32_t rank, group, set;
};

struct rfn_archive_merge {
    struct rfn_archive_merge_input *inputs; /* in order of their lowest ranks */
    size_t n_inputs;
    struct rfn_archive_merge_stream *streams; /* in order of rank and thread */
    uint32_t n_streams;
    uint64_t *signatures; /* by new value set */
    struct rfn_merge merge;
    struct rfn_known_sources sources;
    struct rfn_rewrite rewrite;
    struct rfn_gathered gathered;         /* PROFILEs that are not in a chunk yet */
    struct rfn_map known_times;           /* hash of the times that ranks may share -> time set */
    bool cluster;                         /* what alike ranks did is to be stored once */
    struct rfn_expression_finder *finder; /* users' expressions for that, or NULL */
    struct rfn_symbolizer *symbolizer;    /* finds functions and lines; NULL: they are known */
    struct rfn_archive_merge_together {
        struct rfn_rewrite_image image; /* of what was joined, without times */
        struct rfn_archive *archive;    /* the same */
        struct rfn_rewrite rewrite;     /* made of it */
        struct rfn_cluster_plan plan;
        bool smaller; /* so that the numbers of the plan hold */
    } together;
    struct rfn_diag *diag;
};

/* All of these return an error, for which rfn_archive_merge_archives finds words where none has
 * been said.
 *
 * Fails with RFN_E_UNSUPPORTED unless the archives are of one run. */
int rfn_archive_merge_check(const struct rfn_archive_merge *joining);

static inline const struct rfn_archive *
rfn_archive_merge_archive(const struct rfn_archive_merge *joining, uint32_t stream)
{
    return joining->inputs[joining->streams[stream].input].archive;
}

/* The new number of a definition that has this number in an input. */
int64_t rfn_archive_merge_number(const struct rfn_archive_merge *joining,
                                 const struct rfn_archive_merge_input *input,
                                 enum rfn_definition_kind kind, uint64_t number);

/* Appends bytes of a payload, wherever they are; borrows them. */
void rfn_archive_merge_name_bytes(const struct rfn_payload *payload, size_t from, size_t end,
                                  struct rfn_rope *rope);

/* Finds equal structures and values: the groups and sets of all streams. */
int rfn_archive_merge_groups(struct rfn_archive_merge *joining);
/* Adds RANK_PARAMS of all groups. */
int rfn_archive_merge_add_rank_params(struct rfn_archive_merge *joining);
/* Adds STRUCTURE and VALUES if the stream is the first that has them. */
int rfn_archive_merge_add_parts(struct rfn_archive_merge *joining, uint32_t stream);

/* Finds the time sets of all streams. */
int rfn_archive_merge_time_sets(struct rfn_archive_merge *joining);
/* Adds the stream's times, if it is the first that has them. In order of streams; then time sets
 * are final. */
int rfn_archive_merge_add_times(struct rfn_archive_merge *joining, uint32_t stream);
/* The stream whose times those of a stream are. */
static inline uint32_t rfn_archive_merge_time_set(const struct rfn_archive_merge *joining,
                                                  uint32_t number)
{
    const struct rfn_archive_merge_stream *stream = &joining->streams[number];
    const struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    return input->time_sets[rfn_stream_times(input->archive, stream->stream)];
}
/* Adds CLOCKS, if an archive has one. */
int rfn_archive_merge_add_clocks(struct rfn_archive_merge *joining);
/* Adds USAGE, if an archive has one. */
int rfn_archive_merge_add_usage(struct rfn_archive_merge *joining);

/* Adds OPEN, if an archive has one. */
int rfn_archive_merge_add_open(struct rfn_archive_merge *joining);

/* Add the chunk to any of the new archives. */
int rfn_archive_merge_add_streams(struct rfn_archive_merge *joining, struct rfn_rewrite *rewrite);
int rfn_archive_merge_add_meta(struct rfn_archive_merge *joining, struct rfn_rewrite *rewrite);

/* Puts CLUSTERS in the place of STRUCTURE, RANK_PARAMS and VALUES where the file becomes smaller.
 * All chunks are there but STREAMS and META. */
int rfn_archive_merge_cluster(struct rfn_archive_merge *joining);
void rfn_archive_merge_together_release(struct rfn_archive_merge_together *together);

/* rfn_merge_archives when it is known whether to cluster, and by which expressions. */
struct rfn_archive_merge_options {
    const struct rfn_rank_choice *choice; /* NULL: all ranks */
    bool cluster;
    struct rfn_expression_finder *finder; /* or NULL */
    struct rfn_symbolizer *symbolizer; /* of archives that know no functions and lines; or NULL */
};
int rfn_archive_merge_archives(const struct rfn_archive *const *archives, size_t n,
                               const struct rfn_archive_merge_options *options, const char *path,
                               bool force, struct rfn_merge_result *result, struct rfn_diag *diag);

#endif
