#include "replay/operations.h"

#include "base/grow.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const role_names[] = {
#define RPL_X_(name) #name,
    RPL_ROLES(RPL_X_)
#undef RPL_X_
};

/* ---- once per function ---- */

static bool cut_end(char *name, const char *end)
{
    size_t length = strlen(name), n = strlen(end);
    if (length <= n || strcmp(name + length - n, end) != 0)
        return false;
    name[length - n] = '\0';
    return true;
}

/* MPIX_: Open MPI's persistent collectives before they came into the standard. */
static void name_operation(struct rpl_operation *operation,
                           const struct rfn_function_info *function)
{
    const char *from = function->name;
    char *name = operation->name;
    if (strncmp(from, "MPI_", 4) == 0 || strncmp(from, "MPIX_", 5) == 0)
        from = strchr(from, '_') + 1;
    snprintf(name, RPL_NAME_SIZE, "%s", from);
    cut_end(name, "_c");
    if (function->flags & RFN_FUNCTION_PERSISTENT) {
        operation->mode = RPL_PERSISTENT;
        cut_end(name, "_init");
    } else if (function->flags & RFN_FUNCTION_NONBLOCKING) {
        operation->mode = RPL_NONBLOCKING;
        if (name[0] == 'I' && islower((unsigned char)name[1])) {
            memmove(name, name + 1, strlen(name));
            name[0] = (char)toupper((unsigned char)name[0]);
        }
    }
}

static int8_t find_comm(const struct rfn_function_info *function)
{
    for (int i = 0; i < function->n_in; i++) {
        if (function->params[i].kind == RFN_KIND_COMM)
            return (int8_t)i;
    }
    return -1;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(*names, name) == 0)
            return true;
    }
    return false;
}

/* What concerns others, if it is not issued. MPI_Comm_get_parent tells what the start has made. */
static bool communicates(const struct rpl_operation *operation,
                         const struct rfn_function_info *function)
{
    static const char *const local[] = {"Comm_get_parent", "Comm_set_info", "Win_set_info",
                                        "File_set_info",   "Win_sync",      NULL};
    if (is_one_of(operation->name, local))
        return false;
    return function->class_ != RFN_CLASS_OTHER || (function->flags & RFN_FUNCTION_COLLECTIVE);
}

static enum rpl_treatment treatment_of(const struct rpl_operation *operation,
                                       const struct rfn_function_info *function)
{
    static const char *const begins[] = {"Init", "Init_thread", NULL};
    static const char *const local[] = {"Parrived", NULL};
    if (!rfn_class_is_mpi(function->class_))
        return RPL_NO_CALL;
    if (is_one_of(operation->name, begins))
        return RPL_BEGIN;
    if (strcmp(operation->name, "Finalize") == 0)
        return RPL_END;
    if (operation->handler >= 0)
        return RPL_ISSUE;
    if (is_one_of(operation->name, local))
        return RPL_LOCAL;
    return operation->communicates ? RPL_SKIP : RPL_LOCAL;
}

static void describe(struct rpl_operation *operation, const struct rfn_function_info *function,
                     int (*handler_of)(const char *name, enum rpl_mode mode))
{
    static const char *const of_groups[] = {"Comm_create_group", "Comm_create_from_group",
                                            "Intercomm_create_from_groups", NULL};
    static const char *const refused[] = {"Session_init", "Abort", NULL};
    uint8_t class_ = function->class_;
    name_operation(operation, function);
    operation->class_ = class_;
    operation->handler = handler_of(operation->name, operation->mode);
    operation->communicates = communicates(operation, function);
    operation->treatment = treatment_of(operation, function);
    operation->sends = class_ == RFN_CLASS_SEND || class_ == RFN_CLASS_SSEND ||
                       class_ == RFN_CLASS_SENDRECV;
    operation->receives = class_ == RFN_CLASS_RECV || class_ == RFN_CLASS_SENDRECV;
    operation->refused = is_one_of(operation->name, refused);
    operation->comm = find_comm(function);
    operation->ordered = (function->flags & RFN_FUNCTION_COLLECTIVE) && operation->comm >= 0 &&
                         !is_one_of(operation->name, of_groups);
    for (int role = 0; role < RPL_N_ROLES; role++)
        operation->in[role] = rfn_input_named(function, role_names[role]);
}

int rpl_operations_init(struct rpl_operations *operations, const struct rfn_archive *archive,
                        int (*handler_of)(const char *name, enum rpl_mode mode))
{
    operations->archive = archive;
    operations->n = rfn_archive_functions(archive);
    operations->of = calloc((size_t)operations->n + 1, sizeof *operations->of);
    if (!operations->of)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < operations->n; i++)
        describe(&operations->of[i], rfn_archive_function(archive, i), handler_of);
    return 0;
}

