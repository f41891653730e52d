! Rank 0 ends the job, a second after all are there.
program abort_by_first
  use mpi
  implicit none
  integer :: error, rank
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call sleep(1)
  if (rank == 0) call MPI_Abort(MPI_COMM_WORLD, 9, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call sleep(60)
end program
