/* dictionary.h - what META and DEFINITIONS say, as tables by number.
 *
 * Everything is copied out of the payloads into an arena, strings with a final zero, so that the
 * payloads can be freed. Every reference between tables is checked when it is read: afterwards a
 * number from one of these tables can be used as an index without a look.
 */
#ifndef RFN_ARCHIVE_READ_DICTIONARY_H
#define RFN_ARCHIVE_READ_DICTIONARY_H

#include "archive/read/chunks.h"
#include "base/arena.h"
#include "base/map.h"
#include "event/calls.h"
#include "refrain/archive.h"

#include <stdbool.h>
#include <stdint.h>

/* Members first, first + stride, ... in MPI_COMM_WORLD; RFN_RANK_FOREIGN: not in it, stride 0. */
struct rfn_rank_run {
    uint32_t at; /* rank in the group of the run's first member */
    uint32_t first, count;
    int64_t stride;
};

#define RFN_RANK_FOREIGN UINT32_MAX

/* An ordered group of processes. */
struct rfn_rank_list {
    uint32_t size, n_runs;
    struct rfn_rank_run *runs; /* in order of `at` */
    uint32_t *by_rank;         /* indices of runs in order of their lowest world rank */
    uint32_t *highest;         /* highest world rank in by_rank[0..i] */
};

struct rfn_communicator {
    struct rfn_comm_info info;
    struct rfn_rank_list groups[2]; /* INTRA: the first; INTER: both */
};

struct rfn_dictionary {
    struct rfn_arena arena;
    struct rfn_run run; /* streams, resolution_ns and file_bytes are filled in elsewhere */
    struct rfn_dictionary_module {
        const char *path;
        uint64_t key; /* of the build-id, or of the path where there is none */
    } * modules;
    struct rfn_dictionary_location {
        struct rfn_location is;
        const struct rfn_dictionary_module *module;
        const struct rfn_dictionary_caller *caller; /* its function as that; NULL */
    } * locations;
    struct rfn_dictionary_caller {
        const struct rfn_program_call *calls; /* by line */
        const struct rfn_dictionary_loop {
            uint32_t first, last; /* lines */
        } * loops;
        uint32_t n_calls, n_loops;
    } * callers;
    struct rfn_path *paths;
    struct rfn_function_info *functions;
    struct rfn_call *calls; /* by function */
    struct rfn_datatype_info *datatypes;
    struct rfn_communicator *comms;
    struct rfn_dictionary_host {
        const char *name;
        uint32_t cores; /* 0: not known */
    } * hosts;
    const char **regions;
    struct rfn_map region_numbers; /* hash -> number */
    uint32_t n_modules, n_locations, n_paths, n_functions, n_datatypes, n_comms, n_hosts, n_regions,
        n_callers;
};

/* Read a payload; NULL or what is wrong. minor: version of the file. exact: bytes behind the known
 * end are an error. META comes first (rank lists are checked against the number of ranks). */
const char *rfn_dictionary_meta(struct rfn_dictionary *dictionary,
                                const struct rfn_payload *payload, uint32_t minor, bool exact);
const char *rfn_dictionary_definitions(struct rfn_dictionary *dictionary,
                                       const struct rfn_payload *payload, bool exact);
void rfn_dictionary_release(struct rfn_dictionary *dictionary);

/* The hash of a region's name as its number; false when there is no such region. */
bool rfn_dictionary_region(const struct rfn_dictionary *dictionary, int64_t *word);

/* The world rank of a member, -1 if it is not in MPI_COMM_WORLD or out of range; the rank in the
 * list of a world rank, -1 if it is not a member. O(log runs). */
int64_t rfn_rank_list_world(const struct rfn_rank_list *list, uint32_t rank);
int64_t rfn_rank_list_find(const struct rfn_rank_list *list, uint32_t world_rank);

/* Reads the list as in DEFINITIONS, Communicators; NULL or what is wrong. */
const char *rfn_rank_list_read(struct rfn_rank_list *list, struct rfn_reader *reader,
                               uint32_t n_ranks, struct rfn_arena *arena);

#endif
