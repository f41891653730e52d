! A library for an interpreter to load; reduce() is a whole run. Ranks: 2.
subroutine reduce() bind(c)
  use mpi_f08
  implicit none
  integer :: numbers(3) = 1
  integer(MPI_ADDRESS_KIND) :: value
  logical :: there
  call MPI_Init()
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, there)
  call MPI_Finalize()
end subroutine
