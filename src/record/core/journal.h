/* journal.h - files for what has left memory: NAME.rfn.journal/ beside the archive, or in a folder
 * of each node (--journal-dir).
 *
 * A stream whose finished blocks have to leave memory, or are to survive the process
 * (finish/checkpoint.h), appends them to a file of its own, and reads them again when the archive
 * is written; then the files go. Nothing is on disk before REC_JOURNAL_BUFFER bytes have left, or a
 * checkpoint needs them: small blocks are written together. No two threads write at once: the
 * stream's own, or one that holds it still (pause.h). A file is opened for each write and closed
 * again, so that a program that closes or counts descriptors sees none of ours.
 *
 * Without writing (rec_options.write) what should be written is dropped and only counted.
 *
 * When a file cannot be written (disk full), it is said once, and that stream's memory grows.
 */
#ifndef RFN_RECORD_CORE_JOURNAL_H
#define RFN_RECORD_CORE_JOURNAL_H

#include "base/spill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REC_JOURNAL_BUFFER = 1 << 16 };

struct rec_journal {
    struct rfn_spill spill; /* hands out this journal */
    char *path;             /* NULL before the first write */
    uint64_t size;          /* with what is buffered */
    uint8_t *buffer;        /* what comes last, of REC_JOURNAL_BUFFER bytes; NULL: nothing */
    size_t buffered;
    uint64_t writes; /* to the file */
    uint32_t stream;
    long owner;  /* the process that made the file: a forked child leaves it alone */
    bool failed; /* it could not be written: it is not tried again */
    void *hash;  /* XXH3's state, of all that was written; NULL: nothing was */
};

void rec_journal_init(struct rec_journal *journal, uint32_t stream); /* stays where it is */
/* The bytes that are in the file. */
uint64_t rec_journal_written(const struct rec_journal *journal);
/* Writes what is buffered. RFN_E_IO: it could not be written, and stays there. */
int rec_journal_flush(struct rec_journal *journal);
/* The name of the folder of all journals. RFN_E_IO when it is too long. */
int rec_journal_folder(char *path, size_t size);
/* Makes the folder, or finds one of this user's; false with errno set: it cannot be. Another job
 * removes it when it ends, unless there is a file in it. */
bool rec_journal_make_folder(const char *path);
/* XXH3-64 of all that was written. */
uint64_t rec_journal_hash(const struct rec_journal *journal);
/* The number of the stream whose journal's spill this is. */
uint64_t rec_journal_stream_of(const struct rfn_spill *spill);
/* Removes the file, and the folder if it is empty then. */
void rec_journal_remove(struct rec_journal *journal);

#endif
