#include "convert/otf2/otf2_library.h"

#include <stdio.h>
#include <string.h>

static OTF2_ErrorCode listen(void *user, const char *file, uint64_t line, const char *function,
                             OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct otf2_errors *errors = user;
    (void)file;
    (void)line;
    (void)function;
    if (!errors->text[0] && code > OTF2_SUCCESS) {
        char detail[200] = "";
        if (format)
            vsnprintf(detail, sizeof detail, format, arguments);
        const char *known = OTF2_Error_GetDescription(code);
        snprintf(errors->text, sizeof errors->text, "%s%s%s", known ? known : "unknown error",
                 detail[0] ? ": " : "", detail);
    }
    return code;
}

void rfn_otf2_listen(struct otf2_errors *errors)
{
    errors->text[0] = '\0';
    errors->before = OTF2_Error_RegisterCallback(listen, errors);
}

void rfn_otf2_unlisten(struct otf2_errors *errors)
{
    OTF2_Error_RegisterCallback(errors->before, NULL);
}

int rfn_otf2_fail(const struct otf2_errors *errors, OTF2_ErrorCode code, int otherwise,
                  const char *path, const char *what, struct rfn_diag *diag)
{
    const char *text = errors->text;
    if (!text[0] && code != OTF2_SUCCESS)
        text = OTF2_Error_GetDescription(code);
    if (code == OTF2_ERROR_MEM_ALLOC_FAILED || code == OTF2_ERROR_ENOMEM)
        otherwise = RFN_E_NOMEM;
    else if (code == OTF2_ERROR_ENOSPC || code == OTF2_ERROR_EIO || code == OTF2_ERROR_EACCES)
        otherwise = RFN_E_IO;
    return rfn_fail(diag, otherwise, -1, -1, "%s: %s%s%s", path, what, text && text[0] ? ": " : "",
                    text ? text : "");
}
