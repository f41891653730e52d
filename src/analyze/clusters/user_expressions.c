#include "analyze/clusters/user_expressions.h"

#include "archive/read/cluster_parts.h"
#include "base/arena.h"
#include "base/grow.h"
#include "reduce/clusters/rank_formula.h"
#include "refrain/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMULAS_MOST = 256 }; /* from then on those of archives are left out */

struct formula {
    const char *text; /* in the arena, without spaces */
    uint32_t size;
};

struct plugin {
    const char *file;
    void *handle;
    int (*expression)(const struct refrain_parameter *parameter, char *text, size_t size);
};

struct rfn_expressions {
    struct rfn_expression_finder finder;
    struct rfn_arena arena;
    struct formula *formulas;
    struct plugin *plugins;
    size_t n_formulas, formulas_capacity, n_plugins, plugins_capacity;
    uint64_t misfits, malformed;
    char first_malformed[256]; /* "": none */
};

/* ---- formulas ---- */

/* Takes a copy in; *formula is it, borrowed. */
static int take_formula(struct rfn_expressions *expressions, const char *text, size_t size,
                        struct formula *formula)
{
    char *copy = rfn_arena_copy(&expressions->arena, text, size);
    if (!copy)
        return RFN_E_NOMEM;
    *formula = (struct formula){copy, (uint32_t)rfn_formula_pack(copy, size, copy)};
    copy[formula->size] = '\0';
    return 0;
}

static int add_formula(struct rfn_expressions *expressions, const char *text, size_t size)
{
    struct formula formula;
    RFN_TRY(take_formula(expressions, text, size, &formula));
    for (size_t i = 0; i < expressions->n_formulas; i++) {
        if (!strcmp(expressions->formulas[i].text, formula.text))
            return 0;
    }
    RFN_TRY(RFN_GROW(expressions->formulas, expressions->formulas_capacity,
                     expressions->n_formulas + 1));
    expressions->formulas[expressions->n_formulas++] = formula;
    return 0;
}

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
}

int rfn_expressions_add(struct rfn_expressions *expressions, const char *text,
                        struct rfn_diag *diag)
{
    size_t at, size = strlen(text);
    const char *fault = rfn_formula_fault(text, size, &at);
    if (fault)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "'%.200s' is no expression: %s at character %zu",
                        text, fault, at + 1);
    return add_formula(expressions, text, size) < 0 ? no_memory(diag) : 0;
}

static bool gives_all(const struct formula *formula, const struct rfn_rank_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t value;
        if (!rfn_formula_value(formula->text, formula->size, values[i].rank, values[i].size,
                               &value) ||
            value != values[i].value)
            return false;
    }
    return true;
}

/* ---- plug-ins ---- */

int rfn_expressions_add_plugin(struct rfn_expressions *expressions, const char *file,
                               struct rfn_diag *diag)
{
    struct plugin plugin = {0};
    char path[4096]; /* without a slash it would be searched for among the system's libraries */
    int n = snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    if (n < 0 || (size_t)n >= sizeof path)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "the name of the plug-in is too long");
    plugin.file = rfn_arena_copy(&expressions->arena, file, strlen(file));
    if (!plugin.file || RFN_GROW(expressions->plugins, expressions->plugins_capacity,
                                 expressions->n_plugins + 1) < 0)
        return no_memory(diag);
    plugin.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin.handle)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "the plug-in cannot be loaded: %.400s", dlerror());
    *(void **)&plugin.expression = dlsym(plugin.handle, "refrain_expression");
    if (!plugin.expression) {
        dlclose(plugin.handle);
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1,
                        "%.300s has no function refrain_expression, which makes a plug-in", file);
    }
    expressions->plugins[expressions->n_plugins++] = plugin;
    return 0;
}

/* Calls a plug-in; returns whether it gave a formula, which is in text. What is no expression is
 * told once. */
static bool ask_plugin(struct rfn_expressions *expressions, const struct plugin *plugin,
                       const struct rfn_sought_parameter *parameter,
                       const struct refrain_value *values, size_t n, char *text)
{
    const struct refrain_parameter asked = {.version = REFRAIN_PLUGIN_VERSION,
                                            .function = parameter->function ? parameter->function
                                                                            : "",
                                            .name = parameter->name,
                                            .role = parameter->role,
                                            .n = n,
                                            .values = values};
    const char *function = parameter->function;
    size_t at;
    int size = plugin->expression(&asked, text, RFN_FORMULA_MOST + 1);
    text[RFN_FORMULA_MOST] = '\0';
    if (size <= 0)
        return false;
    const char *why = size > RFN_FORMULA_MOST ? "it is too long"
                                              : rfn_formula_fault(text, strlen(text), &at);
    if (why && expressions->malformed++ == 0)
        snprintf(expressions->first_malformed, sizeof expressions->first_malformed,
                 "%.80s, %s%s%s: '%.60s': %s", plugin->file, parameter->name,
                 function ? " of " : "", function ? function : "", text, why);
    return !why;
}

