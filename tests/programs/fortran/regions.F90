! Regions from Fortran, with names that end with blanks, and MPI_Pcontrol.
program regions
  use mpi
  use refrain
  implicit none
  integer :: ierr, rank, i
  character(len=20) :: name
  call refrain_region_begin('program')
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  name = 'solve'
  do i = 1, 10
    call refrain_region_begin(name)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call refrain_region_begin('inner part  ')
    call refrain_region_end('inner part')
    call refrain_region_end('solve')
  end do
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Pcontrol(1)
  call subordinate
  call MPI_Finalize(ierr)
  call refrain_region_end('program')
  if (rank == 0) print *, 'done'
contains
  subroutine subordinate
    call refrain_region_begin('subordinate')
    call refrain_region_end('subordinate')
  end subroutine
end program
