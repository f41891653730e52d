#include "record/ahead.h"

#include "archive/container.h"
#include "base/descriptor.h"
#include "base/grow.h"
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

enum {
    RESERVE = 1 << 16, /* bytes, of a front of some 20 KB */
    SPARE = 256
};

uint64_t rec_ahead_reserve(void)
{
    return RESERVE;
}

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

/* On the first rank that has something to write: the others open what it has opened. */
static void offer(struct rec_ahead *ahead, struct rec_node_exchange *node)
{
    uint64_t note[REC_NODE_NOTE] = {0};
    struct stat status;
    ahead->fd = rec_archive_begin_unnamed(node->exchange.size);
    if (ahead->fd >= 0 && fstat(ahead->fd, &status) == 0) {
        ahead->file = (struct rec_ahead_file){status.st_dev, status.st_ino};
        ahead->offered = fcntl(ahead->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (ahead->offered >= 0)
        memcpy(note,
               (uint64_t[]){ahead->file.device, ahead->file.inode, (uint64_t)getpid(),
                            (uint64_t)ahead->offered},
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
    ahead->fd = rfn_above_standard(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
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

static int write_times(struct rec_ahead *ahead, const struct rfn_rope *times)
{
    struct rec_archive_result result = {0}; /* problems are told when they come again */
    struct rec_writing writing = {.fd = ahead->fd,
                                  .offset = ahead->offset + RFN_CHUNK_HEADER_BYTES,
                                  .look = note,
                                  .context = ahead,
                                  .result = &result};
    return rec_writing_rope(&writing, times);
}

void rec_ahead_write(struct rec_ahead *ahead, struct rec_node_exchange *node,
                     const struct rfn_rope *times)
{
    const uint64_t bytes = rfn_rope_size(times);
    const uint64_t size = RFN_CHUNK_HEADER_BYTES + bytes + SPARE;
    struct rec_signals signals;
    if (bytes == 0 || bytes < rec_options.ahead_bytes / (uint64_t)node->exchange.size ||
        rfn_rope_status(times) < 0)
        return;
    if (rec_node_may_note(node))
        offer(ahead, node);
    else
        open_offered(ahead, node);
    if (!rec_ahead_is_open(ahead))
        return;
    ahead->size = size + -size % RFN_CHUNK_ALIGNMENT;
    ahead->offset = RFN_HEADER_BYTES + RESERVE + rec_node_claim(node, ahead->size);
    rec_signals_hold(&signals);
    if (write_times(ahead, times) < 0)
        ahead->n_parts = 0;
    rec_signals_release(&signals);
}

bool rec_ahead_close(struct rec_ahead *ahead)
{
    const bool closed = rec_ahead_is_open(ahead) && close(ahead->fd) == 0;
    ahead->fd = -1;
    if (!closed)
        ahead->n_parts = 0;
    return closed;
}

void rec_ahead_settle(struct rec_ahead *ahead, const struct rec_node_exchange *node)
{
    const uint64_t claimed = rec_node_claimed(node);
    ahead->end = claimed ? RFN_HEADER_BYTES + RESERVE + claimed : 0;
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
    free(ahead->parts);
    *ahead = (struct rec_ahead)REC_AHEAD_INIT;
}
