/* platform_place.c - which host each rank is on, from a hostfile or a rankfile. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct slot {
    uint32_t host;
    uint64_t ranks; /* that fit */
};

struct placing {
    const struct rfn_platform *platform;
    const char *file;
    unsigned line;
    uint32_t ranks, *hosts;
    bool of_ranks; /* a rankfile */
    bool of_hosts;
    struct slot *slots;
    size_t n_slots, slots_capacity;
    struct rfn_diag *diag;
};

enum { MOST_SLOTS = 1 << 24 };

static int fail_line(struct placing *placing, const char *line, const char *why)
{
    return rfn_fail(placing->diag, RFN_E_CORRUPT, -1, -1,
                    "%s:%u: \"%.80s\": %s; a line is \"host\", \"host:slots\" or \"rank 0=host "
                    "slot=0\"",
                    placing->file, placing->line, line, why);
}

static int find_host(struct placing *placing, const char *name, uint32_t *host)
{
    const int64_t number = rfn_platform_host_named(placing->platform, name);
    if (number < 0)
        return rfn_fail(placing->diag, RFN_E_NOTFOUND, -1, -1,
                        "%s:%u: there is no host \"%s\" in %s, where the first is \"%s\"",
                        placing->file, placing->line, name, placing->platform->file,
                        placing->platform->hosts[0].host.name);
    *host = (uint32_t)number;
    return 0;
}

/* A number up to `most`, with nothing behind it. */
static bool is_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *number <= most;
}

/* ---- hostfiles ---- */

