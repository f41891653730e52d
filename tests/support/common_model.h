/* common_model.h - random structures that have much in common, for tests of COMMON. */
#ifndef RFN_TESTS_SUPPORT_COMMON_MODEL_H
#define RFN_TESTS_SUPPORT_COMMON_MODEL_H

#include "archive/read/common_loops.h"
#include "archive/write/pack_common.h"
#include "event/kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- functions ---- */

enum { MODEL_FUNCTIONS = 4, MODEL_PATHS = 5, MODEL_INPUTS = 3 };

static const struct rfn_param_info model_params[] = {
    {.name = "count", .kind = RFN_KIND_COUNT},
    {.name = "peer", .kind = RFN_KIND_RANK},
    {.name = "tag", .kind = RFN_KIND_TAG},
};

/* The n-th has n inputs. */
static struct rfn_function_info model_functions[MODEL_FUNCTIONS];

static const struct rfn_dictionary *model_dictionary(void)
{
    static struct rfn_dictionary dictionary;
    for (uint8_t i = 0; i < MODEL_FUNCTIONS; i++)
        model_functions[i] = (struct rfn_function_info){
            .name = "f", .n_in = i, .params = model_params};
    dictionary = (struct rfn_dictionary){
        .functions = model_functions, .n_functions = MODEL_FUNCTIONS, .n_paths = MODEL_PATHS};
    return &dictionary;
}

/* ---- structures, as numbers ---- */

enum { MODEL_LOOPS = 6, MODEL_BODY = 3 };

struct model_structure {
    struct rfn_numbers numbers;
    bool twice;                     /* two loops have equal bodies */
    uint32_t first_input, n_inputs; /* where the inputs of the first symbol are */
};

static uint32_t model_below(uint32_t n)
{
    return (uint32_t)rand() % n;
}

static void model_put(struct model_structure *structure, uint64_t number)
{
    struct rfn_numbers *numbers = &structure->numbers;
    numbers->at = realloc(numbers->at, (numbers->n + 1) * sizeof *numbers->at);
    assert_non_null(numbers->at);
    numbers->at[numbers->n++] = number;
}

/* Some of all sites, in any order; *functions: theirs. */
static uint32_t model_sites(struct model_structure *structure, uint32_t *functions)
{
    enum { ALL = MODEL_FUNCTIONS * MODEL_PATHS };
    uint32_t sites[ALL], n = 1 + model_below(ALL);
    for (uint32_t i = 0; i < ALL; i++)
        sites[i] = i;
    model_put(structure, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = i + model_below(ALL - i), site = sites[other];
        sites[other] = sites[i];
        functions[i] = site % MODEL_FUNCTIONS;
        model_put(structure, functions[i]);
        model_put(structure, site / MODEL_FUNCTIONS);
    }
    return n;
}

static uint32_t model_symbols(struct model_structure *structure, uint32_t n_sites,
                              const uint32_t *functions)
{
    uint32_t n = 1 + model_below(12);
    model_put(structure, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t site = model_below(n_sites);
        const struct rfn_function_info *function = &model_functions[functions[site]];
        uint32_t moved = model_below(2) ? 0 : model_below(1u << function->n_in);
        uint32_t n_inputs = rfn_common_inputs(function, moved);
        model_put(structure, site * 2 + model_below(2));
        model_put(structure, model_below(4) ? 0 : 15);
        model_put(structure, moved);
        if (i == 0) {
            structure->first_input = (uint32_t)structure->numbers.n;
            structure->n_inputs = n_inputs;
        }
        for (uint32_t k = 0; k < n_inputs; k++)
            model_put(structure, model_below(8) ? model_below(2) : (uint64_t)rand() << 33);
    }
    return n;
}

static uint64_t model_node(uint32_t n_symbols, uint32_t n_loops)
{
    bool is_loop = n_loops > 0 && model_below(3) == 0;
    return 2 * (uint64_t)model_below(is_loop ? n_loops : n_symbols) + is_loop;
}

static void model_loops(struct model_structure *structure, uint32_t n_symbols)
{
    uint64_t bodies[MODEL_LOOPS][MODEL_BODY + 1] = {{0}};
    uint32_t n = model_below(MODEL_LOOPS + 1);
    model_put(structure, n);
    for (uint32_t i = 0; i < n; i++) {
        bodies[i][MODEL_BODY] = 1 + model_below(MODEL_BODY);
        model_put(structure, bodies[i][MODEL_BODY]);
        for (uint32_t k = 0; k < bodies[i][MODEL_BODY]; k++) {
            bodies[i][k] = model_node(n_symbols, i);
            model_put(structure, bodies[i][k]);
        }
        for (uint32_t k = 0; k < i; k++)
            structure->twice |= memcmp(bodies[k], bodies[i], sizeof bodies[i]) == 0;
    }
    uint32_t n_top = model_below(20);
    model_put(structure, n_top);
    for (uint32_t i = 0; i < n_top; i++)
        model_put(structure, model_node(n_symbols, n));
}

/* The numbers are to be freed. */
static struct model_structure make_structure(void)
{
    struct model_structure structure = {{0}, false, 0, 0};
    uint32_t functions[MODEL_FUNCTIONS * MODEL_PATHS];
    uint32_t n_sites = model_sites(&structure, functions), n_types = model_below(3);
    model_put(&structure, n_types);
    for (uint32_t i = 0; i < n_types; i++)
        model_put(&structure, model_below(20));
    model_put(&structure, model_below(3)); /* communicators */
    model_loops(&structure, model_symbols(&structure, n_sites, functions));
    return structure;
}

#endif
