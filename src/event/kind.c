#include "event/kind.h"

#include <stddef.h>

/* Predefined handles by kind, in the order of their numbers. Part of the file format. */
static const char *const ops[] = {
    "MPI_OP_NULL", "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
    "MPI_LAND",    "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
    "MPI_BXOR",    "MPI_MAXLOC", "MPI_MINLOC", "MPI_REPLACE", "MPI_NO_OP",
};
static const char *const groups[] = {"MPI_GROUP_NULL", "MPI_GROUP_EMPTY"};
static const char *const infos[] = {"MPI_INFO_NULL", "MPI_INFO_ENV"};
static const char *const errhandlers[] = {
    "MPI_ERRHANDLER_NULL",
    "MPI_ERRORS_ARE_FATAL",
    "MPI_ERRORS_RETURN",
    "MPI_ERRORS_ABORT",
};
static const char *const wins[] = {"MPI_WIN_NULL"};
static const char *const files[] = {"MPI_FILE_NULL"};
static const char *const sessions[] = {"MPI_SESSION_NULL"};
static const char *const messages[] = {"MPI_MESSAGE_NULL", "MPI_MESSAGE_NO_PROC"};
static const char *const keyvals[] = {
    "MPI_KEYVAL_INVALID",  "MPI_TAG_UB",        "MPI_HOST",          "MPI_IO",
    "MPI_WTIME_IS_GLOBAL", "MPI_UNIVERSE_SIZE", "MPI_LASTUSEDCODE",  "MPI_APPNUM",
    "MPI_WIN_BASE",        "MPI_WIN_SIZE",      "MPI_WIN_DISP_UNIT", "MPI_WIN_CREATE_FLAVOR",
    "MPI_WIN_MODEL",
};

#define TABLE(names)                        \
    {                                       \
        names, sizeof names / sizeof *names \
    }

static const struct {
    const char *const *names;
    size_t n;
} tables[] = {
    [RFN_KIND_OP] = TABLE(ops),           [RFN_KIND_GROUP] = TABLE(groups),
    [RFN_KIND_INFO] = TABLE(infos),       [RFN_KIND_ERRHANDLER] = TABLE(errhandlers),
    [RFN_KIND_WIN] = TABLE(wins),         [RFN_KIND_FILE] = TABLE(files),
    [RFN_KIND_SESSION] = TABLE(sessions), [RFN_KIND_MESSAGE] = TABLE(messages),
    [RFN_KIND_KEYVAL] = TABLE(keyvals),
};

const char *rfn_kind_predefined(uint8_t kind, unsigned k)
{
    if (kind >= sizeof tables / sizeof *tables || k >= tables[kind].n)
        return NULL;
    return tables[kind].names[k];
}
