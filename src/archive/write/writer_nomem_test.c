/* Writing an archive out of memory: of all allocations each fails once; then there is an error and
 * no file, or an archive that says the same. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "support/archive_model.h"
#include "support/copy_archive.h"
#include "support/fail_each.h"

#include <unistd.h>

static char folder[] = "/tmp/refrain-writer-XXXXXX", path[64];

/* Of an archive in memory. */
static int copy(const void *bytes)
{
    const struct rfn_buf *of = bytes;
    struct rfn_archive *archive, *made;
    RFN_TRY(rfn_archive_open_memory(of->data, of->size, &archive, NULL));
    int error = copy_archive(archive, path, NULL);
    const uint64_t at = failing;
    failing = UINT64_MAX;
    if (error < 0) {
        assert_int_not_equal(access(path, F_OK), 0);
    } else {
        assert_int_equal(rfn_archive_open(path, &made, NULL), 0);
        assert_int_equal(rfn_archive_stream(made, 0).events, rfn_archive_stream(archive, 0).events);
        rfn_archive_close(made);
        assert_int_equal(unlink(path), 0);
    }
    failing = at;
    rfn_archive_close(archive);
    return error;
}

static void test_each_allocation(void **state)
{
    (void)state;
    model_around = true;
    struct rfn_buf bytes = write_archive(SOUND, true, true);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/copy.rfn", folder);
    fail_each(500, copy, &bytes);
    assert_int_equal(rmdir(folder), 0);
    rfn_buf_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
