! Fortran 90: the module mpi, and mpif.h in free form within a module.
module constants_from_header
  implicit none
  include 'mpif.h'
end module

module parts
  use mpi
  implicit none
  integer :: rank, ranks
contains
  subroutine check(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what
    integer :: ierr
    if (truth) return
    print *, 'rank ', rank, ' of ', ranks, ': not true: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine choice_buffers
    integer :: ierr, request(2), n
    real(8) :: matrix(3, 4), copy(3, 4), scalar
    character(5) :: text
    logical :: truth
    matrix = reshape([(real(n, 8), n = 1, 12)], [3, 4])
    copy = 0
    call MPI_Irecv(copy, 12, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_SELF, request(1), ierr)
    call MPI_Isend(matrix, 12, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_SELF, request(2), ierr)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
    call check(all(copy == matrix), 'a matrix')
    scalar = rank
    call MPI_Bcast(scalar, 1, MPI_REAL8, ranks - 1, MPI_COMM_WORLD, ierr)
    call check(scalar == ranks - 1, 'a scalar')
    text = merge('hello', '     ', rank == 0)
    call MPI_Bcast(text, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    call check(text == 'hello', 'characters')
    truth = rank == 0
    call MPI_Bcast(truth, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
    call check(truth, 'a logical')
    call MPI_Allreduce(MPI_IN_PLACE, matrix, 12, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(all(matrix == ranks * copy), 'in place')
  end subroutine

  subroutine sections
    integer :: ierr, i, values(10), got(5)
    values = [(i * 10, i = 1, 10)]
    call MPI_Sendrecv(values(1:9:2), 5, MPI_INTEGER, 0, 1, got, 5, MPI_INTEGER, 0, 1, MPI_COMM_SELF, &
                      MPI_STATUS_IGNORE, ierr)
    call check(all(got == [10, 30, 50, 70, 90]), 'every second element')
    call in_place_lists
  end subroutine

  ! What is ignored beside MPI_IN_PLACE may be a scalar.
  subroutine in_place_lists
    integer :: ierr, values(16), counts(16), places(16), i, size
    complex(8) :: z(2, 2)
    values = rank
    counts = 1
    places = [(i, i = 0, 15)]
    call MPI_Alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, values, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(values(1:ranks) == places(1:ranks)), 'in place')
    call MPI_Sizeof(z, size, ierr)
    call check(size == 16 .and. ierr == MPI_SUCCESS, 'size of a complex number')
    call MPI_Sizeof(values(1), size, ierr)
    call check(size == 4, 'size of an integer')
  end subroutine

  subroutine attributes
    integer :: ierr, key, comm
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 12345678901_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == 12345678901_MPI_ADDRESS_KIND, 'an address-sized attribute')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
  end subroutine

  ! C gets the address of what Fortran has set, Fortran the integer that C's pointer is (17.2.7).
  subroutine attributes_of_two_languages
    use iso_c_binding
    interface
      integer(c_int) function c_get(comm, key, place, found) bind(C, name='PMPI_Comm_get_attr')
        import
        integer(c_int), value :: comm, key
        type(c_ptr) :: place
        integer(c_int) :: found
      end function
      integer(c_int) function c_set(comm, key, place) bind(C, name='PMPI_Comm_set_attr')
        import
        integer(c_int), value :: comm, key
        type(c_ptr), value :: place
      end function
    end interface
    integer(MPI_ADDRESS_KIND), parameter :: big = 12345678901_MPI_ADDRESS_KIND
    integer :: ierr, key, comm, small
    integer(c_int) :: found
    integer(MPI_ADDRESS_KIND) :: value
    integer(MPI_ADDRESS_KIND), pointer :: wide_there
    integer, pointer :: small_there
    integer, target :: of_c
    type(c_ptr) :: place
    logical :: flag
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, big, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    ierr = c_get(comm, key, place, found)
    call check(ierr == MPI_SUCCESS .and. found == 1, 'C gets what Fortran has set')
    call c_f_pointer(place, wide_there)
    call check(wide_there == big, 'the address of an address-sized value')
    call MPI_Attr_get(comm, key, small, flag, ierr)
    call check(flag .and. small == -539222987, 'the low part in an INTEGER')
    call MPI_Attr_put(comm, key, -5, ierr)
    ierr = c_get(comm, key, place, found)
    call c_f_pointer(place, small_there)
    call check(found == 1 .and. small_there == -5, 'the address of an INTEGER')
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == -5, 'an INTEGER with its sign')
    ierr = c_set(comm, key, c_loc(of_c))
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == transfer(c_loc(of_c), value), 'a pointer as an integer')
    ierr = c_get(comm, key, place, found)
    call check(c_associated(place, c_loc(of_c)), 'a pointer of C in C')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
  end subroutine
end module

subroutine from_header
  use constants_from_header, only: header_world => MPI_COMM_WORLD, header_sum => MPI_SUM
  use parts, only: check
  use mpi
  implicit none
  call check(header_world == MPI_COMM_WORLD .and. header_sum == MPI_SUM, 'the same constants')
end subroutine

program fortran90
  use parts
  implicit none
  integer :: ierr, provided
  real(8) :: started
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call check(provided == MPI_THREAD_FUNNELED, 'level of threads')
  started = MPI_Wtime()
  call choice_buffers
  call sections
  call attributes
  call attributes_of_two_languages
  call from_header
  call check(MPI_Wtime() >= started, 'time')
  if (rank == 0) print '(a)', 'ok fortran90'
  call MPI_Finalize(ierr)
end program
