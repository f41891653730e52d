#include "integers.inc"

module calls
  use mpi
  implicit none
#include "state.inc"
contains
#include "body.inc"
end module

program use_mpi
  use calls
  call everything()
end program
