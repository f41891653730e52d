! Marked iterations: 20 of them, with two barriers each.
program segments
  use mpi
  use refrain
  implicit none
  integer :: ierr, i
  character(len=12) :: name = 'step'
  call MPI_Init(ierr)
  do i = 1, 20
    call refrain_segment_begin(name)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call refrain_segment_end()
  end do
  call MPI_Finalize(ierr)
end program
