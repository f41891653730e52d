#include "analyze/match/operations.h"

#include "base/grow.h"

#include <stdlib.h>

/* What concerns others, if it is not issued. MPI_Comm_get_parent tells what the start has made. */
static bool communicates(const struct rfn_call *call, uint8_t flags)
{
    switch (call->operation) {
    case RFN_MPI_Comm_get_parent:
    case RFN_MPI_Comm_set_info:
    case RFN_MPI_Win_set_info:
    case RFN_MPI_File_set_info:
    case RFN_MPI_Win_sync:
    case RFN_MPI_Parrived:
        return false;
    default:
        return call->class_ != RFN_CLASS_OTHER || (flags & RFN_FUNCTION_COLLECTIVE);
    }
}

int rfn_treatments_init(struct rfn_treatments *operations, const struct rfn_archive *archive,
                        bool (*can_issue)(enum rfn_operation operation,
                                          enum rfn_call_variant variant))
{
    operations->archive = archive;
    operations->n = rfn_archive_functions(archive);
    operations->treatments = calloc((size_t)operations->n + 1, sizeof *operations->treatments);
    if (!operations->treatments)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < operations->n; i++) {
        const struct rfn_call *call = rfn_archive_call(archive, i);
        uint8_t *treatment = &operations->treatments[i];
        if (!rfn_class_is_mpi(call->class_))
            *treatment = RFN_TREAT_NO_CALL;
        else if (call->kind == RFN_CALL_INIT || call->kind == RFN_CALL_FINALIZE)
            *treatment = call->kind == RFN_CALL_INIT ? RFN_TREAT_BEGIN : RFN_TREAT_END;
        else if (can_issue((enum rfn_operation)call->operation,
                           (enum rfn_call_variant)call->variant))
            *treatment = RFN_TREAT_ISSUE;
        else
            *treatment = communicates(call, rfn_archive_function(archive, i)->flags)
                             ? RFN_TREAT_SKIP
                             : RFN_TREAT_LOCAL;
    }
    return 0;
}

void rfn_treatments_release(struct rfn_treatments *operations)
{
    free(operations->treatments);
    *operations = (struct rfn_treatments){0};
}

bool rfn_is_ordered(const struct rfn_call_event *call)
{
    const struct rfn_function_info *function = rfn_archive_function(call->archive,
                                                                    call->record->function);
    return (function->flags & RFN_FUNCTION_COLLECTIVE) && rfn_has(call, RFN_IN_COMM) &&
           call->call->operation != RFN_MPI_Comm_create_group;
}

int64_t rfn_reduced_bytes(const struct rfn_call_event *call)
{
    return rfn_element_bytes(call, rfn_has(call, RFN_IN_count) ? RFN_IN_count : RFN_IN_recvcount,
                             RFN_IN_datatype);
}

/* ---- what is there ---- */

int rfn_treat_objects_init(struct rfn_treat_objects *known, const struct rfn_archive *archive)
{
    *known = (struct rfn_treat_objects){.n_comms = rfn_archive_comms(archive)};
    known->comms = calloc((size_t)known->n_comms + 1, sizeof *known->comms);
    if (!known->comms)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < known->n_comms; i++) {
        enum rfn_comm_kind kind = rfn_archive_comm(archive, i)->kind;
        known->comms[i] = kind == RFN_COMM_WORLD || kind == RFN_COMM_SELF;
    }
    return 0;
}

void rfn_treat_objects_release(struct rfn_treat_objects *known)
{
    free(known->comms);
    free(known->groups);
    free(known->wins);
    *known = (struct rfn_treat_objects){0};
}

/* Null handles and predefined ones are always there. */
static bool is_there(const struct rfn_treat_objects *known, uint8_t kind, int64_t word)
{
    if (kind == RFN_KIND_COMM)
        return word == -1 || (word >= 0 && word < known->n_comms && known->comms[word]);
    if (kind == RFN_KIND_GROUP)
        return word == -1 || word == -2 ||
               (word >= 0 && (uint64_t)word < known->groups_capacity && known->groups[word]);
    if (kind == RFN_KIND_WIN)
        return word >= 0 && (uint64_t)word < known->wins_capacity && known->wins[word];
    return true;
}

static int note_slot(bool **slots, size_t *capacity, int64_t word, bool made)
{
    if (word < 0 || word >= RFN_SLOTS_MAX)
        return 0;
    RFN_TRY(RFN_GROW_ZEROED(*slots, *capacity, (size_t)word + 1));
    (*slots)[word] = made;
    return 0;
}

/* A handle that the call has made, or would have made. */
static int note(struct rfn_treat_objects *known, uint8_t kind, int64_t word, bool made)
{
    if (kind == RFN_KIND_COMM && word >= 0 && word < known->n_comms)
        known->comms[word] = made;
    if (kind == RFN_KIND_GROUP)
        return note_slot(&known->groups, &known->groups_capacity, word, made);
    if (kind == RFN_KIND_WIN)
        return note_slot(&known->wins, &known->wins_capacity, word, made);
    return 0;
}

int rfn_treat(struct rfn_treat_objects *known, const struct rfn_treatments *operations,
              const struct rfn_call_event *call)
{
    const struct rfn_function_info *function = rfn_archive_function(call->archive,
                                                                    call->record->function);
    int treatment = operations->treatments[call->record->function];
    if (treatment != RFN_TREAT_NO_CALL && call->record->error)
        return RFN_TREAT_FAILED;
    for (int i = 0; i < function->n_in && treatment == RFN_TREAT_ISSUE; i++) {
        if (!is_there(known, function->params[i].kind, call->record->in[i]))
            treatment = communicates(call->call, function->flags) ? RFN_TREAT_SKIP
                                                                  : RFN_TREAT_LOCAL;
    }
    for (int i = 0; i < function->n_out; i++) {
        RFN_TRY(note(known, function->params[function->n_in + i].kind, call->record->out[i],
                     treatment == RFN_TREAT_ISSUE));
    }
    return treatment;
}
