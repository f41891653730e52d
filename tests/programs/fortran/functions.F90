! Procedures of a module, to be compiled with -finstrument-functions.
module solver
  implicit none
contains
  recursive subroutine descend(depth)
    integer, intent(in) :: depth
    if (depth > 1) call descend(depth - 1)
  end subroutine
  subroutine step
    use mpi
    integer :: ierr
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call descend(4)
  end subroutine
end module

program functions
  use mpi
  use solver
  implicit none
  integer :: ierr, i
  call MPI_Init(ierr)
  do i = 1, 10
    call step
  end do
  call MPI_Finalize(ierr)
end program
