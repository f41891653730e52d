#include "record/options.h"

#include "archive/forced_parameters.h"
#include "record/say.h"
#include "refrain/recording.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_MEMORY = 1 << 20, MEMORY = 32 << 20 };

struct rec_options rec_options = {.times = true,
                                  .children = true,
                                  .memory_bytes = MEMORY,
                                  .segment_min_calls = 1,
                                  .resolution_ns = RFN_RESOLUTION_MIN_NS};

static bool is(const char *variable, const char *value)
{
    const char *set = getenv(variable);
    return set && strcmp(set, value) == 0;
}

static char *copy_of(const char *variable)
{
    const char *set = getenv(variable);
    return set && *set ? strdup(set) : NULL;
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

/* The process's arguments, separated by spaces; the first goes to rec_options.executable, too. */
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

static size_t memory_bytes(void)
{
    const char *set = getenv("REFRAIN_MEMORY");
    unsigned long long bytes = set ? strtoull(set, NULL, 10) : MEMORY;
    return bytes > SIZE_MAX / 2   ? SIZE_MAX / 2
           : bytes < LEAST_MEMORY ? LEAST_MEMORY
                                  : (size_t)bytes;
}

/* What is wrong here was set by hand: `refrain record` checks its options. */
static uint64_t own_resolution(void)
{
    const char *set = getenv("REFRAIN_RESOLUTION");
    uint64_t ns = set && *set ? rfn_resolution_parse(set) : RFN_RESOLUTION_MIN_NS;
    if (ns)
        return ns;
    rec_say("REFRAIN_RESOLUTION=%s is no time from 1ns to 1s, so that 1ns is taken", set);
    return RFN_RESOLUTION_MIN_NS;
}

static uint64_t own_ahead_bytes(void)
{
    const char *set = getenv("REFRAIN_WRITE_AHEAD");
    char *end = NULL;
    if (!set || !*set)
        return 0;
    if (strcmp(set, "no") == 0)
        return UINT64_MAX;
    uint64_t bytes = strtoull(set, &end, 10);
    if (!*end)
        return bytes;
    rec_say(
        "REFRAIN_WRITE_AHEAD=%s is neither no nor a number of bytes: all times are written ahead",
        set);
    return 0;
}

static const char *similar_wanted(void)
{
    return rec_options.similar ? rec_options.similar : RFN_SIMILAR_DEFAULT;
}

/* The same. */
static char *own_similar(void)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    char *similar = copy_of("REFRAIN_SIMILARITY");
    if (!similar || rfn_similarity_check(similar, &diag) == 0)
        return similar;
    rec_say("REFRAIN_SIMILARITY: %s; the default is taken", diag.text);
    free(similar);
    return NULL;
}

/* The same; after REFRAIN_SIMILARITY. */
static char *own_across(void)
{
    char text[RFN_ACROSS_TEXT];
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const char *set = getenv("REFRAIN_ACROSS");
    if (!set || !*set)
        return NULL;
    if (rfn_across_text(set, similar_wanted(), text, &diag) == 0)
        return text[0] ? strdup(text) : NULL;
    rec_say("REFRAIN_ACROSS: %s; processes are not compared", diag.text);
    return NULL;
}

static uint32_t own_min_calls(void)
{
    const char *set = getenv("REFRAIN_SEGMENT_MIN_CALLS");
    unsigned long long calls = set ? strtoull(set, NULL, 10) : 1;
    return calls < 1 ? 1 : calls > INT32_MAX ? INT32_MAX : (uint32_t)calls;
}

/* The same. */
static struct rfn_every own_cluster_every(void)
{
    struct rfn_every every = {0};
    const char *set = getenv("REFRAIN_MERGE_INTERVAL");
    if (set && *set && !rfn_every_parse(set, &every))
        rec_say("REFRAIN_MERGE_INTERVAL=%s is neither a number of segments nor seconds, as 30s, so "
                "that ranks merge in the end only",
                set);
    return every;
}

/* The same. */
static unsigned own_forced_roles(void)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    unsigned roles = 0;
    const char *set = getenv("REFRAIN_IGNORE_PARAMETER");
    if (!set || !*set || rfn_forced_roles_parse(set, &roles, &diag) == 0)
        return roles;
    rec_say("REFRAIN_IGNORE_PARAMETER: %s; none are merged", diag.text);
    return 0;
}

static struct rfn_path_ends own_path_ends(void)
{
    struct rfn_path_ends ends = {0};
    const char *set = getenv("REFRAIN_CALL_PATH_MATCH");
    if (set && *set && !rfn_path_match_parse(set, &ends))
        rec_say(
            "REFRAIN_CALL_PATH_MATCH=%s is neither all nor ends:OUTER,INNER, so that all frames "
            "count",
            set);
    return ends;
}

/* The patterns and limits for functions. */
static void read_functions(void)
{
    const char *min = getenv("REFRAIN_FUNCTIONS_MIN"), *rate = getenv("REFRAIN_FUNCTIONS_RATE");
    rec_options.functions = copy_of("REFRAIN_FUNCTIONS");
    rec_options.functions_min_ns = min ? rfn_resolution_parse(min) : 0;
    rec_options.functions_rate = rate && *rate ? rfn_function_rate_parse(rate) : REC_FUNCTIONS_RATE;
    if (rec_options.functions && !rfn_function_patterns(rec_options.functions)) {
        rec_say("REFRAIN_FUNCTIONS=%s is no list of patterns, so that no functions are recorded",
                rec_options.functions);
        free(rec_options.functions);
        rec_options.functions = NULL;
    }
    if (min && *min && strcmp(min, "0") != 0 && !rec_options.functions_min_ns)
        rec_say("REFRAIN_FUNCTIONS_MIN=%s is no time up to 1s, so that there is no minimum", min);
    if (!rec_options.functions_rate) {
        rec_say("REFRAIN_FUNCTIONS_RATE=%s is no number of calls, so that %d is taken", rate,
                REC_FUNCTIONS_RATE);
        rec_options.functions_rate = REC_FUNCTIONS_RATE;
    }
}

