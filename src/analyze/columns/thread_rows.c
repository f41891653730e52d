/* thread_rows.c - the streams of an archive as columns (refrain/columns.h). */
#include "analyze/columns/column_lists.h"

#include <string.h>

#define THREAD_COLUMNS(X)                              \
    X(rank, INT32, NONE, info.rank)                    \
    X(thread, INT32, NONE, info.thread)                \
    X(host, INT32, HOSTS, host_of(archive, info.host)) \
    X(group, INT32, NONE, info.group)                  \
    X(events, INT64, NONE, info.events)                \
    X(calls, INT64, NONE, info.calls)                  \
    X(region_events, INT64, NONE, info.region_events)  \
    X(readable, INT32, NONE, info.readable)

static const struct rfn_column_info thread_columns[] = {THREAD_COLUMNS(RFN_COLUMN_INFO)};
const struct rfn_column_list rfn_thread_columns = RFN_COLUMN_LIST(thread_columns);

static int64_t host_of(const struct rfn_archive *archive, const char *name)
{
    for (uint32_t i = 0; name && i < rfn_archive_hosts(archive); i++) {
        const char *host = rfn_archive_host(archive, i).name;
        if (host == name || (host && strcmp(host, name) == 0))
            return i;
    }
    return -1;
}

void rfn_thread_rows(const struct rfn_archive *archive, void *const *columns)
{
    const uint32_t n = rfn_archive_run(archive)->streams;
    for (uint32_t at = 0; at < n; at++) {
        const struct rfn_stream_info info = rfn_archive_stream(archive, at);
        void *const *next = columns;
        THREAD_COLUMNS(RFN_COLUMN_PUT)
    }
}
