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
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'ok fortran2008'
  call MPI_Finalize()
contains
  subroutine check(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what
    if (truth) return
    print *, 'rank ', rank, ' of ', ranks, ': not true: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
