#include "integers.inc"

module calls
  implicit none
  include 'mpif.h'
#include "state.inc"
contains
#include "body.inc"
end module

program mpif_h
  use calls
  call everything()
end program
