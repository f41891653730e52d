#define _POSIX_C_SOURCE 200809L /* strndup, clock_gettime */
#include "cli/recovery.h"

#include "cli/args/journal_folder.h"
#include "cli/text/json.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

char *rfn_recovery_name(const char *folder)
{
    static const char suffix[] = ".journal";
    const size_t cut = sizeof suffix - 1;
    size_t length = strlen(folder);
    struct stat status;
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (length > cut && strncmp(folder + length - cut, suffix, cut) == 0) {
        char *name = strndup(folder, length - cut);
        if (!name)
            rfn_command_error("%s", rfn_error_text(RFN_E_NOMEM));
        return name;
    }
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        rfn_command_error("%s is no folder: give that of a journal, FILE.rfn.journal", folder);
    else
        rfn_command_error("where to? (-o OUT: %s has no name of the form FILE.rfn.journal)",
                          folder);
    return NULL;
}

int rfn_recovery_make(const struct rfn_recovery *recovery, const struct rfn_journals *journals,
                      struct rfn_merge_result *made, struct rfn_diag *diag)
{
    return rfn_journal_folder_recover(journals, recovery->written.output, recovery->written.force,
                                      recovery->is_first, made, diag);
}

int rfn_recovery_fail(const struct rfn_recovery *recovery, int error, const struct rfn_diag *diag)
{
    if (error != RFN_E_EXISTS)
        return rfn_command_fail(NULL, error, diag);
    rfn_command_error("%s exists already; --force replaces it, -o OUT writes elsewhere",
                      recovery->written.output);
    return RFN_EXIT_FAILURE;
}

/* ---- the result ---- */

static const char *const state_words[] = {[RFN_JOURNAL_RUNNING] = "running",
                                          [RFN_JOURNAL_EXITED] = "exited",
                                          [RFN_JOURNAL_ABORTED] = "aborted"};

static double seconds_of(const struct rfn_journal_rank *rank)
{
    return (double)(rank->until_realtime_ns - rank->start_realtime_ns) * 1e-9;
}

/* How long ago the last rank saved. The clock of its node may differ. */
static double seconds_ago(const struct rfn_journals *journals)
{
    struct timespec now;
    int64_t last = 0;
    for (size_t i = 0; i < journals->n; i++) {
        const int64_t until = journals->ranks[i]->until_realtime_ns;
        last = until > last ? until : last;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    const double ago = (double)now.tv_sec - (double)last * 1e-9 + (double)now.tv_nsec * 1e-9;
    return ago > 0 ? ago : 0;
}

static json_t *json_of(const struct rfn_journal_rank *rank)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "rank", rank->rank);
    RFN_JSON_SET(value, "host", rank->host);
    RFN_JSON_SET(value, "until_seconds", seconds_of(rank));
    RFN_JSON_SET(value, "state", state_words[rank->state]);
    RFN_JSON_SET(value, "times_lost", rank->times_lost);
    return value;
}

static int print_json(const struct rfn_recovery *recovery, const struct rfn_journals *journals,
                      const struct rfn_merge_result *made, int status)
{
    json_t *value = json_object(), *ranks = json_array();
    RFN_JSON_SET(value, "file", recovery->written.output);
    RFN_JSON_SET(value, "ranks", made->ranks);
    RFN_JSON_SET(value, "missing", made->missing);
    RFN_JSON_SET(value, "missing_ranks", made->missing_ranks);
    RFN_JSON_SET(value, "events", made->events);
    RFN_JSON_SET(value, "bytes", made->bytes);
    if (recovery->is_live)
        RFN_JSON_SET(value, "seconds_ago", seconds_ago(journals));
    for (size_t i = 0; i < journals->n; i++)
        json_array_append_new(ranks, json_of(journals->ranks[i]));
    RFN_JSON_SET(value, "journals", ranks);
    return recovery->repeats ? rfn_command_print_json_line(value, status)
                             : rfn_command_print_json(value, status);
}

/* "until 12.1 to 12.6 s after the start, 0.4 s ago" */
static void add_until(struct rfn_text *text, const struct rfn_recovery *recovery,
                      const struct rfn_journals *journals)
{
    double first = seconds_of(journals->ranks[0]), last = first;
    for (size_t i = 0; i < journals->n; i++) {
        const double seconds = seconds_of(journals->ranks[i]);
        first = seconds < first ? seconds : first;
        last = seconds > last ? seconds : last;
    }
    rfn_text_string(text, "until ");
    if (last - first >= 0.1)
        rfn_text_format(text, "%.1f to ", first);
    rfn_text_format(text, "%.1f s after the start", last);
    if (recovery->is_live)
        rfn_text_format(text, ", %.1f s ago", seconds_ago(journals));
}

/* "app.4.rfn: 4 of 4 ranks, until 12.1 to 12.6 s after the start; 12,345 events, 32.1 KiB" */
static int print_text(const struct rfn_recovery *recovery, const struct rfn_journals *journals,
                      const struct rfn_merge_result *made, int status)
{
    struct rfn_text text = {0};
    size_t without_times = 0;
    for (size_t i = 0; i < journals->n; i++)
        without_times += journals->ranks[i]->times_lost;
    rfn_text_printable(&text, recovery->written.output);
    rfn_text_format(&text, ": %u of %u ranks, ", made->ranks - made->missing, made->ranks);
    if (made->missing && recovery->repeats)
        rfn_text_format(&text, "without %s, ", made->missing_ranks);
    add_until(&text, recovery, journals);
    rfn_text_format(&text, "; %s events, %s\n", rfn_count_text(made->events).text,
                    rfn_bytes_text(made->bytes).text);
    if (made->missing && !recovery->repeats)
        rfn_text_format(&text, "Rank%s %s left no journal that can be read.\n",
                        made->missing == 1 ? "" : "s", made->missing_ranks);
    if (without_times == journals->n && recovery->is_first)
        rfn_text_format(&text, "There are no times: they were being reduced (record with "
                               "--time=full to have them).\n");
    return rfn_command_print(&text, NULL, status);
}

int rfn_recovery_print(const struct rfn_recovery *recovery, const struct rfn_journals *journals,
                       const struct rfn_merge_result *made)
{
    const int status = made->missing ? RFN_EXIT_BAD_INPUT : RFN_EXIT_OK;
    return recovery->written.json ? print_json(recovery, journals, made, status)
                                  : print_text(recovery, journals, made, status);
}
