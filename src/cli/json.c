#include "cli/json.h"

#include "cli/command.h"
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

int rfn_json_print(json_t *value, int status)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2)) : NULL;
    json_decref(value);
    if (!text || rfn_json_failed()) {
        free(text);
        rfn_command_error("out of memory");
        return RFN_EXIT_FAILURE;
    }
    struct rfn_text line = {0};
    rfn_text_string(&line, text);
    rfn_text_char(&line, '\n');
    free(text);
    bool failed = line.failed;
    if (failed)
        rfn_command_error("out of memory");
    else
        rfn_text_print(&line);
    rfn_text_release(&line);
    return failed ? RFN_EXIT_FAILURE : status;
}
