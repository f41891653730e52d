! Regions for Fortran programs: names for parts of the run (see refrain/region.h).
!
!     use refrain
!     call refrain_region_begin('solve')
!     ...
!     call refrain_region_end('solve')
!
! Iterations can be marked as segments:
!
!     call refrain_segment_begin('step')
!     ...
!     call refrain_segment_end()
!
! Under `refrain record --sample`, how messages are sampled from now on:
!
!     call refrain_sample('random:0.05')
!
! Compile this file before those that use it, with the same compiler; what it leaves to link is
! nothing, the procedures are in -lrefrain-region. Blanks at the end of a name do not count. The
! compiler must pass the lengths of strings by value at the end of the argument list and add an
! underscore to names, as gfortran and most others do.
module refrain
  implicit none
  private
  public :: refrain_region_begin, refrain_region_end
  public :: refrain_segment_begin, refrain_segment_end
  public :: refrain_sample

  interface
    subroutine refrain_region_begin(name)
      character(len=*), intent(in) :: name
    end subroutine refrain_region_begin

    subroutine refrain_region_end(name)
      character(len=*), intent(in) :: name
    end subroutine refrain_region_end

    subroutine refrain_segment_begin(name)
      character(len=*), intent(in) :: name
    end subroutine refrain_segment_begin

    subroutine refrain_segment_end()
    end subroutine refrain_segment_end

    subroutine refrain_sample(strategy)
      character(len=*), intent(in) :: strategy
    end subroutine refrain_sample
  end interface
end module refrain
