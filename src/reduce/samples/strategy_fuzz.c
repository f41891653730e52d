/* Any bytes as a strategy of --sample: an error that is told, or one whose shortest text means the
 * same and whose decisions stay within its limits. */
#include "reduce/samples/strategy.h"

#include "support/text_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const struct rfn_sample_strategy *strategy)
{
    struct rfn_sample_strategy again = {.seed = strategy->seed};
    struct rfn_diag diag = {.file_offset = -1};
    char text[RFN_SAMPLE_TEXT], second[RFN_SAMPLE_TEXT];
    if (strategy->kind == RFN_SAMPLE_RANDOM && !(strategy->rate > 0 && strategy->rate <= 1))
        abort();
    if (strategy->kind >= RFN_SAMPLE_COUNTER && strategy->variance >= strategy->period)
        abort();
    rfn_sample_strategy_text(strategy, text);
    if (rfn_sample_strategy_parse(text, &again, &diag) < 0)
        abort();
    rfn_sample_strategy_text(&again, second);
    if (strcmp(text, second) != 0 || again.kind != strategy->kind ||
        again.period != strategy->period || again.variance != strategy->variance)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_sample_strategy strategy = {.seed = 1};
    struct rfn_diag diag = {.file_offset = -1};
    char *text = text_of_bytes(bytes, size);
    if (rfn_sample_strategy_parse(text, &strategy, &diag) == 0)
        check(&strategy);
    else if (!diag.text[0])
        abort();
    free(text);
    return 0;
}
