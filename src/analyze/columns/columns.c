/* columns.c - what tables there are, and the names behind codes (refrain/columns.h). */
#include "refrain/columns.h"

#include "analyze/columns/column_lists.h"
#include "refrain/event.h"
#include "refrain/waits.h"

int rfn_columns_version(void)
{
    return RFN_COLUMNS_VERSION;
}

uint32_t rfn_columns_of(enum rfn_column_table table, const struct rfn_column_info **columns)
{
    struct rfn_column_list list = {NULL, 0};
    if (table == RFN_COLUMNS_EVENTS)
        list = rfn_event_columns;
    else if (table == RFN_COLUMNS_MESSAGES)
        list = rfn_message_columns;
    else if (table == RFN_COLUMNS_THREADS)
        list = rfn_thread_columns;
    else if (table < RFN_COLUMNS_TABLES)
        list = rfn_result_columns[table];
    *columns = list.columns;
    return list.n;
}

static const char *const modes[] = {[RFN_SEND_STANDARD] = "standard",
                                    [RFN_SEND_SYNCHRONOUS] = "synchronous",
                                    [RFN_SEND_BUFFERED] = "buffered",
                                    [RFN_SEND_READY] = "ready"};

uint32_t rfn_columns_codes(const struct rfn_archive *archive, enum rfn_column_names names)
{
    switch (names) {
    case RFN_NAMES_FUNCTIONS:
        return rfn_archive_functions(archive);
    case RFN_NAMES_PATHS:
        return rfn_archive_paths(archive);
    case RFN_NAMES_REGIONS:
        return rfn_archive_regions(archive);
    case RFN_NAMES_PATTERNS:
        return RFN_PATTERN_COUNT;
    case RFN_NAMES_HOSTS:
        return rfn_archive_hosts(archive);
    case RFN_NAMES_MODES:
        return sizeof modes / sizeof *modes;
    case RFN_NAMES_ACTIVITIES:
        return RFN_ACTIVITY_KIND_COUNT;
    default:
        return 0;
    }
}

const char *rfn_columns_name(const struct rfn_archive *archive, enum rfn_column_names names,
                             uint32_t code)
{
    if (code >= rfn_columns_codes(archive, names))
        return NULL;
    switch (names) {
    case RFN_NAMES_FUNCTIONS:
        return rfn_archive_function(archive, code)->name;
    case RFN_NAMES_REGIONS:
        return rfn_archive_region(archive, code);
    case RFN_NAMES_PATTERNS:
        return rfn_pattern_name((enum rfn_pattern)code);
    case RFN_NAMES_HOSTS:
        return rfn_archive_host(archive, code).name;
    case RFN_NAMES_MODES:
        return modes[code];
    case RFN_NAMES_ACTIVITIES:
        return rfn_activity_kind_name((enum rfn_activity_kind)code);
    default:
        return NULL;
    }
}