static enum rec_clock_sync own_clock_sync(void)
{
    const char *set = getenv("REFRAIN_CLOCK_SYNC");
    if (is("REFRAIN_CLOCK_SYNC", "always"))
        return REC_CLOCK_SYNC_ALWAYS;
    if (is("REFRAIN_CLOCK_SYNC", "never"))
        return REC_CLOCK_SYNC_NEVER;
    if (set && *set && strcmp(set, "auto") != 0)
        rec_say("REFRAIN_CLOCK_SYNC=%s is none of always, never and auto, so that auto is taken",
                set);
    return REC_CLOCK_SYNC_AUTO;
}

void rec_options_read(void)
{
    rec_options.output = copy_of("REFRAIN_OUTPUT");
    rec_options.command = copy_of("REFRAIN_COMMAND");
    char *command = own_command();
    rec_options.program = own_name();
    if (rec_options.command)
        free(command);
    else
        rec_options.command = command;
    rec_options.directory = getcwd(NULL, 0);
    rec_options.memory_bytes = memory_bytes();
    rec_options.force = is("REFRAIN_FORCE", "1");
    rec_options.times = !is("REFRAIN_TIME", "none");
    rec_options.segments = rec_options.times && !is("REFRAIN_TIME", "full");
    rec_options.exact_starts = is("REFRAIN_SEGMENT_STARTS", "exact");
    rec_options.similar = own_similar();
    rec_options.across = own_across();
    rec_options.segment_min_calls = own_min_calls();
    rec_options.merge_all = is("REFRAIN_MERGE", "all");
    rec_options.cluster = !is("REFRAIN_CLUSTER", "no") && !rec_options.merge_all;
    if (rec_options.cluster) {
        rec_options.forced_roles = own_forced_roles();
        rec_options.cluster_every = own_cluster_every();
    }
    rec_options.all_polls = is("REFRAIN_POLLS", "all");
    rec_options.start_off = is("REFRAIN_START", "off");
    rec_options.quiet = is("REFRAIN_QUIET", "1");
    rec_options.volume = copy_of("REFRAIN_VOLUME");
    rec_options.resolution_ns = own_resolution();
    rec_options.path_ends = own_path_ends();
    read_functions();
    rec_options.clock_sync = own_clock_sync();
    rec_options.node_memory = !is("REFRAIN_NODE_MEMORY", "no");
    rec_options.ahead_bytes = own_ahead_bytes();
    rec_options.tool = copy_of("REFRAIN_TOOL");
    rec_options.write = !is("REFRAIN_WRITE", "no");
    rec_options.children = !is("REFRAIN_CHILDREN", "no");
}

struct rfn_criterion rec_options_criterion(void)
{
    struct rfn_criterion criterion = {0};
    rfn_criterion_parse(similar_wanted(), false, &criterion, NULL);
    return criterion;
}

#ifndef RFN_FLAVOUR_SMPI /* there all ranks share one environment, and nothing is preloaded */
/* Removes one path from LD_PRELOAD, a list separated by colons or spaces. */
static void drop_preload(const char *path)
{
    const char *list = getenv("LD_PRELOAD");
    if (!list)
        return;
    char *copy = strdup(list), *rest = calloc(1, strlen(list) + 1), *state = NULL;
    for (char *word = copy ? strtok_r(copy, ": ", &state) : NULL; word && rest;
         word = strtok_r(NULL, ": ", &state)) {
        if (strcmp(word, path) == 0)
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
    static const char *const variables[] = {"REFRAIN_OUTPUT",
                                            "REFRAIN_FORCE",
                                            "REFRAIN_TIME",
                                            "REFRAIN_POLLS",
                                            "REFRAIN_PID",
                                            "REFRAIN_COMMAND",
                                            "REFRAIN_PRELOAD",
                                            "REFRAIN_QUIET",
                                            "REFRAIN_CLOCK",
                                            "REFRAIN_MEMORY",
                                            "REFRAIN_VOLUME",
                                            "REFRAIN_RESOLUTION",
                                            "REFRAIN_TOOL",
                                            "REFRAIN_CHILDREN",
                                            "REFRAIN_START",
                                            "REFRAIN_CLOCK_SYNC",
                                            "REFRAIN_NODE_MEMORY",
                                            "REFRAIN_WRITE_AHEAD",
                                            "REFRAIN_SIMILARITY",
                                            "REFRAIN_SEGMENT_MIN_CALLS",
                                            "REFRAIN_SEGMENT_STARTS",
                                            "REFRAIN_WRITE",
                                            "REFRAIN_FUNCTIONS",
                                            "REFRAIN_FUNCTIONS_MIN",
                                            "REFRAIN_FUNCTIONS_RATE",
                                            "REFRAIN_ACROSS",
                                            "REFRAIN_CLUSTER",
                                            "REFRAIN_MERGE_INTERVAL",
                                            "REFRAIN_IGNORE_PARAMETER",
                                            "REFRAIN_MERGE",
                                            "REFRAIN_CALL_PATH_MATCH"};
    const char *preload = getenv("REFRAIN_PRELOAD");
    if (preload)
        drop_preload(preload);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}
#else
void rec_options_clean_environment(void)
{
}
#endif
