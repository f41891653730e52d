/* Any bytes as the payload DEFINITIONS, or META where the first byte is odd: it is malformed, or
 * all that it says can be looked up; a merge takes it apart or refuses it. From the bytes of a
 * whole archive, which are compressed, a fuzzer would not get there.
 *
 * tests/fuzz/unpack_definitions_fuzz has payloads of archives behind such a byte. */
#include "archive/merge/unpack_definitions.h"

#include "archive/container.h"
#include "archive/read/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, MINOR = RFN_FORMAT_MINOR };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile uint64_t looked_at;

static void look_at_text(const char *text)
{
    looked_at += text ? strlen(text) : 0;
}

static void look_at(const struct rfn_dictionary *dictionary)
{
    for (uint32_t i = 0; i < dictionary->n_paths; i++) {
        for (uint32_t k = 0; k < dictionary->paths[i].n_frames; k++)
            look_at_text(dictionary->locations[dictionary->paths[i].frames[k]].is.module);
    }
    for (uint32_t i = 0; i < dictionary->n_functions; i++)
        look_at_text(dictionary->functions[i].name);
    for (uint32_t i = 0; i < dictionary->n_datatypes; i++)
        look_at_text(dictionary->datatypes[i].name);
    for (uint32_t i = 0; i < dictionary->n_regions; i++)
        look_at_text(dictionary->regions[i]);
    for (uint32_t i = 0; i < dictionary->n_comms; i++) {
        for (uint32_t rank = 0; rank < RANKS; rank++)
            looked_at += (uint64_t)rfn_rank_list_world(&dictionary->comms[i].groups[0], rank) +
                         (uint64_t)rfn_rank_list_find(&dictionary->comms[i].groups[1], rank);
    }
}

static void unpack(const uint8_t *bytes, size_t size)
{
    struct rfn_merge merge;
    struct rfn_known_sources known = {0};
    struct rfn_unpacked unpacked = {0};
    rfn_merge_init(&merge);
    (void)rfn_unpack_definitions(bytes, size, &merge, &known, &unpacked);
    rfn_unpacked_release(&unpacked);
    rfn_known_sources_release(&known);
    rfn_merge_release(&merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_dictionary dictionary = {.run.ranks = RANKS};
    uint8_t *copy = size > 1 ? malloc(size - 1) : NULL;
    if (!copy)
        return 0;
    memcpy(copy, bytes + 1, size - 1);
    const struct rfn_payload payload = {.data = copy, .size = size - 1, .path = "bytes"};
    if (bytes[0] & 1) {
        (void)rfn_dictionary_meta(&dictionary, &payload, MINOR, true);
    } else {
        if (!rfn_dictionary_definitions(&dictionary, &payload, true))
            look_at(&dictionary);
        unpack(copy, size - 1);
    }
    rfn_dictionary_release(&dictionary);
    free(copy);
    return 0;
}
