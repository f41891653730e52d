! As programs/pcontrol_around.c; with -DF08 by mpi_f08.
program pcontrol_around
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer :: ierror
    call MPI_Pcontrol(1)
    call MPI_Init(ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Pcontrol(0)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
    call MPI_Pcontrol(1)
    print '(a)', 'controlled 1'
end program pcontrol_around
