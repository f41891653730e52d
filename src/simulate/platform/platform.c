/* platform.c - a platform in memory: its life, what others ask of it, and its errors. */
#include "base/c_numbers.h"
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- errors ---- */

int rfn_platform_fail(struct rfn_platform *platform, int code, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    rfn_c_vprint(text, sizeof text, format, args);
    va_end(args);
    if (!platform->line)
        return rfn_fail(platform->diag, code, -1, -1, "%s: %s", platform->file, text);
    if (!platform->element)
        return rfn_fail(platform->diag, code, platform->offset, -1, "%s:%u: %s", platform->file,
                        platform->line, text);
    return rfn_fail(platform->diag, code, platform->offset, -1, "%s:%u: <%s>: %s", platform->file,
                    platform->line, platform->element, text);
}

int rfn_platform_nomem(struct rfn_platform *platform)
{
    return rfn_platform_fail(platform, RFN_E_NOMEM, "%s", rfn_error_text(RFN_E_NOMEM));
}

/* ---- names ---- */

void rfn_names_release(struct rfn_names *names)
{
    rfn_map_release(&names->map);
    free(names->names);
    *names = (struct rfn_names){0};
}

/* Where the name's index is, or, if it is not there, NULL and the key that is free for it. */
static const uint64_t *find_name(const struct rfn_names *names, enum rfn_name_kind kind,
                                 const char *text, uint64_t *key)
{
    *key = rfn_hash_mix(rfn_hash_bytes(text, strlen(text)), kind);
    const uint64_t *index;
    while ((index = rfn_map_get(&names->map, *key))) {
        const struct rfn_name *name = &names->names[*index];
        if (name->kind == kind && !strcmp(name->text, text))
            return index;
        ++*key;
    }
    return NULL;
}

int rfn_names_put(struct rfn_names *names, enum rfn_name_kind kind, const char *text,
                  uint32_t value)
{
    uint64_t key;
    if (find_name(names, kind, text, &key))
        return RFN_E_EXISTS;
    RFN_TRY(RFN_GROW(names->names, names->capacity, names->n + 1));
    RFN_TRY(rfn_map_put(&names->map, key, names->n));
    names->names[names->n++] = (struct rfn_name){.text = text, .kind = kind, .value = value};
    return 0;
}

uint32_t rfn_names_get(const struct rfn_names *names, enum rfn_name_kind kind, const char *text)
{
    uint64_t key;
    const uint64_t *index = find_name(names, kind, text, &key);
    return index ? names->names[*index].value : RFN_NOWHERE;
}

/* ---- life ---- */

void rfn_platform_free(struct rfn_platform *platform)
{
    if (!platform)
        return;
    for (size_t i = 0; i < platform->n_zones; i++) {
        struct rfn_zone *zone = &platform->zones[i];
        rfn_map_release(&zone->ways);
        free(zone->before);
        free(zone->ports);
        rfn_graph_free(zone->graph);
    }
    rfn_names_release(&platform->names);
    free(platform->hosts);
    free(platform->links);
    free(platform->duplexes);
    free(platform->points);
    free(platform->zones);
    free(platform->ways);
    free(platform->way_links);
    free(platform->configs);
    free(platform->path);
    rfn_arena_release(&platform->arena);
    free(platform);
}

int rfn_platform_read_from(const char *file, rfn_platform_input input, void *context,
                           struct rfn_platform **platform, struct rfn_diag *diag)
{
    struct rfn_platform *made = calloc(1, sizeof *made);
    if (made)
        made->file = rfn_arena_copy(&made->arena, file, strlen(file));
    if (!made || !made->file) {
        rfn_platform_free(made);
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    }
    made->diag = diag;
    made->loopback = RFN_NOWHERE;
    const int error = rfn_platform_parse(made, input, context);
    if (error < 0) {
        rfn_platform_free(made);
        return error;
    }
    made->line = 0;
    *platform = made;
    return 0;
}

struct file_input {
    FILE *file;
    const char *name;
    struct rfn_diag *diag;
};

static int read_file(void *context, char *bytes, int capacity)
{
    const struct file_input *from = context;
    const size_t n = fread(bytes, 1, (size_t)capacity, from->file);
    if (n < (size_t)capacity && ferror(from->file))
        return rfn_fail(from->diag, RFN_E_IO, -1, -1, "cannot read %s: %s", from->name,
                        strerror(errno));
    return (int)n;
}

int rfn_platform_read(const char *path, struct rfn_platform **platform, struct rfn_diag *diag)
{
    struct file_input from = {.file = fopen(path, "rb"), .name = path, .diag = diag};
    if (!from.file)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot open platform %s: %s", path,
                        strerror(errno));
    const int error = rfn_platform_read_from(path, read_file, &from, platform, diag);
    fclose(from.file);
    return error;
}

/* ---- what it has ---- */

size_t rfn_platform_hosts(const struct rfn_platform *platform)
{
    return platform->n_hosts;
}

const struct rfn_host *rfn_platform_host(const struct rfn_platform *platform, size_t host)
{
    return &platform->hosts[host].host;
}

int64_t rfn_platform_host_named(const struct rfn_platform *platform, const char *name)
{
    const uint32_t point = rfn_names_get(&platform->names, RFN_NAME_POINT, name);
    if (point == RFN_NOWHERE || platform->points[point].kind != RFN_POINT_HOST)
        return -1;
    return platform->points[point].number;
}

size_t rfn_platform_links(const struct rfn_platform *platform)
{
    return platform->n_links;
}

const struct rfn_link *rfn_platform_link(const struct rfn_platform *platform, size_t link)
{
    return &platform->links[link];
}

const char *rfn_platform_config(const struct rfn_platform *platform, const char *name)
{
    const uint32_t config = rfn_names_get(&platform->names, RFN_NAME_CONFIG, name);
    return config == RFN_NOWHERE ? NULL : platform->configs[config].value;
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

int rfn_platform_config_check(const struct rfn_platform *platform, const char *const *known,
                              struct rfn_diag *diag)
{
    for (size_t i = 0; i < platform->n_configs; i++) {
        const struct rfn_config *config = &platform->configs[i];
        if (!is_among(known, config->name))
            return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                            "%s:%u: <prop>: the property \"%s\" of <config> is not known",
                            platform->file, config->line, config->name);
    }
    return 0;
}
