/* smpi_heap.h - under SMPI only: memory for the recorder of one rank, apart from the simulator's.
 *
 * There all ranks are one process with one heap, and the simulator walks long lists for every
 * message. What a thousand recorders allocate in between would scatter these lists over hundreds of
 * megabytes: programs then run half as fast. So the static library has these functions in place of
 * malloc and its like (the Makefile renames the symbols); its sources need not know.
 *
 * Sizes are rounded up to powers of two, with a free list for each; the memory comes from the
 * system in blocks that double. Large pieces, and what others have allocated, are the C library's.
 * A rank's data are its own under SMPI, and it has one thread: there is nothing to lock.
 */
#ifndef RFN_RECORD_CORE_SMPI_HEAP_H
#define RFN_RECORD_CORE_SMPI_HEAP_H

#include <stddef.h>

void *rec_smpi_heap_malloc(size_t size);
void *rec_smpi_heap_calloc(size_t n, size_t size);
void *rec_smpi_heap_realloc(void *memory, size_t size);
void rec_smpi_heap_free(void *memory);

#endif
