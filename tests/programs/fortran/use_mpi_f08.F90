#define COMM_TYPE type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#define DATATYPE_TYPE type(MPI_Datatype)
#define INFO_TYPE type(MPI_Info)
#define STATUS_TYPE type(MPI_Status)
#define STATUS_OF(name) name
#define STATUSES_OF(name, n) name(n)
#define STATUS_1(name) name(1)
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#define IERROR
#define FINALIZE_IERROR

module calls
  use mpi_f08
  implicit none
#include "state.inc"
contains
#include "body.inc"
end module

program use_mpi_f08
  use calls
  call everything()
end program
