/* Takes bytes as the body of a checkpoint, behind a header that fits it, and recovers it. Blocks
 * are in a file of zeros. What is written goes nowhere.
 *
 * To be started from bodies of checkpoints: tests/fuzz/journals_fuzz. */
#define _GNU_SOURCE /* mkdtemp */
#include "archive/journal_format.h"
#include "base/hash.h"
#include "base/whole_file.h"
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
    char path[128];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "blocks" : "a.checkpoint.0");
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_buf file = RFN_BUF_INIT;
    struct rfn_journals *journals;
    struct rfn_merge_result made;
    size_t lost;
    make_folder();
    rfn_journal_wrap(&file, 1, bytes, size);
    write_file("a.checkpoint.0", file.data, file.size);
    rfn_buf_release(&file);
    if (rfn_journals_open(&(const char *){folder}, 1, &journals, NULL) < 0)
        return 0;
    rfn_journals_recover(journals, "/dev/null", true, &made, &lost, NULL);
    rfn_journals_close(journals);
    return 0;
}
