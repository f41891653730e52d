/* Takes bytes as the body of a checkpoint, behind a header that fits it, recovers it, and asks why
 * the ranks of the archive hang. Blocks are in a file of zeros.
 *
 * To be started from bodies of checkpoints: tests/fuzz/journals_fuzz. */
#define _GNU_SOURCE /* mkdtemp */
#include "archive/journal_format.h"
#include "base/hash.h"
#include "base/whole_file.h"
#include "refrain/hang.h"
#include "refrain/journal.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char folder[] = "/tmp/refrain-journals-XXXXXX";

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert(fd >= 0 && rfn_write_all(fd, bytes, size) == 0);
    close(fd);
}

static void remove_folder(void)
{
    static const char *const names[] = {"a.checkpoint.0", "blocks", "recovered.rfn"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    static const uint8_t zeros[4096];
    static bool made;
    if (made)
        return;
    assert(mkdtemp(folder));
    made = true;
    atexit(remove_folder);
    write_file("blocks", zeros, sizeof zeros);
}

static void explain(const char *path)
{
    struct rfn_archive *archive;
    struct rfn_hang *hang = NULL;
    if (rfn_archive_open(path, &archive, NULL) < 0)
        return;
    rfn_hang_find(archive, &hang, NULL);
    rfn_hang_free(hang);
    rfn_archive_close(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_buf file = RFN_BUF_INIT;
    struct rfn_journals *journals;
    struct rfn_merge_result made;
    size_t lost;
    char path[128];
    make_folder();
    snprintf(path, sizeof path, "%s/recovered.rfn", folder);
    rfn_journal_wrap(&file, 1, bytes, size);
    write_file("a.checkpoint.0", file.data, file.size);
    rfn_buf_release(&file);
    if (rfn_journals_open(&(const char *){folder}, 1, &journals, NULL) < 0)
        return 0;
    if (rfn_journals_recover(journals, path, true, &made, &lost, NULL) == 0)
        explain(path);
    rfn_journals_close(journals);
    return 0;
}
