#include "record/site_letters.h"

#include "base/hash.h"
#include "record/describe.h"
#include "record/recorder.h"

#include <string.h>

/* A module is its build-id, which is the same wherever the file lies, else its path. */
static uint64_t module_key(uint32_t number)
{
    const struct rec_module *module = rec_module(number);
    if (module->build_id_size)
        return rfn_hash_bytes(module->build_id, module->build_id_size);
    const char *path = rec_module_path(module);
    return rfn_hash_bytes(path, strlen(path));
}

uint64_t rec_site_letter(const void *sites, uint32_t site)
{
    const char *name = rec_functions[rec_sites_function(sites, site)].name;
    uint64_t hash = rfn_hash_bytes(name, strlen(name));
    size_t n;
    const struct rec_frame *frames = rec_sites_frames(sites, site, &n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t words[] = {hash, module_key(frames[i].module), frames[i].offset};
        hash = rfn_hash_bytes(words, sizeof words);
    }
    return hash;
}
