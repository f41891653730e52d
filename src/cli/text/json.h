/* json.h - what the verbs with --json share. */
#ifndef RFN_CLI_TEXT_JSON_H
#define RFN_CLI_TEXT_JSON_H

#include "refrain/explain.h"

#include <jansson.h>
#include <stdbool.h>

/* Running out of memory is noted, wherever in a value it was, so that none is printed that lacks
 * something. Called once, before all others; it clears the note. */
void rfn_json_init(void);
/* Notes it, for memory that is not jansson's. NULL. */
json_t *rfn_json_fail(void);
bool rfn_json_failed(void);

/* Sets a member of an object to a value of JSON, or what becomes one. A truth that is no bool, as
 * that of a comparison, does not compile. */
#define RFN_JSON_SET(object, key, value) \
    json_object_set_new(object, key,                              \
                        _Generic((value),                         \
                            json_t *: rfn_json_same,              \
                            const char *: rfn_json_text,          \
                            char *: rfn_json_text,                \
                            double: json_real,                    \
                            bool: rfn_json_bool,                  \
                            int64_t: json_integer,                \
                            uint32_t: rfn_json_count,             \
                            uint64_t: rfn_json_count)(value))

static inline json_t *rfn_json_same(json_t *value)
{
    return value;
}

static inline json_t *rfn_json_bool(bool value)
{
    return json_boolean(value);
}

/* A string; bytes that are not UTF-8 become \xNN. NULL becomes null. */
json_t *rfn_json_text(const char *text);
/* The same of a text, which is released; where that failed, so has this. */
json_t *rfn_json_of_text(struct rfn_text *text);
/* Numbers of nanoseconds and bytes are integers; beyond 2^63 - 1 that number. */
json_t *rfn_json_count(uint64_t count);
/* Digits of a real number: as many as each decimal number has that a double can hold, so that 4.75
 * is not printed as 4.7500000000000001. Enough for nanoseconds in 11 days. */
#define RFN_JSON_DIGITS 15
/* Every time in JSON that is not named otherwise is in seconds. */
static inline json_t *rfn_json_seconds(double ns)
{
    return json_real(ns / 1e9);
}
/* 16 hexadecimal digits. */
json_t *rfn_json_signature(uint64_t signature);
/* A list of ranks. */
json_t *rfn_json_ranks(const uint32_t *ranks, size_t n);
/* [{function, file, line, module, offset, internal}], innermost first, with null for what is not
 * known; frames inside MPI are internal, which text leaves out. */
json_t *rfn_json_frames(const struct rfn_archive *archive, uint32_t path);
/* A call's path in words. */
json_t *rfn_json_call_path(const struct rfn_archive *archive, struct rfn_call_site site);
/* The same as call_path, with function and frames. */
void rfn_json_set_call(json_t *value, const struct rfn_archive *archive, struct rfn_call_site site);
json_t *rfn_json_call(const struct rfn_archive *archive, struct rfn_call_site site);
/* Ranks, and what each cost: [{rank, seconds}]. */
json_t *rfn_json_rank_seconds(const struct rfn_rank_ns *ranks, uint32_t n);
/* A finding: in words, with advice, what was done, by whom, and where others waited. */
json_t *rfn_json_finding(const struct rfn_measured *run, const struct rfn_finding *finding);
/* How much of a core some work had: cpu_share and core_wait_share, null if not known. */
void rfn_json_set_usage(json_t *value, const struct rfn_work_usage *usage);
/* What a rank did: activity, in words, kind, function, region, and the calls around it. */
void rfn_json_set_activity(json_t *value, const struct rfn_archive *archive,
                           const struct rfn_activity *activity);

#endif
