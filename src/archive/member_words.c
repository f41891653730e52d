#include "archive/member_words.h"

#include "event/kind.h"

struct rfn_rank_value rfn_member_own_place(const struct rfn_member *member,
                                           const struct rfn_symbol_info *symbol,
                                           const struct rfn_function_info *function)
{
    const struct rfn_archive *archive = member->archive;
    struct rfn_rank_value own = {.rank = member->rank, .size = rfn_archive_run(archive)->ranks};
    unsigned i = function->n_in;
    while (i > 0 && function->params[i - 1].kind != RFN_KIND_COMM)
        i--;
    if (i == 0 || symbol->moved >> (i - 1) & 1 || symbol->in[i - 1] < 0)
        return own;
    int64_t comm = rfn_member_word(
        member->table, member->structure->n_places + (size_t)symbol->in[i - 1], member->place, 0);
    int64_t rank = comm < 0 ? -1 : rfn_comm_rank_of(archive, (uint32_t)comm, member->rank);
    if (rank < 0)
        return own;
    return (struct rfn_rank_value){.rank = (uint32_t)rank,
                                   .size = rfn_comm_peers(archive, (uint32_t)comm, member->rank)};
}