static int find_by_plugin(struct rfn_expressions *expressions, const struct plugin *plugin,
                          const struct rfn_sought_parameter *parameter,
                          const struct rfn_rank_value *values, size_t n, struct formula *formula)
{
    char text[RFN_FORMULA_MOST + 1] = "";
    struct refrain_value *copies = malloc(n * sizeof *copies);
    if (!copies)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        copies[i] = (struct refrain_value){values[i].rank, values[i].size, values[i].value};
    bool given = ask_plugin(expressions, plugin, parameter, copies, n, text);
    free(copies);
    if (!given)
        return 0;
    *formula = (struct formula){text, (uint32_t)strlen(text)};
    if (!gives_all(formula, values, n)) {
        expressions->misfits++;
        return 0;
    }
    RFN_TRY(take_formula(expressions, text, strlen(text), formula));
    return 1;
}

/* ---- asking ---- */

static int find(void *context, const struct rfn_sought_parameter *parameter,
                const struct rfn_rank_value *values, size_t n,
                struct rfn_rank_expression *expression)
{
    struct rfn_expressions *expressions = context;
    struct formula formula;
    int found = 0;
    for (size_t i = 0; i < expressions->n_formulas && !found; i++) {
        formula = expressions->formulas[i];
        found = gives_all(&formula, values, n);
    }
    for (size_t i = 0; i < expressions->n_plugins && !found; i++)
        found = find_by_plugin(expressions, &expressions->plugins[i], parameter, values, n,
                               &formula);
    if (found > 0)
        *expression = (struct rfn_rank_expression){
            .form = RFN_EXPRESSION_FORMULA, .formula = formula.text, .formula_size = formula.size};
    return found;
}

struct rfn_expression_finder *rfn_expressions_finder(struct rfn_expressions *expressions)
{
    return &expressions->finder;
}

int rfn_expressions_new(struct rfn_expressions **expressions)
{
    *expressions = calloc(1, sizeof **expressions);
    if (!*expressions)
        return RFN_E_NOMEM;
    (*expressions)->finder = (struct rfn_expression_finder){.find = find, .context = *expressions};
    return 0;
}

void rfn_expressions_free(struct rfn_expressions *expressions)
{
    if (!expressions)
        return;
    for (size_t i = 0; i < expressions->n_plugins; i++)
        dlclose(expressions->plugins[i].handle);
    rfn_arena_release(&expressions->arena);
    free(expressions->formulas);
    free(expressions->plugins);
    free(expressions);
}

struct rfn_expression_counts rfn_expressions_counts(const struct rfn_expressions *expressions)
{
    return (struct rfn_expression_counts){
        .parameters = expressions->finder.asked,
        .found = expressions->finder.found,
        .stored = expressions->finder.stored,
        .misfits = expressions->misfits,
        .malformed = expressions->malformed,
        .first_malformed = expressions->malformed ? expressions->first_malformed : NULL};
}

/* ---- those of an archive ---- */

static const char *add_stored(void *context, const char *text, size_t size)
{
    const struct rfn_expressions *expressions = context;
    if (expressions->n_formulas >= FORMULAS_MOST)
        return NULL;
    return add_formula(context, text, size) < 0 ? rfn_out_of_memory : NULL;
}

int rfn_expressions_add_archive(struct rfn_expressions *expressions,
                                const struct rfn_archive *archive, struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &archive->chunks;
    for (size_t i = 0; i < chunks->n && archive->first_set; i++) {
        if (chunks->entries[i].type != RFN_CHUNK_CLUSTERS)
            continue;
        struct rfn_part *part;
        RFN_TRY(rfn_chunk_use(archive, &chunks->entries[i], &part, diag));
        const struct rfn_cluster_index *shapes = &part->u.shapes;
        const char *fault = rfn_cluster_formulas(archive, shapes, add_stored, expressions);
        int error = rfn_payload_fault(&shapes->payload, fault, diag);
        rfn_part_done(archive, part);
        RFN_TRY(error);
    }
    return 0;
}
