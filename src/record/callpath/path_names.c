#include "record/callpath/path_names.h"

#include "event/symbolize.h"
#include "record/callpath/modules.h"
#include "refrain/recording.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rfn_symbolizer *symbolizer;

/* Names still to be found; NULL: none. */
struct wanted {
    const char *function, *file; /* patterns */
};

static void look_at(struct wanted *wanted, const char *function, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (wanted->function && function && rfn_function_wanted(wanted->function, function, NULL))
        wanted->function = NULL;
    if (wanted->file && file && rfn_function_wanted(wanted->file, slash ? slash + 1 : file, file))
        wanted->file = NULL;
}

static void look_at_frame(struct wanted *wanted, const struct rec_frame *frame, const char *program)
{
    struct rfn_source sources[RFN_SOURCES_MAX];
    const struct rec_module *module = rec_module(frame->module);
    if (!module || !module->path)
        return;
    if (module->function) {
        look_at(wanted, module->function, module->path);
        return;
    }
    const int number = rfn_symbolizer_module(symbolizer, rec_module_path(module, program),
                                             module->build_id, module->build_id_size);
    const size_t n = number < 0
                         ? 0
                         : rfn_symbolizer_find(symbolizer, number, frame->offset - 1, sources);
    for (size_t i = 0; i < n; i++)
        look_at(wanted, sources[i].function, sources[i].file);
}

bool rec_path_names_fit(const struct rfn_sample_where *where, const struct rec_sites *sites,
                        uint32_t site, const char *program)
{
    struct wanted wanted = {where->patterns[RFN_WHERE_PATH], where->patterns[RFN_WHERE_FILE]};
    size_t n;
    const struct rec_frame *frames = rec_sites_frames(sites, site, &n);
    if (!wanted.function && !wanted.file)
        return true;
    pthread_mutex_lock(&lock);
    if (!symbolizer)
        symbolizer = rfn_symbolizer_new();
    for (size_t i = 0; symbolizer && i < n && (wanted.function || wanted.file); i++)
        look_at_frame(&wanted, &frames[i], program);
    pthread_mutex_unlock(&lock);
    return !wanted.function && !wanted.file;
}

void rec_path_names_release(void)
{
    rfn_symbolizer_free(symbolizer);
    symbolizer = NULL;
}
