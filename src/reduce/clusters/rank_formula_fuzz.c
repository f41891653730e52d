/* Any bytes as a formula: a fault that lies in the text, or a value or none; without its spaces the
 * same. */
#include "reduce/clusters/rank_formula.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    char packed[RFN_FORMULA_MOST];
    size_t at;
    int64_t value, again;
    const char *fault = rfn_formula_fault(text, size, &at);
    if (at > size)
        abort();
    bool there = rfn_formula_value(text, size, 5, 12, &value);
    if (fault)
        return there ? abort(), 0 : 0;
    size_t n = rfn_formula_pack(text, size, packed);
    if (rfn_formula_fault(packed, n, &at) || rfn_formula_value(packed, n, 5, 12, &again) != there ||
        (there && again != value))
        abort();
    return 0;
}
