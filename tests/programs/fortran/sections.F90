! Things that MPI's Fortran library does with more than one C call, or with none: array sections,
! attributes and callbacks of the program, a call inside of a callback. Ranks: 2.
module callbacks
  use mpi_f08
  implicit none
contains
  subroutine add(in, inout, n, datatype) bind(c)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: in, inout
    integer :: n, bytes
    type(MPI_Datatype) :: datatype
    double precision, pointer :: x(:), y(:)
    call c_f_pointer(in, x, [n])
    call c_f_pointer(inout, y, [n])
    call MPI_Type_size(datatype, bytes)
    y = x + y
  end subroutine

  subroutine copy(comm, keyval, extra, old, new, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, old, new
    logical :: flag
    new = old + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
end module

program sections
  use callbacks
  implicit none
  double precision :: matrix(6, 6), row(6), total(6)
  integer :: rank, keyval, ierror
  integer(MPI_ADDRESS_KIND) :: value
  logical :: there
  type(MPI_Op) :: op
  type(MPI_Comm) :: twin
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  matrix = rank
  if (rank == 0) then
     call MPI_Send(matrix(2, :), 6, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD)
     call MPI_Send(matrix(1:5:2, 1:5:2), 9, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD)
     call MPI_Send(matrix(3, 1:4), 4, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD)
  else
     call MPI_Recv(row, 6, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, status)
     call MPI_Recv(matrix, 9, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, status)
     call MPI_Recv(row, 4, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
     if (any(row /= 0)) call MPI_Abort(MPI_COMM_WORLD, 1)
  end if
  call MPI_Op_create(add, .true., op)
  row = rank + 1
  call MPI_Allreduce(row, total, 6, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD)
  if (any(total /= 3)) call MPI_Abort(MPI_COMM_WORLD, 2)
  call MPI_Op_free(op)
  call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 41_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin)
  call MPI_Comm_get_attr(twin, keyval, value, there)
  if (.not. there .or. value /= 42) call MPI_Abort(MPI_COMM_WORLD, 3)
  call MPI_Comm_delete_attr(twin, keyval)
  call MPI_Comm_get_attr(twin, keyval, value, there, ierror)
  call MPI_Comm_free_keyval(keyval)
  call MPI_Ibarrier(twin, request)
  call MPI_Wait(request, status)
  call MPI_Comm_free(twin)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Send(row, 1, MPI_DOUBLE_PRECISION, 5, 1, MPI_COMM_SELF, ierror)
  if (ierror == MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 4)
  call MPI_Finalize()
end program
