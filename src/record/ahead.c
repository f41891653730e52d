#include "record/ahead.h"

#include "archive/container.h"
#include "base/grow.h"
#include "base/system.h"
#include "record/archive_file.h"
#include "record/options.h"
#include "record/say.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPARE = 256, SPARE_OF_WHOLE = 64 };                /* bytes */
enum { RESERVE_LEAST = 1 << 14, RESERVE_MOST = 1 << 16 }; /* bytes */

_Static_assert(SPARE % RFN_CHUNK_ALIGNMENT == 0 && SPARE_OF_WHOLE % RFN_CHUNK_ALIGNMENT == 0,
               "claims are not aligned");

static bool is_of(int fd, const struct rec_ahead_file *file)
{
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && (uint64_t)status.st_dev == file->device &&
           (uint64_t)status.st_ino == file->inode;
}

bool rec_ahead_is_open(const struct rec_ahead *ahead)
{
    return is_of(ahead->fd, &ahead->file);
}

/* The first rank has so much, and all others may. One that has little says nothing of them. */
static uint64_t reserve_for(uint64_t bytes, uint64_t ranks)
{
    uint64_t share = bytes * ranks / REC_AHEAD_UNUSED;
    share = share > RESERVE_LEAST ? share - share % RFN_CHUNK_ALIGNMENT : RESERVE_LEAST;
    return bytes < REC_TIMES_LARGE || share > RESERVE_MOST ? RESERVE_MOST : share;
}

