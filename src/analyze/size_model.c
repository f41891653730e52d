#include "analyze/size_model.h"

enum {
    FULL_ID = 4,            /* I_s of a traditional trace */
    FULL_EVENT = 48,        /* E_s: enter and exit of 24 bytes */
    FULL_MESSAGE = 96,      /* M_s */
    PROFILE_ID = 5,         /* I_s of a trace profile: number and length of the name */
    SECTION = 5,            /* H_s */
    RANK = 4,               /* R_s */
    EXECUTION = 12,         /* I_s + T_s: number and time */
    SEGMENT = SECTION + 12, /* H_s + H_sd: number and duration */
    PROFILE_EVENT = 23,     /* markers, number, start, duration, whether there are messages */
    PROFILE_MESSAGE = 4 + 4 + 2 + 2 /* peer, bytes, tag, communicator */
};

uint64_t rfn_model_full_names(const struct rfn_model_names *names)
{
    return names->n * (FULL_ID + names->length);
}

uint64_t rfn_model_full_records(uint64_t events, uint64_t messages)
{
    return events * FULL_EVENT + messages * FULL_MESSAGE;
}

uint64_t rfn_model_profile_names(const struct rfn_model_names *names)
{
    return 2 * SECTION + names->n * (PROFILE_ID + names->length);
}

uint64_t rfn_model_profile_group(const struct rfn_model_names *names,
                                 const struct rfn_model_group *group)
{
    uint64_t ranks = SECTION + group->ranks * RANK;
    uint64_t map = SECTION + group->representatives * (PROFILE_ID + names->length);
    uint64_t executions = SECTION + group->executions * EXECUTION;
    uint64_t segments = SECTION + group->representatives * SEGMENT + group->events * PROFILE_EVENT +
                        group->messages * PROFILE_MESSAGE;
    return ranks + map + executions + segments;
}
