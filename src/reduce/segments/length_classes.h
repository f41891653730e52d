/* length_classes.h - the executions of a kind of segments by how long they took.
 *
 * A class has a leader, the length with which it began; a length belongs to the lowest-numbered
 * class whose leader is near. So classes depend on nothing but the lengths in their order: ranks
 * that leave a call together, again and again, have the same ones. That is what they are for: when
 * all executions of a class are taken to be as long as their mean, those ranks stay together.
 */
#ifndef RFN_REDUCE_SEGMENTS_LENGTH_CLASSES_H
#define RFN_REDUCE_SEGMENTS_LENGTH_CLASSES_H

#include "reduce/segments/similarity.h"

/* Lengths that are near no leader are of no class when there are so many. */
enum { RFN_LENGTH_CLASSES_MAX = 4096, RFN_NO_LENGTH_CLASS = RFN_LENGTH_CLASSES_MAX };

struct rfn_length_classes {
    struct rfn_length_class {
        int64_t leader;
        uint64_t length, executions; /* of all that were added */
    } * classes;
    uint32_t *ascending; /* numbers of classes, by leader */
    size_t n, capacity, ascending_capacity;
};

void rfn_length_classes_release(struct rfn_length_classes *classes);
size_t rfn_length_classes_bytes(const struct rfn_length_classes *classes);

/* The number of the length's class, which is made if there is none, or RFN_NO_LENGTH_CLASS. Near is
 * what the criterion allows for the longer one. RFN_E_NOMEM: as before. */
int rfn_length_classes_find(struct rfn_length_classes *classes,
                            const struct rfn_criterion *criterion, int64_t length,
                            uint32_t *number);

/* Executions, and how long they took together. Nothing happens for RFN_NO_LENGTH_CLASS. */
void rfn_length_classes_add(struct rfn_length_classes *classes, uint32_t number, uint64_t length,
                            uint64_t executions);

#endif
