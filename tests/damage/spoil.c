#include "damage/spoil.h"

#include "archive/container.h"
#include "archive/read/chunks.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t draw(struct chance *chance)
{
    uint64_t z = chance->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t chance_below(struct chance *chance, uint64_t n)
{
    return draw(chance) % n;
}

/* ---- bytes ---- */

static struct file_bytes copy_of(const uint8_t *bytes, size_t size, size_t more)
{
    struct file_bytes copy = {calloc(1, size + more + 1), size};
    if (!copy.bytes)
        abort();
    if (size)
        memcpy(copy.bytes, bytes, size);
    return copy;
}

static void fill(struct chance *chance, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)draw(chance);
}

/* Puts n bytes in, for which there is room. */
static void put_in(struct chance *chance, struct file_bytes *file, size_t at, size_t n)
{
    memmove(file->bytes + at + n, file->bytes + at, file->size - at);
    fill(chance, file->bytes + at, n);
    file->size += n;
}

static void take_out(struct file_bytes *file, size_t at, size_t n)
{
    n = n < file->size - at ? n : file->size - at;
    memmove(file->bytes + at, file->bytes + at + n, file->size - at - n);
    file->size -= n;
}

static void flip(struct chance *chance, struct file_bytes *file, size_t n)
{
    for (size_t i = 0; i < n; i++)
        file->bytes[chance_below(chance, file->size)] ^= (uint8_t)(1 << chance_below(chance, 8));
}

/* A stretch of the file, as it stands on a disk: of one block, say, where another one was. */
static void overwrite(struct chance *chance, struct file_bytes *file, size_t at, bool zeros)
{
    size_t n = 1 + chance_below(chance, 512);
    n = n < file->size - at ? n : file->size - at;
    if (zeros)
        memset(file->bytes + at, 0, n);
    else
        memmove(file->bytes + at, file->bytes + chance_below(chance, file->size - n + 1), n);
}

enum { BY_MOST = 64 };

static const char *spoil_once(struct chance *chance, struct file_bytes *file)
{
    const size_t at = chance_below(chance, file->size), n = 1 + chance_below(chance, BY_MOST);
    switch (chance_below(chance, 8)) {
    case 0:
        flip(chance, file, 1);
        return "a bit changed";
    case 1:
        flip(chance, file, n);
        return "bits changed";
    case 2:
        file->bytes[at] = (uint8_t)draw(chance);
        return "a byte changed";
    case 3:
        file->size = at;
        return "cut";
    case 4:
        put_in(chance, file, at, n);
        return "bytes put in";
    case 5:
        take_out(file, at, n);
        return "bytes taken out";
    case 6:
        overwrite(chance, file, at, false);
        return "bytes copied";
    default:
        overwrite(chance, file, at, true);
        return "bytes zeroed";
    }
}

struct file_bytes spoil_bytes(struct chance *chance, const struct file_bytes *sound,
                              const char **what)
{
    for (;;) {
        struct file_bytes file = copy_of(sound->bytes, sound->size, BY_MOST);
        *what = spoil_once(chance, &file);
        if (file.size != sound->size || memcmp(file.bytes, sound->bytes, sound->size) != 0)
            return file;
        free(file.bytes);
    }
}

struct file_bytes spoil_payload(struct chance *chance, const uint8_t *bytes, size_t size)
{
    static const uint8_t limits[] = {0, 1, 0x7f, 0x80, 0xff};
    struct file_bytes file = copy_of(bytes, size, 16);
    for (uint64_t left = 1 + chance_below(chance, 3); left && file.size; left--) {
        const size_t at = chance_below(chance, file.size);
        switch (chance_below(chance, 6)) {
        case 0:
            file.bytes[at] = (uint8_t)draw(chance);
            break;
        case 1:
            flip(chance, &file, 1);
            break;
        case 2:
            file.bytes[at] = limits[chance_below(chance, sizeof limits)];
            break;
        case 3:
            put_in(chance, &file, at, 1 + chance_below(chance, 3));
            break;
        case 4:
            take_out(&file, at, 1 + chance_below(chance, 3));
            break;
        default: /* a number of many bytes */
            put_in(chance, &file, at, 4);
            memset(file.bytes + at, 0xff, 4);
        }
    }
    return file;
}

/* ---- archives ---- */

struct parts {
    size_t n;
    struct rfn_toc_entry *entries; /* type and id; the rest as it comes */
    struct rfn_payload *payloads;
};

static void release_parts(struct parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        rfn_payload_release(&parts->payloads[i]);
    free(parts->entries);
    free(parts->payloads);
}

