/* Any bytes as a selector of refrain whatif and of predict --scale, in a small run: a fault that is
 * told, or assumptions, and a text that selects the same again. */
#include "cli/whatif/selector.h"

#include "support/text_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct rfn_archive *archive;
static struct rfn_waits *waits;

static void close_run(void)
{
    rfn_waits_free(waits);
    rfn_archive_close(archive);
}

static const struct rfn_measured *open_run(void)
{
    static struct rfn_measured run;
    const struct rfn_waits_options options = {0};
    if (run.archive)
        return &run;
    if (rfn_archive_open(RFN_SOUND_ARCHIVES "/full", &archive, NULL) < 0 ||
        rfn_waits_new(archive, &options, NULL, NULL, &waits, NULL) < 0)
        abort();
    run = (struct rfn_measured){.archive = archive, .waits = waits};
    atexit(close_run);
    return &run;
}

static void check(const struct rfn_measured *run, const struct rfn_selector *selector)
{
    struct rfn_assumption assumptions[2];
    struct rfn_selector again;
    struct rfn_text text = {0}, wrong = {0};
    const size_t n = rfn_selector_assume(selector, 0.5, assumptions);
    if (n < 1 || n > 2)
        abort();
    for (size_t i = 0; i < waits->n_activities; i++)
        (void)assumptions[0].takes(assumptions[0].context, &waits->activities[i]);
    rfn_selector_append(&text, selector);
    if (!selector->text || !strpbrk(selector->text, "\\")) { /* it may be printed in escapes */
        if (rfn_selector_parse(&again, run, rfn_text_terminated(&text), &wrong) == 0 &&
            again.kind != selector->kind)
            abort();
        rfn_selector_release(&again);
    }
    rfn_text_release(&text);
    rfn_text_release(&wrong);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct rfn_measured *run = open_run();
    struct rfn_selector selector;
    struct rfn_text wrong = {0};
    char *text = text_of_bytes(bytes, size), *end;
    const int error = rfn_selector_parse(&selector, run, text, &wrong);
    if (error == 0)
        check(run, &selector);
    else if (error != RFN_E_NOMEM && !wrong.n)
        abort();
    (void)rfn_selector_size(text, &end);
    if (end < text || end > text + strlen(text))
        abort();
    rfn_selector_release(&selector);
    rfn_text_release(&wrong);
    free(text);
    return 0;
}