void rpl_operations_release(struct rpl_operations *operations)
{
    free(operations->of);
    *operations = (struct rpl_operations){0};
}

/* ---- one call ---- */

int64_t rpl_comm(const struct rpl_call *call)
{
    return call->operation->comm < 0 ? -1 : call->record->in[call->operation->comm];
}

static const struct rfn_function_info *function_of(const struct rpl_call *call)
{
    return rfn_archive_function(call->archive, call->record->function);
}

int64_t rpl_outcome(const struct rpl_call *call, uint8_t kind)
{
    const struct rfn_function_info *function = function_of(call);
    for (int i = 0; i < function->n_out; i++) {
        if (function->params[function->n_in + i].kind == kind)
            return call->record->out[i];
    }
    return RFN_UNKNOWN;
}

int64_t rpl_times(int64_t a, int64_t b)
{
    if (a <= 0 || b <= 0)
        return 0;
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}

int64_t rpl_type_bytes(const struct rpl_call *call, int64_t type)
{
    if (type < 0 || type >= rfn_archive_datatypes(call->archive))
        return 0;
    return rfn_archive_datatype(call->archive, (uint32_t)type)->size;
}

int64_t rpl_reduced_bytes(const struct rpl_call *call)
{
    return rpl_bytes(call, rpl_has(call, RPL_count) ? RPL_count : RPL_recvcount, RPL_datatype);
}

int64_t rpl_bytes(const struct rpl_call *call, enum rpl_role count, enum rpl_role type)
{
    return rpl_times(rpl_word(call, count, 0), rpl_type_bytes(call, rpl_word(call, type, -1)));
}

const int64_t *rpl_list(const struct rpl_call *call, enum rpl_role role, uint8_t kind, size_t *n)
{
    *n = 0;
    int64_t number = rpl_word(call, role, 0);
    return number > 0 ? rfn_cursor_list(call->cursor, number, n, kind) : NULL;
}

/* ---- what is there ---- */

int rpl_known_init(struct rpl_known *known, const struct rfn_archive *archive)
{
    *known = (struct rpl_known){.n_comms = rfn_archive_comms(archive)};
    known->comms = calloc((size_t)known->n_comms + 1, sizeof *known->comms);
    if (!known->comms)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < known->n_comms; i++) {
        enum rfn_comm_kind kind = rfn_archive_comm(archive, i)->kind;
        known->comms[i] = kind == RFN_COMM_WORLD || kind == RFN_COMM_SELF;
    }
    return 0;
}

void rpl_known_release(struct rpl_known *known)
{
    free(known->comms);
    free(known->groups);
    free(known->wins);
    *known = (struct rpl_known){0};
}

/* Null handles and predefined ones are always there. */
static bool is_there(const struct rpl_known *known, uint8_t kind, int64_t word)
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
    if (word < 0 || word >= RPL_SLOTS_MAX)
        return 0;
    RFN_TRY(RFN_GROW_ZEROED(*slots, *capacity, (size_t)word + 1));
    (*slots)[word] = made;
    return 0;
}

/* A handle that the call has made, or would have made. */
static int note(struct rpl_known *known, uint8_t kind, int64_t word, bool made)
{
    if (kind == RFN_KIND_COMM && word >= 0 && word < known->n_comms)
        known->comms[word] = made;
    if (kind == RFN_KIND_GROUP)
        return note_slot(&known->groups, &known->groups_capacity, word, made);
    if (kind == RFN_KIND_WIN)
        return note_slot(&known->wins, &known->wins_capacity, word, made);
    return 0;
}

int rpl_decide(struct rpl_known *known, const struct rpl_call *call)
{
    const struct rfn_function_info *function = function_of(call);
    enum rpl_treatment treatment = call->operation->treatment;
    if (treatment != RPL_NO_CALL && call->record->error)
        return RPL_FAILED;
    for (int i = 0; i < function->n_in && treatment == RPL_ISSUE; i++) {
        if (!is_there(known, function->params[i].kind, call->record->in[i]))
            treatment = call->operation->communicates ? RPL_SKIP : RPL_LOCAL;
    }
    for (int i = 0; i < function->n_out; i++) {
        RFN_TRY(note(known, function->params[function->n_in + i].kind, call->record->out[i],
                     treatment == RPL_ISSUE));
    }
    return (int)treatment;
}
