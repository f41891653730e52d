#include "cli/json.h"

#include "cli/hosts.h"

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
    size_t n = strlen(text);
    char *copy = malloc(n + 1);
    if (!copy)
        return rfn_json_fail();
    for (size_t i = 0; i <= n; i++)
        copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    value = json_string(copy);
    free(copy);
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

json_t *rfn_json_location(const struct rfn_location *location)
{
    json_t *value = json_object();
    json_object_set_new(value, "function", rfn_json_text(location->function));
    json_object_set_new(value, "file", rfn_json_text(location->file));
    json_object_set_new(value, "line", location->line ? json_integer(location->line) : json_null());
    json_object_set_new(value, "module", rfn_json_text(location->module));
    json_object_set_new(value, "offset", rfn_json_count(location->offset));
    return value;
}

json_t *rfn_json_hosts(const struct rfn_archive *archive)
{
    json_t *list = json_array();
    struct rfn_hosts hosts;
    if (rfn_hosts_init(&hosts, archive) < 0) {
        json_decref(list);
        return rfn_json_fail();
    }
    for (size_t i = 0; i < hosts.n; i++) {
        json_t *host = json_object();
        json_object_set_new(host, "name", rfn_json_text(hosts.hosts[i].name));
        json_object_set_new(host, "ranks", json_integer(hosts.hosts[i].ranks));
        json_object_set_new(
            host, "cores", hosts.hosts[i].cores ? json_integer(hosts.hosts[i].cores) : json_null());
        json_array_append_new(list, host);
    }
    rfn_hosts_release(&hosts);
    return list;
}

json_t *rfn_json_frames(const struct rfn_archive *archive, uint32_t path)
{
    struct rfn_path frames = {0};
    if (path < rfn_archive_paths(archive))
        frames = rfn_archive_path(archive, path);
    json_t *list = json_array();
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        json_t *frame = rfn_json_location(&location);
        json_object_set_new(frame, "internal", json_boolean(rfn_call_path_internal(&location)));
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
    json_object_set_new(value, "call_path", rfn_json_call_path(archive, site));
    json_object_set_new(value, "function", rfn_json_text(function));
    json_object_set_new(value, "frames", rfn_json_frames(archive, site.path));
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
    bool call = activity->kind != RFN_ACTIVITY_START;
    const char *function = rfn_activity_function(archive, activity);
    const char *region = activity->region < rfn_archive_regions(archive)
                             ? rfn_archive_region(archive, activity->region)
                             : NULL;
    struct rfn_text text = {0};
    rfn_activity_append(&text, archive, activity);
    json_object_set_new(value, "activity", rfn_json_of_text(&text));
    json_object_set_new(value, "kind", rfn_json_text(rfn_activity_kind_name(activity->kind)));
    json_object_set_new(value, "function", rfn_json_text(function));
    json_object_set_new(value, "region", rfn_json_text(region));
    json_object_set_new(value, "before",
                        compute ? rfn_json_call_path(archive, activity->before) : json_null());
    json_object_set_new(value, "at",
                        call ? rfn_json_call_path(archive, activity->at) : json_null());
    json_object_set_new(value, "before_frames",
                        compute ? rfn_json_frames(archive, activity->before.path) : json_null());
    json_object_set_new(value, "at_frames",
                        call ? rfn_json_frames(archive, activity->at.path) : json_null());
}
