#include "explain/name_chain.h"

#include "explain/call_path.h"
#include "refrain/demangle.h"

void rfn_name_append(struct rfn_text *text, const char *function)
{
    rfn_text_escaped(text, function, rfn_name_length(function));
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
        const bool named = at.function && !rfn_name_distance(at.function);
        bool again = !named && at.module && module && strcmp(at.module, module) == 0;
        module = named ? NULL : at.module;
        if (again)
            continue;
        if (named) {
            rfn_name_append(text, at.function);
        } else {
            rfn_text_char(text, '[');
            rfn_call_path_file(text, &at);
        }
        rfn_text_char(text, '\n');
    }
}
