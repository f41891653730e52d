/* Writing traces out of memory: of all allocations each fails once; it is told, and neither memory
 * nor files are left behind. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "archive/read/reader.h"
#include "refrain/convert.h"
#include "support/archive_model.h"
#include "support/fail_each.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/writers_nomem_testXXXXXX";
static char path[sizeof folder + 16];

typedef int writer(const struct rfn_archive *archive, const char *path, bool force,
                   const struct rfn_convert_part *part, const struct rfn_convert_progress *progress,
                   struct rfn_trace_summary *summary, struct rfn_diag *diag);

struct job {
    const struct rfn_buf *file; /* an archive */
    writer *write;
    const char *name;
};

/* Empties a folder; returns how many files it had. */
static int clear(const char *name)
{
    char inside[4096];
    struct dirent *entry;
    int n = 0;
    DIR *listing = opendir(name);
    assert_non_null(listing);
    while ((entry = readdir(listing))) {
        if (entry->d_name[0] == '.')
            continue;
        n++;
        snprintf(inside, sizeof inside, "%s/%s", name, entry->d_name);
        if (unlink(inside) != 0) {
            clear(inside);
            assert_int_equal(rmdir(inside), 0);
        }
    }
    closedir(listing);
    return n;
}

static int write_trace(const void *of)
{
    const struct job *job = of;
    struct rfn_trace_summary summary;
    struct rfn_diag diag = {.text = ""};
    struct rfn_archive *archive;
    RFN_TRY(rfn_archive_open_memory(job->file->data, job->file->size, &archive, &diag));
    snprintf(path, sizeof path, "%s/%s", folder, job->name);
    const int error = job->write(archive, path, false, NULL, NULL, &summary, &diag);
    rfn_archive_close(archive);
    assert_true(!error || diag.text[0]);
    const int n = clear(folder);
    assert_true(error ? n == 0 : n > 0);
    return error;
}

static void test_writers(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    const struct job jobs[] = {{&file, rfn_csv_write, "run.csv"},
                               {&file, rfn_paraver_write, "run.prv"},
                               {&file, rfn_perfetto_write, "run.pftrace"}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        fail_each(50, write_trace, &jobs[i]);
    rfn_buf_release(&file);
}

static int make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int discard(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writers)};
    return cmocka_run_group_tests(tests, make, discard);
}
