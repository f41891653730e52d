#define _GNU_SOURCE /* asprintf */
#include "cli/recovery.h"

#include "cli/args/journal_folder.h"
#include "cli/text/json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* Whether a file was there before the run. */
static bool is_older(const struct stat *file, const struct rfn_journals *journals)
{
    const struct timespec *changed = &file->st_mtim;
    return changed->tv_sec * INT64_C(1000000000) + changed->tv_nsec < journals->start_realtime_ns;
}

/* Whether it is an archive of another run that stays; not when that is not known. */
static bool is_of_other_run(const struct rfn_recovery *recovery, const char *path,
                            const struct rfn_journals *journals)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct stat status;
    if (!journals->identity || stat(path, &status) < 0 ||
        (recovery->written.force && is_older(&status, journals)) || !rfn_is_archive_file(path) ||
        rfn_archive_open(path, &archive, &diag) < 0)
        return false;
    const uint64_t identity = rfn_archive_run(archive)->identity;
    rfn_archive_close(archive);
    return identity && identity != journals->identity;
}

static bool is_among(const char *name, char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* "app.4.2.rfn" of "app.4.rfn". */
static char *with_number(const char *name, unsigned number)
{
    static const char suffix[] = ".rfn";
    const size_t length = strlen(name), cut = sizeof suffix - 1;
    const bool suffixed = length > cut && strcmp(name + length - cut, suffix) == 0;
    char *made = NULL;
    if (number < 2)
        return strdup(name);
    return asprintf(&made, "%.*s.%u%s", (int)(length - (suffixed ? cut : 0)), name, number,
                    suffixed ? suffix : "") < 0
               ? NULL
               : made;
}

char *rfn_recovery_numbered(const struct rfn_recovery *recovery, const char *name,
                            const struct rfn_journals *journals, char *const *taken, size_t n)
{
    for (unsigned number = 1;; number++) {
        char *found = with_number(name, number);
        if (!found || (!is_among(found, taken, n) && !is_of_other_run(recovery, found, journals)))
            return found;
        free(found);
    }
}

/* ---- runs that go on ---- */

/* Whether a process runs; one whose parent has not noticed its end does not. */
static bool is_there(uint64_t pid)
{
    char path[40], text[512];
    if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
        return false;
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    FILE *file = fopen(path, "re");
    const char *behind = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    const bool ended = behind && (strncmp(behind, ") Z", 3) == 0 || strncmp(behind, ") X", 3) == 0);
    if (file)
        fclose(file);
    return !ended;
}

/* Processes of ranks that are there on this node; *here: how many ranks are this node's. */
static size_t count_processes(const struct rfn_journals *journals, size_t *here)
{
    char host[256] = "";
    size_t n = 0;
    gethostname(host, sizeof host - 1);
    *here = 0;
    for (size_t i = 0; i < journals->n; i++) {
        const struct rfn_journal_rank *rank = journals->ranks[i];
        if (strcmp(rank->host, host) != 0)
            continue;
        ++*here;
        n += is_there(rank->pid);
    }
    return n;
}

bool rfn_recovery_has_ended(const struct rfn_journals *journals)
{
    size_t here;
    return count_processes(journals, &here) == 0 && here == journals->n;
}

static double seconds_ago(const struct rfn_journals *journals);

bool rfn_recovery_goes_on(const struct rfn_journals *journals)
{
    enum { MINUTE = 60 };
    size_t here;
    return count_processes(journals, &here) > 0 && seconds_ago(journals) < MINUTE;
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
                      const struct rfn_merge_result *made, const struct rfn_archive *archive,
                      int status)
{
    json_t *value = json_object(), *ranks = json_array();
    RFN_JSON_SET(value, "file", recovery->written.output);
    RFN_JSON_SET(value, "ranks", made->ranks);
    RFN_JSON_SET(value, "missing", made->missing);
    RFN_JSON_SET(value, "missing_ranks", made->missing_ranks);
    RFN_JSON_SET(value, "events", made->events);
    RFN_JSON_SET(value, "bytes", made->bytes);
    RFN_JSON_SET(value, "start_realtime_ns", journals->start_realtime_ns);
    RFN_JSON_SET(value, "command",
                 archive ? rfn_json_text(rfn_archive_run(archive)->command) : json_null());
    if (recovery->is_live)
        RFN_JSON_SET(value, "seconds_ago", seconds_ago(journals));
    for (size_t i = 0; i < journals->n; i++)
        json_array_append_new(ranks, json_of(journals->ranks[i]));
    RFN_JSON_SET(value, "journals", ranks);
    return recovery->repeats || recovery->is_one_of_runs
               ? rfn_command_print_json_line(value, status)
               : rfn_command_print_json(value, status);
}

/* "started 2026-11-29 15:31:07 UTC: ./app 400" */
static void add_start(struct rfn_text *text, const struct rfn_journals *journals,
                      const struct rfn_archive *archive)
{
    char date[64] = "at an unknown time";
    const time_t start = (time_t)(journals->start_realtime_ns / 1000000000);
    const struct tm *utc = gmtime(&start);
    const char *command = archive ? rfn_archive_run(archive)->command : NULL;
    if (utc)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", utc);
    rfn_text_format(text, "  started %s: ", date);
    rfn_text_printable(text, command ? command : "?");
    rfn_text_char(text, '\n');
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
                      const struct rfn_merge_result *made, const struct rfn_archive *archive,
                      int status)
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
    if (archive)
        add_start(&text, journals, archive);
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
    const bool wanted = recovery->written.json || recovery->is_one_of_runs;
    struct rfn_archive *archive = NULL;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (wanted && rfn_archive_open(recovery->written.output, &archive, &diag) < 0)
        archive = NULL;
    const int printed = recovery->written.json
                            ? print_json(recovery, journals, made, archive, status)
                            : print_text(recovery, journals, made, archive, status);
    if (archive)
        rfn_archive_close(archive);
    return printed;
}
