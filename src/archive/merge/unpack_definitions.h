/* unpack_definitions.h - the payload DEFINITIONS taken apart again: every definition in the form in
 * which the recorder contributes it to a merge (pack.h), referring to others by hash.
 *
 * So archives that were written apart can be united by the merge that unites the ranks of a run:
 * what is equal has equal hashes. Functions and lines of return addresses are no definitions there,
 * they are looked up at the end; here they are known already, and are kept beside the merge.
 */
#ifndef RFN_ARCHIVE_MERGE_UNPACK_DEFINITIONS_H
#define RFN_ARCHIVE_MERGE_UNPACK_DEFINITIONS_H

#include "archive/write/pack.h"

/* Of each kind: the hashes of an archive's definitions in a merge, by their numbers there. */
struct rfn_unpacked {
    struct rfn_unpacked_kind {
        uint64_t *hashes; /* owned */
        size_t n;
    } kinds[RFN_DEFINITION_KINDS];
};

void rfn_unpacked_release(struct rfn_unpacked *unpacked);
/* Makes the number of a definition the hash of it; false where there is no such number. */
bool rfn_unpacked_hash(const struct rfn_unpacked *unpacked, enum rfn_definition_kind kind,
                       uint64_t *number);

/* Functions, files and lines of return addresses: all zeros at first. */
struct rfn_known_sources {
    struct rfn_arena arena;
    struct rfn_map by_address, by_function; /* see unpack_definitions.c */
};

void rfn_known_sources_release(struct rfn_known_sources *known);
/* Looks up what is known of an address; the context of a struct rfn_source_finder. */
size_t rfn_known_sources_find(void *known, uint64_t module, uint64_t *offset,
                              struct rfn_source sources[RFN_SOURCES_MAX]);
/* And what a function calls, as the first archive that knew it says. */
void rfn_known_sources_calls(void *known, uint64_t module, const char *function, const char *file,
                             struct rfn_source_calls *calls);

/* Contributes what the payload defines. Where several archives know sources of an address, those
 * count that name a function first. RFN_E_NOMEM; RFN_E_CORRUPT: it is malformed; RFN_E_EXCHANGE: a
 * communicator or region has another meaning in the merge already. To be released even so. */
int rfn_unpack_definitions(const uint8_t *payload, size_t size, struct rfn_merge *merge,
                           struct rfn_known_sources *known, struct rfn_unpacked *unpacked);

#endif
