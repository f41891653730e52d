/* What was joined becomes an archive for the moment, without times, which is clustered as any other
 * (cluster_archive.h); chunks of that take the place of what they stand for. */
#include "archive/merge/merge_internal.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* What clusters take the place of. */
static bool is_replaced(uint32_t type)
{
    return type == RFN_CHUNK_STRUCTURE || type == RFN_CHUNK_RANK_PARAMS || type == RFN_CHUNK_VALUES;
}

/* What has to be known to make them. */
static bool is_needed(uint32_t type)
{
    return is_replaced(type) || type == RFN_CHUNK_META || type == RFN_CHUNK_DEFINITIONS ||
           type == RFN_CHUNK_STREAMS;
}

/* STREAMS and META are taken back: they are to be of what comes out. */
static int make_image(struct rfn_archive_merge *joining)
{
    struct rfn_rewrite *rewrite = &joining->rewrite;
    size_t before = rewrite->n;
    int error = rfn_archive_merge_add_streams(joining, rewrite);
    if (!error)
        error = rfn_archive_merge_add_meta(joining, rewrite);
    if (!error)
        error = rfn_rewrite_image(rewrite, is_needed, &joining->together.image, joining->diag);
    while (rewrite->n > before)
        rfn_rewrite_drop(rewrite);
    return error;
}

static int add_streams_as(void *context, bool clustered)
{
    struct rfn_archive_merge *joining = context;
    joining->together.smaller = clustered;
    return rfn_archive_merge_add_streams(joining, &joining->together.rewrite);
}

/* Clusters come before times, where rfn_reduce has them; what they stand for goes. */
static int take_clusters(struct rfn_archive_merge *joining)
{
    struct rfn_rewrite *to = &joining->rewrite, *from = &joining->together.rewrite;
    size_t n = 0;
    for (size_t i = 0; i < to->n; i++) {
        if (is_replaced(to->chunks[i].entry.type))
            rfn_rope_release(&to->chunks[i].bytes);
        else
            to->chunks[n++] = to->chunks[i];
    }
    to->n = n;
    RFN_TRY(RFN_GROW(to->chunks, to->capacity, to->n + from->n));
    memmove(to->chunks + from->n, to->chunks, to->n * sizeof *to->chunks);
    memcpy(to->chunks, from->chunks, from->n * sizeof *to->chunks);
    to->n += from->n;
    from->n = 0; /* they are the other's now */
    return 0;
}

int rfn_archive_merge_cluster(struct rfn_archive_merge *joining)
{
    struct rfn_archive_merge_together *together = &joining->together;
    const struct rfn_cluster_options options = {.finder = joining->finder};
    const struct rfn_cluster_streams streams = {add_streams_as, joining};
    RFN_TRY(make_image(joining));
    RFN_TRY(rfn_archive_open_memory(together->image.bytes, together->image.size, &together->archive,
                                    joining->diag));
    RFN_TRY(rfn_rewrite_init(&together->rewrite, together->archive));
    int smaller = rfn_cluster_if_smaller(together->archive, &options, &together->rewrite,
                                         &together->plan, &streams, joining->diag);
    RFN_TRY(smaller);
    together->smaller = smaller;
    return smaller ? take_clusters(joining) : 0;
}

void rfn_archive_merge_together_release(struct rfn_archive_merge_together *together)
{
    rfn_rewrite_release(&together->rewrite);
    rfn_cluster_plan_release(&together->plan);
    if (together->archive)
        rfn_archive_close(together->archive);
    rfn_rewrite_image_release(&together->image);
}
