/* size_model.h - how large a traditional trace and a trace profile of a run are by Mohror's models
 * (2010, 4.4, Eq. 3 to 11 with the sizes of Table 3 and of TAU's records), in bytes.
 *
 * They count fixed records and no compression: they are for comparing with her figures, not for our
 * files.
 */
#ifndef RFN_ANALYZE_SIZE_MODEL_H
#define RFN_ANALYZE_SIZE_MODEL_H

#include <stdint.h>

/* Names of events: how many distinct ones (E_n), and their typical length (N_s), of contexts too.
 */
struct rfn_model_names {
    uint64_t n, length;
};

/* A process of a traditional trace: its event map (Eq. 4), its events and messages (Eq. 5, 6). */
uint64_t rfn_model_full_names(const struct rfn_model_names *names);
uint64_t rfn_model_full_records(uint64_t events, uint64_t messages);

/* A process group of a trace profile. */
struct rfn_model_group {
    uint64_t ranks;            /* R_c */
    uint64_t representatives;  /* S_n */
    uint64_t executions;       /* S_e */
    uint64_t events, messages; /* of all representatives together (E_c, M_c) */
};

/* What all groups share: two section headers and the event map. (Eq. 7 has one header; the paper's
 * table has one for the groups, too.) */
uint64_t rfn_model_profile_names(const struct rfn_model_names *names);
/* A group (Eq. 8 to 11). */
uint64_t rfn_model_profile_group(const struct rfn_model_names *names,
                                 const struct rfn_model_group *group);

#endif
