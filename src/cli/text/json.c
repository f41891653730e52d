#include "cli/text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory; /* for some part of a value */

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    no_memory |= !memory;
    return memory;
}

void rfn_json_init(void)
{
    no_memory = false;
    json_set_alloc_funcs(allocate, free);
}

json_t *rfn_json_fail(void)
{
    no_memory = true;
    return NULL;
}

bool rfn_json_failed(void)
{
    return no_memory;
}

json_t *rfn_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    struct rfn_text valid = {0};
    rfn_text_utf8(&valid, text);
    value = valid.failed ? rfn_json_fail() : json_stringn(valid.data, valid.n);
    rfn_text_release(&valid);
    return value;
}

json_t *rfn_json_of_text(struct rfn_text *text)
{
    rfn_text_char(text, '\0');
    json_t *value = text->failed ? rfn_json_fail() : rfn_json_text(text->data);
    rfn_text_release(text);
    return value;
}

json_t *rfn_json_count(uint64_t count)
{
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *rfn_json_signature(uint64_t signature)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, signature);
    return json_string(digits);
}

json_t *rfn_json_ranks(const uint32_t *ranks, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(ranks[i]));
    return list;
}

json_t *rfn_json_frames(const struct rfn_archive *archive, uint32_t path)
{
    struct rfn_path frames = {0};
    if (path < rfn_archive_paths(archive))
        frames = rfn_archive_path(archive, path);
    json_t *list = json_array();
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location at = rfn_archive_location(archive, frames.frames[i]);
        json_t *frame = json_object();
        RFN_JSON_SET(frame, "function", at.function);
        RFN_JSON_SET(frame, "file", at.file);
        RFN_JSON_SET(frame, "line", at.line ? json_integer(at.line) : json_null());
        RFN_JSON_SET(frame, "module", at.module);
        RFN_JSON_SET(frame, "offset", at.offset);
        RFN_JSON_SET(frame, "internal", rfn_call_path_internal(&at));
        json_array_append_new(list, frame);
    }
    return list;
}

json_t *rfn_json_call_path(const struct rfn_archive *archive, struct rfn_call_site site)
{
    struct rfn_text text = {0};
    rfn_call_site_path(&text, archive, site, SIZE_MAX);
    return rfn_json_of_text(&text);
}

void rfn_json_set_call(json_t *value, const struct rfn_archive *archive, struct rfn_call_site site)
{
    const char *function = rfn_call_site_function(archive, site)->name;
    RFN_JSON_SET(value, "call_path", rfn_json_call_path(archive, site));
    RFN_JSON_SET(value, "function", function);
    RFN_JSON_SET(value, "frames", rfn_json_frames(archive, site.path));
}

json_t *rfn_json_call(const struct rfn_archive *archive, struct rfn_call_site site)
{
    json_t *value = json_object();
    rfn_json_set_call(value, archive, site);
    return value;
}

void rfn_json_set_activity(json_t *value, const struct rfn_archive *archive,
                           const struct rfn_activity *activity)
{
    bool compute = activity->kind == RFN_ACTIVITY_COMPUTE;
    bool call = rfn_activity_has_call(activity);
    const char *function = rfn_activity_function(archive, activity);
    const char *region = activity->region < rfn_archive_regions(archive)
                             ? rfn_archive_region(archive, activity->region)
                             : NULL;
    struct rfn_text text = {0};
    rfn_activity_append(&text, archive, activity);
    RFN_JSON_SET(value, "activity", rfn_json_of_text(&text));
    RFN_JSON_SET(value, "kind", rfn_activity_kind_name(activity->kind));
    RFN_JSON_SET(value, "function", function);
    RFN_JSON_SET(value, "region", region);
    RFN_JSON_SET(value, "before",
                 compute ? rfn_json_call_path(archive, activity->before) : json_null());
    RFN_JSON_SET(value, "at", call ? rfn_json_call_path(archive, activity->at) : json_null());
    RFN_JSON_SET(value, "before_frames",
                 compute ? rfn_json_frames(archive, activity->before.path) : json_null());
    RFN_JSON_SET(value, "at_frames",
                 call ? rfn_json_frames(archive, activity->at.path) : json_null());
}

json_t *rfn_json_rank_seconds(const struct rfn_rank_ns *ranks, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *value = json_object();
        RFN_JSON_SET(value, "rank", ranks[i].rank);
        RFN_JSON_SET(value, "seconds", rfn_json_seconds((double)ranks[i].ns));
        json_array_append_new(list, value);
    }
    return list;
}

void rfn_json_set_usage(json_t *value, const struct rfn_work_usage *usage)
{
    RFN_JSON_SET(value, "cpu_share", usage->known ? json_real(usage->cpu_share) : json_null());
    RFN_JSON_SET(value, "core_wait_share",
                 usage->known ? json_real(usage->core_wait_share) : json_null());
}

json_t *rfn_json_finding(const struct rfn_measured *run, const struct rfn_finding *finding)
{
    bool several = finding->waiting == RFN_SEVERAL_RANKS;
    json_t *value = json_object();
    struct rfn_text text = {0}, advice = {0};
    rfn_finding_append(&text, run, finding);
    rfn_finding_advice(&advice, run, finding);
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    RFN_JSON_SET(value, "advice", rfn_json_of_text(&advice));
    rfn_json_set_activity(value, run->archive, &run->waits->activities[finding->activity]);
    RFN_JSON_SET(value, "ranks", rfn_json_rank_seconds(finding->ranks, finding->n_ranks));
    RFN_JSON_SET(value, "seconds", rfn_json_seconds((double)finding->ns));
    RFN_JSON_SET(value, "share", rfn_measured_share(run, (double)finding->ns));
    RFN_JSON_SET(value, "pattern", rfn_pattern_name(finding->pattern));
    RFN_JSON_SET(value, "waited_in", rfn_json_call_path(run->archive, finding->waited));
    RFN_JSON_SET(value, "waited_function",
                 rfn_call_site_function(run->archive, finding->waited)->name);
    RFN_JSON_SET(value, "waited_frames", rfn_json_frames(run->archive, finding->waited.path));
    RFN_JSON_SET(value, "places", finding->sites);
    RFN_JSON_SET(value, "waiting_rank", several ? json_null() : json_integer(finding->waiting));
    rfn_json_set_usage(value, &finding->usage);
    return value;
}
