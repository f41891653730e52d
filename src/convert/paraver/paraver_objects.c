/* What there is in a run: hosts as nodes, ranks as tasks, threads on a processor each. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */

#include "convert/paraver/paraver_writing.h"
#include "convert/run_part.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- numbers ---- */

static const char *host_of(const struct rfn_stream_info *stream)
{
    return stream->host ? stream->host : "";
}

/* The node of a host, from 1; 0: out of memory. */
static uint32_t node_of(struct paraver_objects *objects, struct rfn_map *nodes, const char *host)
{
    const uint64_t key = rfn_hash_bytes(host, strlen(host));
    const uint64_t *found = rfn_map_get(nodes, key);
    if (found)
        return (uint32_t)*found;
    objects->nodes[objects->n_nodes++] = host;
    return rfn_map_put(nodes, key, objects->n_nodes) < 0 ? 0 : objects->n_nodes;
}

static bool number_streams(struct paraver_objects *objects, const struct rfn_archive *archive,
                           const struct rfn_convert_part *part, struct rfn_map *nodes)
{
    uint32_t rank = UINT32_MAX, thread = 0;
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams; i++) {
        const struct rfn_stream_info stream = rfn_archive_stream(archive, i);
        struct paraver_object *object = &objects->streams[i];
        if (!rfn_part_has_rank(part, stream.rank))
            continue;
        if (stream.rank != rank) {
            objects->n_tasks++;
            thread = 0;
        }
        rank = stream.rank;
        thread++;
        *object = (struct paraver_object){.task = objects->n_tasks,
                                          .thread = thread,
                                          .node = node_of(objects, nodes, host_of(&stream))};
        if (!object->node)
            return false;
        objects->n_threads++;
        object->cpu = ++objects->node_cpus[object->node - 1]; /* on its node so far */
    }
    return true;
}

/* Processors are numbered node by node. */
static bool number_processors(struct paraver_objects *objects, uint32_t streams)
{
    uint32_t *before = calloc((size_t)objects->n_nodes + 1, sizeof *before);
    if (!before)
        return false;
    for (uint32_t node = 1; node < objects->n_nodes; node++)
        before[node] = before[node - 1] + objects->node_cpus[node - 1];
    for (uint32_t i = 0; i < streams; i++) {
        if (objects->streams[i].node)
            objects->streams[i].cpu += before[objects->streams[i].node - 1];
    }
    free(before);
    return true;
}

int rfn_paraver_objects_init(struct paraver_objects *objects, const struct rfn_archive *archive,
                             const struct rfn_convert_part *part)
{
    const size_t streams = (size_t)rfn_archive_run(archive)->streams + 1;
    struct rfn_map nodes = RFN_MAP_INIT;
    objects->streams = calloc(streams, sizeof *objects->streams);
    objects->nodes = calloc(streams, sizeof *objects->nodes);
    objects->node_cpus = calloc(streams, sizeof *objects->node_cpus);
    const bool whole = objects->streams && objects->nodes && objects->node_cpus &&
                       number_streams(objects, archive, part, &nodes) &&
                       number_processors(objects, rfn_archive_run(archive)->streams);
    rfn_map_release(&nodes);
    return whole ? 0 : RFN_E_NOMEM;
}

void rfn_paraver_objects_release(struct paraver_objects *objects)
{
    free(objects->streams);
    free(objects->nodes);
    free(objects->node_cpus);
}

/* ---- the head ---- */

/* "#Paraver (28/11/26 at 19:04):1200_ns:2(2,2):1:4(1:1,1:1,1:2,1:2)" */
static void append_date(struct rfn_text *text, int64_t realtime_ns)
{
    const time_t seconds = (time_t)(realtime_ns / 1000000000);
    char date[32] = "01/01/70 at 00:00";
    struct tm when;
    if (gmtime_r(&seconds, &when))
        strftime(date, sizeof date, "%d/%m/%y at %H:%M", &when);
    rfn_text_format(text, "#Paraver (%s):", date);
}

static void append_tasks(struct rfn_text *text, const struct paraver_objects *objects,
                         uint32_t streams)
{
    const char *comma = "";
    for (uint32_t i = 0; i < streams;) {
        const struct paraver_object *first = &objects->streams[i];
        uint32_t threads = 0;
        for (; i < streams && objects->streams[i].task == first->task; i++)
            threads++;
        if (!first->task)
            continue;
        rfn_text_format(text, "%s%" PRIu32 ":%" PRIu32, comma, threads, first->node);
        comma = ",";
    }
}

void rfn_paraver_head(struct rfn_text *text, const struct rfn_archive *archive,
                      const struct paraver_objects *objects, int64_t end_ns)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    append_date(text, run->start_realtime_ns);
    rfn_text_format(text, "%" PRId64 "_ns:%" PRIu32 "(", end_ns, objects->n_nodes);
    for (uint32_t i = 0; i < objects->n_nodes; i++)
        rfn_text_format(text, "%s%" PRIu32, i ? "," : "", objects->node_cpus[i]);
    rfn_text_format(text, "):1:%" PRIu32 "(", objects->n_tasks);
    append_tasks(text, objects, run->streams);
    rfn_text_string(text, ")\n");
}

/* ---- names ---- */

static void append_nodes(struct rfn_text *text, const struct paraver_objects *objects)
{
    rfn_text_format(text, "LEVEL NODE SIZE %" PRIu32 "\n", objects->n_nodes);
    for (uint32_t i = 0; i < objects->n_nodes; i++) {
        rfn_text_printable(text, objects->nodes[i]);
        rfn_text_char(text, '\n');
    }
}

void rfn_paraver_row(struct rfn_text *text, const struct rfn_archive *archive,
                     const struct paraver_objects *objects)
{
    const uint32_t streams = rfn_archive_run(archive)->streams;
    append_nodes(text, objects);
    rfn_text_format(text, "\nLEVEL TASK SIZE %" PRIu32 "\n", objects->n_tasks);
    for (uint32_t i = 0; i < streams; i++) {
        if (objects->streams[i].thread == 1)
            rfn_text_format(text, "rank %" PRIu32 "\n", rfn_archive_stream(archive, i).rank);
    }
    rfn_text_format(text, "\nLEVEL THREAD SIZE %" PRIu32 "\n", objects->n_threads);
    for (uint32_t i = 0; i < streams; i++) {
        const struct rfn_stream_info stream = rfn_archive_stream(archive, i);
        if (!objects->streams[i].task)
            continue;
        rfn_text_format(text, "rank %" PRIu32, stream.rank);
        if (stream.thread)
            rfn_text_format(text, ", thread %" PRIu32, stream.thread);
        rfn_text_char(text, '\n');
    }
}