static int add_slots(struct placing *placing, uint32_t host, uint64_t ranks)
{
    if (RFN_GROW(placing->slots, placing->slots_capacity, placing->n_slots + 1) < 0)
        return rfn_fail(placing->diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    placing->slots[placing->n_slots++] = (struct slot){.host = host, .ranks = ranks};
    return 0;
}

/* "host", "host:slots" or "host slots=N", whose name has been cut off. */
static int host_line(struct placing *placing, const char *line, char *name, char *rest)
{
    uint32_t host = 0;
    uint64_t slots = 1;
    const char *count = !strncmp(rest, "slots=", 6) ? rest + 6 : NULL;
    char *colon = strrchr(name, ':');
    placing->of_hosts = true;
    if (placing->of_ranks)
        return fail_line(placing, line, "not a line of a rankfile, as the lines before are");
    if (*rest && !count)
        return fail_line(placing, line, "there is more than a host and its slots");
    if (colon && !count) {
        *colon = 0;
        count = colon + 1;
    }
    if (count && (!is_number(count, MOST_SLOTS, &slots) || !slots))
        return fail_line(placing, line, "no number of slots from 1 on");
    RFN_TRY(find_host(placing, name, &host));
    return add_slots(placing, host, slots);
}

/* Ranks over slots in order, from the first again when they are full. */
static void deal(const struct placing *placing)
{
    size_t slot = 0;
    uint64_t used = 0;
    for (uint32_t rank = 0; rank < placing->ranks; rank++) {
        if (used == placing->slots[slot].ranks) {
            slot = (slot + 1) % placing->n_slots;
            used = 0;
        }
        placing->hosts[rank] = placing->slots[slot].host;
        used++;
    }
}

/* ---- rankfiles ---- */

/* "0=host" behind "rank"; slots of a host are all alike. */
static int rank_line(struct placing *placing, const char *line, char *assignment, const char *rest)
{
    uint64_t rank;
    char *name = strchr(assignment, '=');
    placing->of_ranks = true;
    if (placing->of_hosts)
        return fail_line(placing, line, "not a line of a hostfile, as the lines before are");
    if (*rest && strncmp(rest, "slot=", 5) != 0 && strncmp(rest, "slots=", 6) != 0)
        return fail_line(placing, line, "no slot= behind the host");
    if (!name)
        return fail_line(placing, line, "no = behind the rank");
    *name++ = 0;
    if (!is_number(assignment, UINT32_MAX, &rank))
        return fail_line(placing, line, "no number of a rank");
    if (rank >= placing->ranks)
        return rfn_fail(placing->diag, RFN_E_CORRUPT, -1, (int)(rank & INT32_MAX),
                        "%s:%u: rank %" PRIu64 ", but the run has %" PRIu32 " ranks from 0 on",
                        placing->file, placing->line, rank, placing->ranks);
    if (placing->hosts[rank] != RFN_NOWHERE)
        return fail_line(placing, line, "this rank has a host already");
    return find_host(placing, name, &placing->hosts[rank]);
}

static int check_ranks(const struct placing *placing)
{
    for (uint32_t rank = 0; rank < placing->ranks; rank++)
        if (placing->hosts[rank] == RFN_NOWHERE)
            return rfn_fail(placing->diag, RFN_E_CORRUPT, -1, (int)(rank & INT32_MAX),
                            "%s: rank %" PRIu32 " has no host; each of the %" PRIu32
                            " ranks needs a line",
                            placing->file, rank, placing->ranks);
    return 0;
}

/* ---- the file ---- */

/* The next word of *text, ended by a zero byte; empty: there is none. */
static char *next_word(char **text)
{
    static const char blanks[] = " \t\r\n";
    char *word = *text + strspn(*text, blanks);
    char *end = word + strcspn(word, blanks);
    *text = *end ? end + 1 : end;
    *end = 0;
    return word;
}

static int take_line(struct placing *placing, char *text)
{
    char line[81];
    text[strcspn(text, "#\r\n")] = 0;
    snprintf(line, sizeof line, "%s", text);
    char *first = next_word(&text);
    if (!*first)
        return 0;
    const bool of_rank = !strcmp(first, "rank");
    if (of_rank)
        first = next_word(&text);
    char *rest = text + strspn(text, " \t");
    size_t size = strlen(rest);
    while (size && strchr(" \t", rest[size - 1]))
        rest[--size] = 0;
    return of_rank ? rank_line(placing, line, first, rest) : host_line(placing, line, first, rest);
}

static int take_lines(struct placing *placing, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    int error = 0;
    while (!error && (n = getline(&line, &capacity, file)) >= 0) {
        placing->line++;
        error = strlen(line) == (size_t)n ? take_line(placing, line)
                                          : fail_line(placing, line, "a zero byte");
    }
    if (!error && ferror(file))
        error = rfn_fail(placing->diag, RFN_E_IO, -1, -1, "cannot read %s: %s", placing->file,
                         strerror(errno));
    else if (!error && !feof(file))
        error = rfn_fail(placing->diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    free(line);
    return error;
}

static int place_by_file(struct placing *placing)
{
    FILE *file = fopen(placing->file, "r");
    if (!file)
        return rfn_fail(placing->diag, RFN_E_IO, -1, -1, "cannot open hostfile %s: %s",
                        placing->file, strerror(errno));
    memset(placing->hosts, 0xff, placing->ranks * sizeof *placing->hosts);
    const int error = take_lines(placing, file);
    fclose(file);
    if (error < 0)
        return error;
    if (placing->of_ranks)
        return check_ranks(placing);
    if (!placing->n_slots)
        return rfn_fail(placing->diag, RFN_E_CORRUPT, -1, -1, "hostfile %s names no host",
                        placing->file);
    deal(placing);
    return 0;
}

static int place_by_cores(struct placing *placing)
{
    for (uint32_t i = 0; i < placing->platform->n_hosts && i < placing->ranks; i++)
        RFN_TRY(add_slots(placing, i, placing->platform->hosts[i].host.cores));
    deal(placing);
    return 0;
}

int rfn_platform_place(const struct rfn_platform *platform, const char *path, uint32_t ranks,
                       uint32_t *hosts, struct rfn_diag *diag)
{
    struct placing placing = {
        .platform = platform, .file = path, .ranks = ranks, .hosts = hosts, .diag = diag};
    if (!ranks)
        return 0;
    const int error = path ? place_by_file(&placing) : place_by_cores(&placing);
    free(placing.slots);
    return error;
}
