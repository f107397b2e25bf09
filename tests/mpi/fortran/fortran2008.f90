! Fortran 2008: the module mpi_f08, with handles of their own types and without ierror.
program fortran2008
  use mpi_f08
  implicit none
  integer :: rank, ranks, sum, name_length, values(3), index
  type(MPI_Comm) :: comm, copy
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Datatype) :: pair
  character(MPI_MAX_OBJECT_NAME) :: name
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  sum = rank
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(sum == ranks * (ranks - 1) / 2, 'in place')
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call MPI_Comm_dup(comm, copy)
  call check(copy /= comm .and. comm == comm, 'comparing handles')
  call MPI_Comm_set_name(copy, 'copy')
  call MPI_Comm_get_name(copy, name, name_length)
  call check(name == 'copy' .and. name_length == 4, 'a name')
  call MPI_Comm_free(copy)
  call check(copy == MPI_COMM_NULL, 'freed')
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  values = [1, 2, rank]
  call MPI_Irecv(values(2), 1, pair, 0, 5, MPI_COMM_SELF, requests(1))
  call MPI_Isend(values(1), 1, pair, 0, 5, MPI_COMM_SELF, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call check(statuses(1)%MPI_TAG == 5 .and. statuses(1)%MPI_SOURCE == 0, 'status')
  call check(requests(1) == MPI_REQUEST_NULL, 'done')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 1, index, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call check(index == rank, 'status ignored')
  call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, flag, status)
  call check(.not. flag, 'nothing is left')
  call MPI_Type_free(datatype=pair)
  call keywords
  call sections
  call pointers
  call callbacks
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'ok fortran2008'
  call MPI_Finalize()
contains
  subroutine keywords
    type(MPI_Comm) :: grid
    integer :: from, to, number
    type(MPI_Datatype) :: part
    call MPI_Cart_create(comm_old=MPI_COMM_WORLD, ndims=1, dims=[ranks], periods=[.true.], reorder=.false., comm_cart=grid)
    call MPI_Cart_shift(grid, direction=0, disp=1, rank_source=from, rank_dest=to)
    call check(from == mod(rank + ranks - 1, ranks) .and. to == mod(rank + 1, ranks), 'keywords')
    number = rank
    call MPI_Bcast(buffer=number, count=1, datatype=MPI_INTEGER, root=0, comm=grid)
    call check(number == 0, 'a broadcast by keywords')
    call MPI_Comm_set_name(grid, comm_name='ring')
    call MPI_Comm_free(grid)
    call MPI_Type_create_f90_real(p=10, r=100, newtype=part)
    call MPI_Type_size(part, size=number)
    call check(number == 8, 'a type by precision')
  end subroutine

  ! Array sections, before and after the return of what is given them.
  subroutine sections
    integer, asynchronous :: from(4, 6), to(4, 6)
    integer :: i, sum_of(3)
    complex(8), asynchronous :: z(6), w(6)
    from = reshape([(i, i = 1, 24)], [4, 6])
    to = 0
    call MPI_Irecv(to(2:4:2, 1:5:2), 6, MPI_INTEGER, 0, 7, MPI_COMM_SELF, requests(1))
    call MPI_Isend(from(1:3:2, 2:6:2), 6, MPI_INTEGER, 0, 7, MPI_COMM_SELF, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call check(all(to(2:4:2, 1:5:2) == from(1:3:2, 2:6:2)) .and. sum_up(to) == sum_up(from(1:3:2, 2:6:2)), 'sections')
    to = 0
    call MPI_Irecv(to(:, 2:6:2), 7, MPI_INTEGER, 0, 7, MPI_COMM_SELF, requests(1))
    call MPI_Send(from(4, :), 6, MPI_INTEGER, 0, 7, MPI_COMM_SELF)
    call MPI_Wait(requests(1), status)
    call check(all(to(:, 2) == [4, 8, 12, 16]) .and. all(to(:, 4) == [20, 24, 0, 0]) .and. sum_up(to) == 84, 'fewer than asked for')
    z = [(cmplx(i, -i, 8), i = 1, 6)]
    w = 0
    call MPI_Irecv(w(6:2:-2), 6, MPI_DOUBLE_PRECISION, 0, 8, MPI_COMM_SELF, requests(1))
    call MPI_Sendrecv(z(1:5:2), 3, MPI_DOUBLE_COMPLEX, 0, 8, sum_of(1:0), 0, MPI_INTEGER, MPI_PROC_NULL, 8, MPI_COMM_SELF, status)
    call MPI_Wait(requests(1), status)
    call check(all(w == [(0, 0), (5, -5), (0, 0), (3, -3), (0, 0), (1, -1)]), 'backwards, as parts of elements')
    sum_of = 0
    call MPI_Allreduce(from(1, 1:5:2), sum_of(3:1:-1), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(sum_of == ranks * [17, 9, 1]), 'a sum of sections')
  end subroutine

  integer function sum_up(values)
    intrinsic :: sum
    integer, intent(in) :: values(:, :)
    sum_up = sum(values)
  end function

  subroutine pointers
    use, intrinsic :: iso_c_binding
    type(c_ptr) :: memory, buffer
    real(8), pointer :: values_of(:)
    integer :: size
    call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, values_of, [10])
    values_of = 1.5
    call MPI_Buffer_attach(values_of, 80)
    call MPI_Buffer_detach(buffer, size)
    call check(c_associated(buffer, memory) .and. size == 80, 'the buffer is given back')
    call MPI_Free_mem(values_of)
  end subroutine

  subroutine callbacks
    procedure(MPI_User_function), pointer :: function
    type(MPI_Op) :: larger
    integer :: value(2)
    function => keep_larger
    call MPI_Op_create(function, commute=.true., op=larger)
    call MPI_Allreduce([rank, -rank], value, 2, MPI_INTEGER, larger, MPI_COMM_WORLD)
    call check(all(value == [ranks - 1, 0]), 'an operation')
    call MPI_Op_free(larger)
  end subroutine

  subroutine keep_larger(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype == MPI_INTEGER) inout = max(in, inout)
  end subroutine

  subroutine check(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what
    if (truth) return
    print *, 'rank ', rank, ' of ', ranks, ': not true: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