/* On the first rank that has something to write: the others open what it has opened. */
static void offer(struct rec_ahead *ahead, struct rec_node_exchange *node, uint64_t bytes)
{
    uint64_t note[REC_NODE_NOTE] = {0};
    struct stat status;
    ahead->reserve = reserve_for(bytes, (uint64_t)node->exchange.size);
    ahead->fd = rec_archive_begin_unnamed(node->exchange.size);
    if (ahead->fd >= 0 && fstat(ahead->fd, &status) == 0) {
        ahead->file = (struct rec_ahead_file){status.st_dev, status.st_ino};
        ahead->offered = fcntl(ahead->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (ahead->offered >= 0)
        memcpy(note,
               (uint64_t[]){ahead->file.device, ahead->file.inode, (uint64_t)getpid(),
                            (uint64_t)ahead->offered, ahead->reserve},
               sizeof note);
    else
        rec_ahead_close(ahead);
    rec_node_note(node, note);
}

/* What another rank has opened, unless this process cannot have it. */
static void open_offered(struct rec_ahead *ahead, const struct rec_node_exchange *node)
{
    char path[64];
    uint64_t note[REC_NODE_NOTE];
    if (!rec_node_noted(node, note) || !note[1])
        return;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd/%" PRIu64, note[2], note[3]);
    ahead->file = (struct rec_ahead_file){note[0], note[1]};
    ahead->reserve = note[4];
    ahead->fd = rfn_above_standard(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (ahead->fd >= 0 && !rec_ahead_is_open(ahead)) {
        close(ahead->fd);
        ahead->fd = -1;
    }
}

static int note(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
    struct rec_ahead *ahead = context;
    RFN_TRY(RFN_GROW(ahead->parts, ahead->parts_capacity, ahead->n_parts + 1));
    ahead->parts[ahead->n_parts++] = (struct rec_ahead_part){
        .offset = offset, .size = size, .hash = rfn_hash_bytes(bytes, size)};
    return 0;
}

static int write_chunk(struct rec_ahead *ahead, const struct rfn_rope *chunk)
{
    struct rec_archive_result result = {0}; /* problems are told when they come again */
    struct rec_writing writing = {.fd = ahead->fd,
                                  .offset = ahead->offset,
                                  .look = note,
                                  .context = ahead,
                                  .result = &result};
    return rec_writing_rope(&writing, chunk);
}

/* Some file systems report errors of writing only when a descriptor is closed. */
static bool is_written(const struct rec_ahead *ahead)
{
    const int other = fcntl(ahead->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return other >= 0 && close(other) == 0;
}

/* One that is whole may have to be made again nevertheless. */
static uint64_t spare_for(uint64_t bytes, bool whole)
{
    return !whole ? SPARE : bytes < REC_TIMES_LARGE ? 0 : SPARE_OF_WHOLE;
}

static void claim_and_write(struct rec_ahead *ahead, struct rec_node_exchange *node, bool whole,
                            const struct rfn_rope *chunk)
{
    struct rec_signals signals;
    ahead->size = rfn_rope_size(chunk) + spare_for(rfn_rope_size(chunk), whole);
    ahead->offset = RFN_HEADER_BYTES + ahead->reserve + rec_node_claim(node, ahead->size);
    ahead->entry.offset = ahead->offset;
    rec_signals_hold(&signals);
    if (write_chunk(ahead, chunk) < 0)
        ahead->n_parts = 0;
    else
        ahead->whole = whole && is_written(ahead);
    rec_signals_release(&signals);
}

/* Of times, which are empty afterwards. */
static int make_chunk(struct rfn_toc_entry *entry, bool whole, struct rfn_rope *times,
                      struct rfn_rope *chunk)
{
    const bool compress = whole && rfn_rope_size(times) < REC_TIMES_LARGE;
    return rfn_chunk_join(chunk, entry->type, entry->id, times, compress, NULL,
                          &entry->stored_size);
}

void rec_ahead_write(struct rec_ahead *ahead, struct rec_node_exchange *node,
                     const struct rfn_toc_entry *entry, bool whole, struct rfn_rope *times)
{
    const uint64_t bytes = rfn_rope_size(times);
    struct rfn_rope chunk = RFN_ROPE_INIT;
    if (bytes == 0 || bytes < rec_options.ahead_bytes / (uint64_t)node->exchange.size ||
        (!whole && bytes < REC_TIMES_LARGE))
        return;
    if (rec_node_may_note(node))
        offer(ahead, node, bytes);
    else
        open_offered(ahead, node);
    ahead->entry = *entry;
    if (rec_ahead_is_open(ahead) && make_chunk(&ahead->entry, whole, times, &chunk) == 0)
        claim_and_write(ahead, node, whole, &chunk);
    if (ahead->whole)
        ahead->chunk = chunk;
    else
        rfn_rope_release(&chunk);
}

bool rec_ahead_close(struct rec_ahead *ahead)
{
    const bool closed = rec_ahead_is_open(ahead) && close(ahead->fd) == 0;
    ahead->fd = -1;
    if (!closed)
        ahead->n_parts = 0;
    return closed;
}

void rec_ahead_forget(struct rec_ahead *ahead)
{
    rfn_rope_release(&ahead->chunk);
    ahead->whole = false;
}

void rec_ahead_settle(struct rec_ahead *ahead, const struct rec_node_exchange *node, bool whole)
{
    const uint64_t claimed = rec_node_claimed(node);
    uint64_t note[REC_NODE_NOTE];
    for (size_t i = 0; i < ahead->n_parts; i++)
        ahead->parts[i].is_same |= ahead->whole;
    if (!whole && claimed < (uint64_t)node->exchange.size * REC_TIMES_LARGE) {
        rec_ahead_release(ahead); /* small chunks would stand elsewhere, and leave their places */
        return;
    }
    if (claimed && rec_node_noted(node, note))
        ahead->reserve = note[4];
    ahead->end = claimed ? RFN_HEADER_BYTES + ahead->reserve + claimed : 0;
    if (claimed && node->exchange.rank == 0 && ahead->fd < 0)
        open_offered(ahead, node);
}

void rec_ahead_withdraw(struct rec_ahead *ahead)
{
    if (is_of(ahead->offered, &ahead->file))
        close(ahead->offered);
    ahead->offered = -1;
}

static int compare_offset(const void *key, const void *part)
{
    const uint64_t offset = *(const uint64_t *)key;
    const uint64_t other = ((const struct rec_ahead_part *)part)->offset;
    return offset < other ? -1 : offset > other;
}

/* NULL: none of that size has been written there. */
static struct rec_ahead_part *find_part(const struct rec_ahead *ahead, uint64_t offset,
                                        uint64_t size)
{
    struct rec_ahead_part *part = ahead->n_parts ? bsearch(&offset, ahead->parts, ahead->n_parts,
                                                           sizeof *ahead->parts, compare_offset)
                                                 : NULL;
    return part && part->size == size ? part : NULL;
}

void rec_ahead_compare(struct rec_ahead *ahead, uint64_t offset, const uint8_t *bytes, size_t size)
{
    struct rec_ahead_part *part = find_part(ahead, ahead->offset + RFN_CHUNK_HEADER_BYTES + offset,
                                            size);
    if (part)
        part->is_same = part->hash == rfn_hash_bytes(bytes, size);
}

bool rec_ahead_stands(const struct rec_ahead *ahead, uint64_t offset, uint64_t size)
{
    const struct rec_ahead_part *part = find_part(ahead, offset, size);
    return part && part->is_same;
}

void rec_ahead_release(struct rec_ahead *ahead)
{
    rec_ahead_close(ahead);
    rec_ahead_withdraw(ahead);
    rec_ahead_forget(ahead);
    free(ahead->parts);
    *ahead = (struct rec_ahead)REC_AHEAD_INIT;
}
