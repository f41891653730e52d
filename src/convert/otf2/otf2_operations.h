/* otf2_operations.h - collective operations of OTF2, and the functions that do them. */
#ifndef RFN_CONVERT_OTF2_OTF2_OPERATIONS_H
#define RFN_CONVERT_OTF2_OTF2_OPERATIONS_H

#include "event/calls.h"

#include <otf2/otf2.h>

enum { OTF2_NO_OPERATION = 255 };

/* OTF2_NO_OPERATION: OTF2 has none for it. */
OTF2_CollectiveOp rfn_otf2_operation_of(enum rfn_operation operation);
/* RFN_MPI_OTHER: no one function does it. */
enum rfn_operation rfn_otf2_function_of(OTF2_CollectiveOp operation);

#endif
