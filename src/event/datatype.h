/* datatype.h - how the content of an MPI datatype is written down.
 *
 * A datatype is its constructor and what the constructor was given; the types it is built from are
 * datatypes of their own, referred to by hash, so that a type shared by many is written once. The
 * content of a datatype is these numbers (base/buf.h: varint, svarint, string):
 *
 *   varint   combiner: enum rfn_combiner, possibly with RFN_COMBINER_ABSOLUTE
 *   string   name, such as "MPI_DOUBLE"                          (only if the combiner is NAMED)
 *   svarint  size, lower bound, extent, true lower bound, true extent, all in bytes
 *   varint   n, then n svarint: integers, as MPI_Type_get_contents gives them; then large counts
 *   varint   n, then n svarint: addresses
 *   varint   n, then n fixed 64-bit numbers: rfn_hash_bytes of the children's contents
 *
 * A type whose constructor could not be asked for has combiner OTHER, sizes, and three times n = 0.
 *
 * Two datatypes are the same if their contents are the same bytes. The numbers below are part of
 * the file format: add, never change.
 */
#ifndef RFN_EVENT_DATATYPE_H
#define RFN_EVENT_DATATYPE_H

enum rfn_combiner {
    RFN_COMBINER_OTHER = 0,
    RFN_COMBINER_NAMED = 1,
    RFN_COMBINER_DUP = 2,
    RFN_COMBINER_CONTIGUOUS = 3,
    RFN_COMBINER_VECTOR = 4,
    RFN_COMBINER_HVECTOR = 5,
    RFN_COMBINER_INDEXED = 6,
    RFN_COMBINER_HINDEXED = 7,
    RFN_COMBINER_INDEXED_BLOCK = 8,
    RFN_COMBINER_HINDEXED_BLOCK = 9,
    RFN_COMBINER_STRUCT = 10,
    RFN_COMBINER_SUBARRAY = 11,
    RFN_COMBINER_DARRAY = 12,
    RFN_COMBINER_F90_REAL = 13,
    RFN_COMBINER_F90_COMPLEX = 14,
    RFN_COMBINER_F90_INTEGER = 15,
    RFN_COMBINER_RESIZED = 16,
    RFN_COMBINER_VALUE_INDEX = 17,
    /* Constructors of Fortran in MPI-1: displacements are among the integers. */
    RFN_COMBINER_HVECTOR_INTEGER = 18,
    RFN_COMBINER_HINDEXED_INTEGER = 19,
    RFN_COMBINER_STRUCT_INTEGER = 20,
    /* Flag. The displacements were absolute addresses (for use with MPI_BOTTOM), which differ from
     * run to run and from rank to rank: the lower bound counts as 0, the true lower bound and the
     * addresses are relative to what is lowest. */
    RFN_COMBINER_ABSOLUTE = 0x80
};

#endif
