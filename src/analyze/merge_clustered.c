/* refrain/merge_archives.h: whether what is merged is clustered, and by which of users'
 * expressions; archive/merge_archives.c does it. */
#include "refrain/merge_archives.h"

#include "analyze/user_expressions.h"
#include "archive/joining.h"

static const struct rfn_merge_options by_default = {0};

static bool wants_clusters(const struct rfn_archive *const *archives, size_t n,
                           enum rfn_merge_clusters clusters)
{
    bool wants = clusters == RFN_MERGE_CLUSTERED;
    for (size_t i = 0; i < n && clusters == RFN_MERGE_AS_BEFORE; i++)
        wants |= rfn_archive_run(archives[i])->clustered;
    return wants;
}

/* Those that the archives were clustered with count again. */
static int add_expressions(const struct rfn_archive *const *archives, size_t n,
                           struct rfn_expressions *expressions, struct rfn_diag *diag)
{
    for (size_t i = 0; i < n; i++)
        RFN_TRY(rfn_expressions_add_archive(expressions, archives[i], diag));
    return 0;
}

int rfn_merge_archives(const struct rfn_archive *const *archives, size_t n,
                       const struct rfn_merge_options *options, const char *path, bool force,
                       struct rfn_merge_result *result, struct rfn_diag *diag)
{
    struct rfn_expressions *expressions;
    options = options ? options : &by_default;
    struct rfn_join_options join = {.choice = options->choice,
                                    .cluster = wants_clusters(archives, n, options->clusters)};
    if (!join.cluster)
        return rfn_join_archives(archives, n, &join, path, force, result, diag);
    RFN_TRY(rfn_rewrite_failed(rfn_expressions_new(&expressions), diag));
    int error = add_expressions(archives, n, expressions, diag);
    join.finder = rfn_expressions_finder(expressions);
    if (!error)
        error = rfn_join_archives(archives, n, &join, path, force, result, diag);
    rfn_expressions_free(expressions);
    return error;
}
