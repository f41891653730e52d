/* What must hold of a damaged archive:
 *
 *   bytes changed     it is refused, or its events are those of the sound archive, up to an error
 *                     with a text or to the end; verification finds an error in any case
 *   a chunk forged    what other chunks say stays as it was: calls, where times are forged, and all
 *                     events, where it is something beside them. What verification lets pass can
 *                     be read, and has as many events as it says */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include "damage/cases.h"

#include "archive/container.h"
#include "archive/read/reader.h"
#include "base/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file_bytes read_bytes(const char *path)
{
    struct file_bytes file = {0};
    if (rfn_whole_file_read(path, &file.bytes, &file.size) < 0)
        fprintf(stderr, "%s: cannot be read\n", path);
    return file;
}

void write_bytes(const char *path, const struct file_bytes *file)
{
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || rfn_write_all(fd, file->bytes, file->size) < 0 || close(fd) < 0) {
        perror(path);
        exit(1);
    }
}

static enum found found_in(const struct answer *answer, const struct answer *sound)
{
    size_t whole = 0, events = 0;
    for (size_t i = 0; i < answer->n; i++) {
        whole += answer->streams[i].status == 0;
        events += answer->streams[i].n;
    }
    return whole == sound->n && answer->n == whole ? WHOLE : events ? IN_PART : REFUSED;
}

bool archive_seed_open(struct archive_seed *seed, const char *folder, const char *name)
{
    char path[512];
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(seed->name, sizeof seed->name, "%s", name);
    seed->file = read_bytes(path);
    if (!seed->file.bytes)
        return false;
    if (rfn_archive_open_memory(seed->file.bytes, seed->file.size, &archive, &diag) < 0) {
        fprintf(stderr, "%s: %s\n", path, diag.text);
        return false;
    }
    answer_read(archive, false, &seed->sound);
    seed->verified = (struct rfn_diag){.file_offset = -1, .rank = -1};
    const int error = rfn_archive_verify_open(archive, NULL, NULL, &seed->verified);
    const bool recovered = rfn_archive_run(archive)->recovered.recovered;
    rfn_archive_close(archive);
    if (error < 0 && !(recovered && error == RFN_E_INCOMPLETE))
        fprintf(stderr, "%s: %s\n", path, seed->verified.text);
    return error == 0 || recovered;
}

void archive_seed_release(struct archive_seed *seed)
{
    answer_release(&seed->sound);
    free(seed->file.bytes);
}

/* Verification goes through all events. */
static const char *verify(const struct rfn_archive *archive, const struct answer *answer,
                          const struct archive_seed *seed, bool forged)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (!answer_is_small(archive))
        return NULL;
    const int error = rfn_archive_verify_open(archive, NULL, NULL, &diag);
    if (error < 0 && !diag.text[0])
        return "verification fails without a text";
    if (strcmp(diag.text, seed->verified.text) != 0)
        return NULL;
    if (!forged)
        return "verification lets it pass";
    return answer_is_whole(answer) ? NULL : "verification lets pass what cannot be read";
}

static void judge(const struct file_bytes *file, const struct archive_seed *seed,
                  enum answer_part part, struct verdict *verdict)
{
    struct rfn_archive *archive;
    struct answer answer;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_archive_open_memory(file->bytes, file->size, &archive, &diag) < 0) {
        verdict->wrong = diag.text[0] ? NULL : "it is refused without a text";
        return;
    }
    answer_read(archive, false, &answer);
    verdict->found = found_in(&answer, &seed->sound);
    verdict->wrong = answer_wrong(&answer, &seed->sound, part);
    if (!verdict->wrong)
        verdict->wrong = verify(archive, &answer, seed, verdict->forged);
    answer_release(&answer);
    rfn_archive_close(archive);
}

/* What no forged chunk of a type may change. */
static enum answer_part untouched_by(const struct forged *forged)
{
    if (forged->moved)
        return ANSWER_NOTHING;
    switch (forged->type) {
    case RFN_CHUNK_OPEN:
    case RFN_CHUNK_USAGE:
    case RFN_CHUNK_SAMPLES:
    case RFN_CHUNK_SAMPLE_COLUMNS:
    case RFN_CHUNK_SPREADS:
    case RFN_CHUNK_SITE_SPREADS:
    case RFN_CHUNK_AGGREGATED:
        return ANSWER_EVENTS;
    case RFN_CHUNK_TIMING:
    case RFN_CHUNK_PROFILE:
    case RFN_CHUNK_PROFILES:
    case RFN_CHUNK_CLOCKS:
        return ANSWER_CALLS;
    default:
        return ANSWER_NOTHING;
    }
}

struct verdict archive_case(const struct archive_seed *seed, struct chance *chance,
                            const char *keep)
{
    struct verdict verdict = {.how = "a chunk forged", .forged = chance_below(chance, 3) == 0};
    enum answer_part part = ANSWER_ALL;
    struct file_bytes file;
    struct forged forged;
    if (!verdict.forged) {
        file = spoil_bytes(chance, &seed->file, &verdict.how);
    } else if (spoil_archive(chance, &seed->file, &file, &forged)) {
        part = untouched_by(&forged);
    } else {
        verdict.wrong = "the sound archive cannot be taken apart";
        return verdict;
    }
    if (keep)
        write_bytes(keep, &file);
    judge(&file, seed, part, &verdict);
    free(file.bytes);
    return verdict;
}
