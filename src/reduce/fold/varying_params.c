#include "reduce/fold/varying_params.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* The values that an input has had. */
struct rfn_distinct {
    int64_t *values;
    size_t n, capacity;
};

void rfn_varying_params_release(struct rfn_varying_params *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        struct rfn_input_site *site = &inputs->sites[i];
        for (unsigned k = 0; site->inputs && k < site->n_in; k++)
            free(site->inputs[k].values);
        free(site->inputs);
    }
    free(inputs->sites);
    *inputs = (struct rfn_varying_params){0};
}

int rfn_varying_params_use(struct rfn_varying_params *inputs, uint32_t number, unsigned n_in)
{
    size_t n = inputs->n;
    if (number >= n) {
        RFN_TRY(RFN_GROW(inputs->sites, inputs->capacity, (size_t)number + 1));
        memset(inputs->sites + n, 0, (number + 1 - n) * sizeof *inputs->sites);
        inputs->n = (size_t)number + 1;
    }
    struct rfn_input_site *site = &inputs->sites[number];
    if (site->inputs)
        return 0;
    site->n_in = n_in;
    site->inputs = calloc(n_in + 1u, sizeof *site->inputs);
    inputs->held += (n_in + 1u) * sizeof *site->inputs;
    return site->inputs ? 1 : RFN_E_NOMEM;
}

size_t rfn_varying_params_bytes(const struct rfn_varying_params *inputs)
{
    return inputs->held + inputs->capacity * sizeof *inputs->sites;
}

static int distinct_add(struct rfn_distinct *distinct, int64_t value, size_t *held)
{
    for (size_t i = 0; i < distinct->n; i++) {
        if (distinct->values[i] == value)
            return 0;
    }
    const size_t before = distinct->capacity;
    RFN_TRY(RFN_GROW(distinct->values, distinct->capacity, distinct->n + 1));
    *held += (distinct->capacity - before) * sizeof *distinct->values;
    distinct->values[distinct->n++] = value;
    return 0;
}

int rfn_varying_params_note(struct rfn_varying_params *inputs, const struct rfn_symbol *symbol)
{
    struct rfn_input_site *site = &inputs->sites[symbol->site];
    unsigned most = 0;
    site->n_symbols++;
    for (unsigned i = 0; i < site->n_in; i++) {
        if (site->moved >> i & 1)
            continue;
        RFN_TRY(distinct_add(&site->inputs[i], symbol->in[i], &inputs->held));
        if (site->inputs[i].n > RFN_INPUT_VALUES_MAX)
            return (int)i;
        if (site->inputs[i].n > site->inputs[most].n || site->moved >> most & 1)
            most = i;
    }
    bool movable = site->n_in > 0 && !(site->moved >> most & 1) && site->inputs[most].n > 1;
    return movable && site->n_symbols > RFN_INPUT_SYMBOLS_MAX ? (int)most : -1;
}

void rfn_varying_params_move(struct rfn_varying_params *inputs, uint32_t number, uint32_t input,
                             bool settles)
{
    if (rfn_varying_params_of(inputs, number) >> input & 1 || number >= inputs->n ||
        !inputs->sites[number].inputs)
        return;
    struct rfn_input_site *site = &inputs->sites[number];
    struct rfn_distinct *distinct = &site->inputs[input];
    site->moved |= 1u << input;
    inputs->held -= distinct->capacity * sizeof *distinct->values;
    free(distinct->values); /* nobody asks any more */
    *distinct = (struct rfn_distinct){0};
    if (settles)
        site->unsettled = inputs->unsettled = true;
    site->n_symbols = 0; /* what is counted from now on are symbols of the new form */
}

/* What a site's symbols are like. */
struct repeats {
    uint64_t symbols, occurrences;
};

/* The input with most values that has not moved; n_in: none varies. */
static uint32_t most_varying(const struct rfn_input_site *site)
{
    uint32_t most = site->n_in;
    for (uint32_t i = 0; i < site->n_in; i++) {
        if (site->inputs[i].n > (most < site->n_in ? site->inputs[most].n : 1))
            most = i;
    }
    return most;
}

/* Moves inputs, those with most values first, until the symbols that may be left repeat. */
static void thin_site(struct rfn_varying_params *inputs, uint32_t number,
                      const struct repeats *repeats, bool settles)
{
    const struct rfn_input_site *site = &inputs->sites[number];
    double left = 1; /* symbols that values of the inputs can make */
    for (uint32_t i = 0; i < site->n_in; i++)
        left *= site->inputs[i].n > 1 ? (double)site->inputs[i].n : 1;
    for (uint32_t most; (most = most_varying(site)) < site->n_in;) {
        const double symbols = left < (double)repeats->symbols ? left : (double)repeats->symbols;
        if ((double)repeats->occurrences >= RFN_INPUT_REPEATS * symbols)
            return;
        left /= (double)site->inputs[most].n;
        rfn_varying_params_move(inputs, number, most, settles);
    }
}

int rfn_varying_params_thin(struct rfn_varying_params *inputs, const struct rfn_symbol_table *table,
                            bool settles)
{
    struct repeats *repeats = calloc(inputs->n + 1, sizeof *repeats);
    if (!repeats)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < table->n; i++) {
        repeats[table->symbols[i].site].symbols++;
        repeats[table->symbols[i].site].occurrences += table->symbols[i].occurrences;
    }
    for (uint32_t i = 0; i < inputs->n; i++)
        thin_site(inputs, i, &repeats[i], settles);
    free(repeats);
    return 0;
}

void rfn_varying_params_settled(struct rfn_varying_params *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        inputs->sites[i].unsettled = false;
    inputs->unsettled = false;
}
