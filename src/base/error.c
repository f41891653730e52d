#include "refrain/error.h"

#include "base/c_numbers.h"

#include <stdarg.h>
#include <stdio.h>

const char *rfn_error_text(int error)
{
    switch (error) {
    case RFN_OK:
        return "success";
#define RFN_X_(name, text) \
    case RFN_E_##name:     \
        return text;
        RFN_ERRORS(RFN_X_)
#undef RFN_X_
    default:
        return "unknown error";
    }
}

int rfn_exit_status(int error)
{
    switch (error) {
    case RFN_E_USAGE:
        return RFN_EXIT_USAGE;
    case RFN_E_CORRUPT:
    case RFN_E_INCOMPLETE:
    case RFN_E_VERSION:
        return RFN_EXIT_BAD_INPUT;
    default:
        return error < 0 ? RFN_EXIT_FAILURE : RFN_EXIT_OK;
    }
}

int rfn_fail(struct rfn_diag *diag, int error, int64_t file_offset, int rank, const char *format,
             ...)
{
    if (diag) {
        va_list args;
        va_start(args, format);
        rfn_c_vprint(diag->text, sizeof diag->text, format, args);
        va_end(args);
        diag->file_offset = file_offset;
        diag->rank = rank;
    }
    return error;
}
