#include "record/core/options.h"

#include "archive/write/forced_parameters.h"
#include "record/core/launch_checks.h"
#include "record/core/message.h"
#include "refrain/recording.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rec_options rec_options = {.times = true,
                                  .children = true,
                                  .memory_bytes = 32 << 20,
                                  .segment_min_calls = 1,
                                  .resolution_ns = 1};

/* Of a switch only that it is on. What is wrong here was set by hand: `refrain record` checks its
 * options. */
static char *checked(enum rfn_record_option option)
{
    const struct rfn_record_row *row = rfn_record_row(option);
    const char *set = getenv(row->variable);
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (!set || !*set)
        return NULL;
    if (rfn_record_check(option, row->variable, set, &diag) == 0) {
        const bool is_off = row->kind == RFN_KIND_SWITCH &&
                            strncmp(row->values, set, strlen(set)) != 0;
        return is_off ? NULL : strdup(set);
    }
    if (rec_is_launchers_first())
        rec_message("%s; %s is %s", diag.text, row->preset ? row->preset : "it",
                    row->preset ? "taken" : "ignored");
    return NULL;
}

const char *rec_options_text(enum rfn_record_option option)
{
    return rec_options.texts[option] ? rec_options.texts[option] : rfn_record_row(option)->preset;
}

static bool is(enum rfn_record_option option, const char *value)
{
    const char *text = rec_options_text(option);
    return text && strcmp(text, value) == 0;
}

/* Whether the argument is the program's, not SMPI's (whose process runs all ranks). */
static bool is_own(const char *argument, int position)
{
#ifdef RFN_FLAVOUR_SMPI
    return position > 0 && strncmp(argument, "--cfg=", 6) != 0;
#else
    (void)argument, (void)position;
    return true;
#endif
}

/* The process's arguments, separated by spaces; the first goes to rec_options.executable, too.
 * Without /proc only that is known. */
static char *own_command(void)
{
    char *text = NULL, *argument = NULL;
    size_t text_size = 0, size = 0;
    FILE *file = fopen("/proc/self/cmdline", "re"), *out = open_memstream(&text, &text_size);
    for (int i = 0; file && out && getdelim(&argument, &size, 0, file) > 0; i++) {
        if (!is_own(argument, i))
            continue;
        if (!rec_options.executable)
            rec_options.executable = strdup(argument);
        else
            putc(' ', out);
        fputs(argument, out);
    }
    free(argument);
    if (!rec_options.executable) {
        rec_options.executable = strdup(program_invocation_name);
        if (out)
            fputs(program_invocation_name, out);
    }
    if (file)
        fclose(file);
    if (out)
        fclose(out);
    return text;
}

/* The name of the executable, without folders. */
static char *own_name(void)
{
#ifdef RFN_FLAVOUR_SMPI
    const char *path = rec_options.executable ? rec_options.executable : "";
    const char *slash = strrchr(path, '/');
    return strdup(slash ? slash + 1 : path);
#else
    return strdup(program_invocation_short_name);
#endif
}

/* METHOD:THRESHOLD, which depends on two options. */
static char *own_across(void)
{
    char text[RFN_ACROSS_TEXT];
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    char **set = &rec_options.texts[RFN_RECORD_ACROSS];
    if (!*set)
        return NULL;
    if (rfn_across_text(*set, rec_options_text(RFN_RECORD_SIMILARITY), text, &diag) == 0)
        return text[0] ? strdup(text) : NULL;
    if (rec_is_launchers_first())
        rec_message("REFRAIN_ACROSS: %s; it is ignored", diag.text);
    free(*set);
    return *set = NULL;
}

/* How times are to be reduced is only said by who wants them reduced. */
static bool says_how_to_reduce(void)
{
    char *const *texts = rec_options.texts;
    return texts[RFN_RECORD_SIMILARITY] || texts[RFN_RECORD_SEGMENT_MIN_CALLS] ||
           texts[RFN_RECORD_SEGMENT_STARTS] || texts[RFN_RECORD_ACROSS];
}

/* What is counted; a run without times has volumes in any case. */
static char *own_volume(void)
{
    char *given = rec_options.texts[RFN_RECORD_VOLUME];
    return given || !rec_options.apart ? given : strdup(rfn_volume_preferred());
}

static enum rec_clock_sync own_clock_sync(void)
{
    return is(RFN_RECORD_CLOCK_SYNC, "always")  ? REC_CLOCK_SYNC_ALWAYS
           : is(RFN_RECORD_CLOCK_SYNC, "never") ? REC_CLOCK_SYNC_NEVER
                                                : REC_CLOCK_SYNC_AUTO;
}

static size_t own_memory(void)
{
    const uint64_t bytes = rfn_size_parse(rec_options_text(RFN_RECORD_MEMORY));
    return bytes > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)bytes;
}

/* From the root: programs change their directory. */
static char *own_journal_directory(void)
{
    char *given = rec_options.texts[RFN_RECORD_JOURNAL_DIR], *path = NULL;
    if (!given || given[0] == '/' || !rec_options.directory)
        return given;
    return asprintf(&path, "%s/%s", rec_options.directory, given) < 0 ? NULL : path;
}