static bool take_apart(const struct file_bytes *file, struct parts *parts)
{
    struct rfn_chunks chunks;
    *parts = (struct parts){0};
    if (rfn_chunks_open_memory(&chunks, file->bytes, file->size, NULL) < 0)
        return false;
    parts->entries = calloc(chunks.n + 2, sizeof *parts->entries);
    parts->payloads = calloc(chunks.n + 2, sizeof *parts->payloads);
    bool whole = parts->entries && parts->payloads;
    for (size_t i = 0; i < chunks.n && whole; i++) {
        whole = rfn_chunks_load(&chunks, &chunks.entries[i], &parts->payloads[i], NULL) == 0;
        parts->entries[i] = chunks.entries[i];
        parts->n += whole;
    }
    rfn_chunks_close(&chunks);
    if (!whole)
        release_parts(parts);
    return whole && parts->n;
}

/* The header of the sound file, as far as it says nothing of places: of an older version, too. */
static void put_header(struct rfn_buf *out, const struct file_bytes *sound, uint64_t toc)
{
    struct rfn_buf words = RFN_BUF_INIT;
    rfn_buf_u64(&words, toc);
    rfn_buf_u64(&words, out->size);
    memcpy(out->data, sound->bytes, RFN_HEADER_BYTES);
    memcpy(out->data + 24, words.data, 16);
    rfn_buf_u64(&words, rfn_hash_bytes(out->data, RFN_HEADER_BYTES - 8));
    memcpy(out->data + RFN_HEADER_BYTES - 8, words.data + 16, 8);
    rfn_buf_release(&words);
}

static struct file_bytes put_together(const struct parts *parts, const struct file_bytes *sound)
{
    struct rfn_buf out = RFN_BUF_INIT, contents = RFN_BUF_INIT;
    rfn_buf_bytes(&out, (uint8_t[RFN_HEADER_BYTES]){0}, RFN_HEADER_BYTES);
    for (size_t i = 0; i < parts->n; i++) {
        struct rfn_toc_entry *entry = &parts->entries[i];
        entry->offset = out.size;
        entry->stored_size = rfn_chunk_append(&out, entry->type, entry->id, parts->payloads[i].data,
                                              parts->payloads[i].size, i % 2);
    }
    const uint64_t toc = out.size;
    rfn_toc_append(&contents, parts->entries, parts->n);
    rfn_chunk_append(&out, RFN_CHUNK_TOC, 0, contents.data, contents.size, false);
    rfn_buf_release(&contents);
    if (out.failed)
        abort();
    put_header(&out, sound, toc);
    return (struct file_bytes){out.data, out.size};
}

static void forge_payload(struct chance *chance, struct rfn_payload *payload)
{
    const struct file_bytes forged = spoil_payload(chance, payload->data, payload->size);
    free(payload->data);
    payload->data = forged.bytes;
    payload->size = forged.size;
}

/* A chunk is there twice, with another number. */
static void double_part(struct parts *parts, size_t at, uint64_t id)
{
    const struct file_bytes copy = copy_of(parts->payloads[at].data, parts->payloads[at].size, 0);
    parts->payloads[parts->n] = parts->payloads[at];
    parts->payloads[parts->n].data = copy.bytes;
    parts->entries[parts->n] = parts->entries[at];
    parts->entries[parts->n++].id = id;
}

static void leave_out(struct parts *parts, size_t at)
{
    rfn_payload_release(&parts->payloads[at]);
    parts->n--;
    memmove(parts->payloads + at, parts->payloads + at + 1,
            (parts->n - at) * sizeof *parts->payloads);
    memmove(parts->entries + at, parts->entries + at + 1, (parts->n - at) * sizeof *parts->entries);
}

static void forge_directory(struct chance *chance, struct parts *parts, size_t at)
{
    const size_t other = chance_below(chance, parts->n);
    const struct rfn_payload payload = parts->payloads[at];
    switch (chance_below(chance, 5)) {
    case 0:
        parts->entries[at].type = 1 + (uint32_t)chance_below(chance, 24);
        break;
    case 1:
        parts->entries[at].id = chance_below(chance, 2) ? chance_below(chance, 8) : draw(chance);
        break;
    case 2:
        parts->payloads[at] = parts->payloads[other];
        parts->payloads[other] = payload;
        break;
    case 3:
        double_part(parts, at, chance_below(chance, 8));
        break;
    default:
        leave_out(parts, at);
    }
}

bool spoil_archive(struct chance *chance, const struct file_bytes *sound, struct file_bytes *made,
                   struct forged *forged)
{
    struct parts parts;
    if (!take_apart(sound, &parts))
        return false;
    const size_t at = chance_below(chance, parts.n);
    *forged = (struct forged){parts.entries[at].type, chance_below(chance, 8) == 0};
    if (forged->moved)
        forge_directory(chance, &parts, at);
    else
        forge_payload(chance, &parts.payloads[at]);
    *made = put_together(&parts, sound);
    release_parts(&parts);
    return true;
}
