#include "explain/name_chain.h"

#include "explain/call_path.h"

void rfn_name_append(struct rfn_text *text, const char *function)
{
    static const char *const clones[] = {".constprop.", ".isra.",     ".part.",
                                         ".cold",       ".lto_priv.", ".llvm."};
    size_t n = strlen(function);
    for (size_t i = 0; i < sizeof clones / sizeof *clones; i++) {
        const char *clone = strstr(function, clones[i]);
        if (clone && clone > function && (size_t)(clone - function) < n)
            n = (size_t)(clone - function);
    }
    rfn_text_escaped(text, function, n);
}

void rfn_name_chain_append(struct rfn_text *text, const struct rfn_archive *archive,
                           struct rfn_call_site site)
{
    struct rfn_path frames = rfn_call_path_frames(archive, site.path);
    const char *module = NULL; /* of the frame before, if its function is not known */
    rfn_name_append(text, rfn_call_site_function(archive, site)->name);
    rfn_text_char(text, '\n');
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location at = rfn_archive_location(archive, frames.frames[i]);
        if (rfn_call_path_internal(&at))
            continue;
        bool again = !at.function && at.module && module && strcmp(at.module, module) == 0;
        module = at.function ? NULL : at.module;
        if (again)
            continue;
        if (at.function) {
            rfn_name_append(text, at.function);
        } else {
            rfn_text_char(text, '[');
            rfn_call_path_file(text, &at);
        }
        rfn_text_char(text, '\n');
    }
}