void rec_options_read(void)
{
    struct rec_options *own = &rec_options;
    char *const *texts = own->texts;
    for (int i = 0; i < RFN_RECORD_N; i++)
        own->texts[i] = checked((enum rfn_record_option)i);
    own->output = texts[RFN_RECORD_OUTPUT];
    own->apart = texts[RFN_RECORD_TIME_INDEPENDENT] && !texts[RFN_RECORD_SAMPLE];
    own->volume = own_volume();
    own->functions = texts[RFN_RECORD_FUNCTIONS];
    own->tool = texts[RFN_RECORD_TOOL];
    own->command = own_command();
    own->program = own_name();
    if (texts[RFN_RECORD_COMMAND]) {
        free(own->command);
        own->command = texts[RFN_RECORD_COMMAND];
    }
    own->directory = getcwd(NULL, 0);
    own->memory_bytes = own_memory();
    own->force = texts[RFN_RECORD_FORCE];
    own->times = !own->apart && !is(RFN_RECORD_TIME, "none");
    own->segments = own->times && (is(RFN_RECORD_TIME, "auto") || is(RFN_RECORD_TIME, "reduced"));
    own->keep_short = own->times && is(RFN_RECORD_TIME, "auto") && !says_how_to_reduce();
    own->keeps = texts[RFN_RECORD_KEEP_PREDICTIONS] && own->times && !texts[RFN_RECORD_SAMPLE];
    own->keep_both = own->keeps && texts[RFN_RECORD_WITH_TRACE];
    if (own->keeps) {
        rfn_kept_limits_parse(texts[RFN_RECORD_KEEP_PREDICTIONS], &own->kept_limits);
        own->segments = own->keep_short = false; /* times are kept as they are */
    }
    own->exact_starts = is(RFN_RECORD_SEGMENT_STARTS, "exact");
    own->across = own_across();
    own->segment_min_calls = (uint32_t)atoi(rec_options_text(RFN_RECORD_SEGMENT_MIN_CALLS));
    own->cluster = !texts[RFN_RECORD_CLUSTER];
    if (own->cluster && texts[RFN_RECORD_IGNORE_PARAMETER])
        rfn_forced_roles_parse(texts[RFN_RECORD_IGNORE_PARAMETER], &own->forced_roles, NULL);
    if (own->cluster && texts[RFN_RECORD_MERGE_INTERVAL])
        rfn_every_parse(texts[RFN_RECORD_MERGE_INTERVAL], &own->merge_interval);
    own->all_polls = is(RFN_RECORD_POLLS, "all");
    own->start_off = texts[RFN_RECORD_START] || texts[RFN_RECORD_FROM];
    own->quiet = texts[RFN_RECORD_QUIET];
    own->resolution_ns = rfn_resolution_parse(rec_options_text(RFN_RECORD_RESOLUTION));
    if (own->apart && !texts[RFN_RECORD_CALL_PATH_MATCH])
        own->path_ends = (struct rfn_path_ends){.inner = 1}; /* which takes no walk */
    else
        rfn_path_match_parse(rec_options_text(RFN_RECORD_CALL_PATH_MATCH), &own->path_ends);
    if (texts[RFN_RECORD_FUNCTIONS_MIN])
        own->functions_min_ns = rfn_resolution_parse(texts[RFN_RECORD_FUNCTIONS_MIN]);
    own->functions_rate = rfn_function_rate_parse(rec_options_text(RFN_RECORD_FUNCTIONS_RATE));
    own->clock_sync = own_clock_sync();
    own->journal = !texts[RFN_RECORD_NO_JOURNAL];
    own->journal_asked = own->journal && texts[RFN_RECORD_JOURNAL];
    own->journal_directory = own_journal_directory();
    own->journal_ms = atoi(rec_options_text(RFN_RECORD_JOURNAL_INTERVAL));
    own->write = !is(RFN_RECORD_WRITE, "no");
    own->children = !texts[RFN_RECORD_CHILDREN];
}

/* With --keep-predictions times of ranks of a node are compared to the nanosecond. */
const char *rec_options_clock(void)
{
    const char *text = rec_options_text(RFN_RECORD_CLOCK);
#ifdef RFN_FLAVOUR_SMPI
    return text;
#else
    return !text && rec_options.keeps ? "monotonic" : text;
#endif
}

struct rfn_criterion rec_options_criterion(void)
{
    struct rfn_criterion criterion = {0};
    rfn_criterion_parse(rec_options_text(RFN_RECORD_SIMILARITY), false, &criterion, NULL);
    return criterion;
}

#ifndef RFN_FLAVOUR_SMPI /* there all ranks share one environment, and nothing is preloaded */
/* Whether a list that is separated by colons has the word. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ':')) {
        at += *at == ':';
        if (strcspn(at, ":") == length && strncmp(at, word, length) == 0)
            return true;
    }
    return false;
}

/* Removes these paths from LD_PRELOAD, a list separated by colons or spaces. */
static void drop_preload(const char *own)
{
    const char *list = getenv("LD_PRELOAD");
    if (!list)
        return;
    char *copy = strdup(list), *rest = calloc(1, strlen(list) + 1), *state = NULL;
    for (char *word = copy ? strtok_r(copy, ": ", &state) : NULL; word && rest;
         word = strtok_r(NULL, ": ", &state)) {
        if (has_word(own, word))
            continue;
        if (*rest)
            strcat(rest, ":");
        strcat(rest, word);
    }
    if (rest && *rest)
        setenv("LD_PRELOAD", rest, 1);
    else
        unsetenv("LD_PRELOAD");
    free(copy);
    free(rest);
}

void rec_options_clean_environment(void)
{
    const char *preload = getenv("REFRAIN_PRELOAD");
    if (preload)
        drop_preload(preload);
    for (int i = 0; i < RFN_RECORD_N; i++)
        unsetenv(rfn_record_row((enum rfn_record_option)i)->variable);
}
#else
void rec_options_clean_environment(void)
{
}
#endif
