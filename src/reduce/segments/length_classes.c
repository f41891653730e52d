#include "reduce/segments/length_classes.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void rfn_length_classes_release(struct rfn_length_classes *classes)
{
    free(classes->classes);
    free(classes->ascending);
    *classes = (struct rfn_length_classes){0};
}

size_t rfn_length_classes_bytes(const struct rfn_length_classes *classes)
{
    return classes->capacity * sizeof *classes->classes +
           classes->ascending_capacity * sizeof *classes->ascending;
}

static int64_t leader_at(const struct rfn_length_classes *classes, size_t place)
{
    return classes->classes[classes->ascending[place]].leader;
}

static bool is_near(const struct rfn_criterion *criterion, int64_t shorter, int64_t longer)
{
    return (double)longer - (double)shorter <= rfn_criterion_allowed(criterion, (double)longer);
}

int rfn_length_classes_find(struct rfn_length_classes *classes,
                            const struct rfn_criterion *criterion, int64_t length, uint32_t *number)
{
    /* Where the first leader stands that is not shorter. */
    size_t place = 0, high = classes->n;
    while (place < high) {
        size_t middle = (place + high) / 2;
        if (leader_at(classes, middle) < length)
            place = middle + 1;
        else
            high = middle;
    }
    /* The lowest-numbered near class. Leaders are not near each other, so few are near a length. */
    const uint32_t *numbers = classes->ascending;
    *number = RFN_NO_LENGTH_CLASS;
    for (size_t i = place; i < classes->n && is_near(criterion, length, leader_at(classes, i)); i++)
        *number = numbers[i] < *number ? numbers[i] : *number;
    for (size_t i = place; i > 0 && is_near(criterion, leader_at(classes, i - 1), length); i--)
        *number = numbers[i - 1] < *number ? numbers[i - 1] : *number;
    if (*number != RFN_NO_LENGTH_CLASS || classes->n == RFN_LENGTH_CLASSES_MAX)
        return 0;
    RFN_TRY(RFN_GROW(classes->classes, classes->capacity, classes->n + 1));
    RFN_TRY(RFN_GROW(classes->ascending, classes->ascending_capacity, classes->n + 1));
    memmove(classes->ascending + place + 1, classes->ascending + place,
            (classes->n - place) * sizeof *classes->ascending);
    *number = (uint32_t)classes->n;
    classes->ascending[place] = *number;
    classes->classes[classes->n++] = (struct rfn_length_class){.leader = length};
    return 0;
}

void rfn_length_classes_add(struct rfn_length_classes *classes, uint32_t number, uint64_t length,
                            uint64_t executions)
{
    if (number == RFN_NO_LENGTH_CLASS)
        return;
    classes->classes[number].length += length;
    classes->classes[number].executions += executions;
}
