! Rank 1 leaves an MPI_Send by a jump, which it calls from C or from Fortran (the argument); then all
! ranks meet in calls from Fortran. Built with jump.c.
module failing
  use mpi
  implicit none
contains
  subroutine fail_in_fortran() bind(c)
    integer :: data, n, error
    data = 0
    call MPI_Comm_size(MPI_COMM_WORLD, n, error)
    call MPI_Send(data, 1, MPI_INTEGER, n, 0, MPI_COMM_WORLD, error)
  end subroutine
end module

program jumping
  use mpi
  use failing
  use iso_c_binding
  implicit none
  interface
    subroutine jump_on_errors() bind(c)
    end subroutine
    subroutine stay_on_errors() bind(c)
    end subroutine
    subroutine fail_in_c() bind(c)
    end subroutine
    subroutine leave(procedure) bind(c)
      import
      type(c_funptr), value :: procedure
    end subroutine
  end interface
  character(len=16) :: way
  integer :: i, rank, one, total, error
  call get_command_argument(1, way)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call jump_on_errors()
  if (rank == 1) then
    if (way == 'c') then
      call leave(c_funloc(fail_in_c))
    else
      call leave(c_funloc(fail_in_fortran))
    end if
  end if
  call stay_on_errors()
  one = 1
  do i = 1, 20
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
