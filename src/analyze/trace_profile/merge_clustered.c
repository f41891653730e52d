/* refrain/merge_archives.h: whether what is merged is clustered, and by which of users'
 * expressions; archive/merge/merge_archives.c does it. */
#include "refrain/merge_archives.h"

#include "analyze/clusters/user_expressions.h"
#include "archive/merge/merge_internal.h"

int rfn_merge_archives(const struct rfn_archive *const *archives, size_t n,
                       const struct rfn_merge_options *options, const char *path, bool force,
                       struct rfn_merge_result *result, struct rfn_diag *diag)
{
    static const struct rfn_merge_options by_default = {0};
    struct rfn_expressions *expressions;
    options = options ? options : &by_default;
    struct rfn_archive_merge_options join = {.choice = options->choice,
                                             .cluster = options->clusters == RFN_MERGE_CLUSTERED};
    for (size_t i = 0; i < n && options->clusters == RFN_MERGE_AS_BEFORE; i++)
        join.cluster |= rfn_archive_run(archives[i])->clustered;
    if (!join.cluster)
        return rfn_archive_merge_archives(archives, n, &join, path, force, result, diag);
    RFN_TRY(rfn_rewrite_failed(rfn_expressions_new(&expressions), diag));
    int error = 0; /* those that the archives were clustered with count again */
    for (size_t i = 0; i < n && !error; i++)
        error = rfn_expressions_add_archive(expressions, archives[i], diag);
    join.finder = rfn_expressions_finder(expressions);
    if (!error)
        error = rfn_archive_merge_archives(archives, n, &join, path, force, result, diag);
    rfn_expressions_free(expressions);
    return error;
}
