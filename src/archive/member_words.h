/* member_words.h - what the words of a group's member in PLACES are relative to. */
#ifndef RFN_ARCHIVE_MEMBER_WORDS_H
#define RFN_ARCHIVE_MEMBER_WORDS_H

#include "archive/reader.h"

/* Whose words are looked at. */
struct rfn_member {
    const struct rfn_archive *archive;
    const struct rfn_structure *structure;
    const struct rfn_member_table *table;
    uint32_t place, rank;
};

/* What words of a symbol that are ranks are relative to (refrain-archive(5), PLACES): the own rank
 * in the communicator of the call, or in the world, and the size of that. `value` is 0. */
struct rfn_rank_value rfn_member_own_place(const struct rfn_member *member,
                                           const struct rfn_symbol_info *symbol,
                                           const struct rfn_function_info *function);

#endif
