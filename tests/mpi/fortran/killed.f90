! A relaxation whose answer is printed to the last digit, with a wildcard receive in each step: compared between a run
! without a death and one with. An argument says how many steps it makes.
program killed
  use mpi
  implicit none
  integer, parameter :: n = 64
  integer :: steps = 60
  character(len=20) :: argument
  integer :: rank, ranks, ierr, step, status(MPI_STATUS_SIZE), messages
  real(8) :: x(0:n + 1), next(n), change, largest, tally, got
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) steps
  x = 0
  if (rank == 0) x(0) = 1
  tally = 0
  do step = 1, steps
    call exchange
    next = x(1:n) + 0.4d0 * (x(0:n - 1) - 2 * x(1:n) + x(2:n + 1))
    change = maxval(abs(next - x(1:n)))
    x(1:n) = next
    call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    if (rank /= 0) call MPI_Send(x(n), 1, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      do messages = 1, ranks - 1
        call MPI_Recv(got, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierr)
        tally = tally + nint(got * 1d9) + status(MPI_SOURCE)
      end do
      if (mod(step, 20) == 0) print '(a,i4,es24.16)', 'step', step, largest
    end if
  end do
  call MPI_Reduce(sum(x(1:n)), change, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,es24.16,f20.0)', 'sum', change, tally
  call MPI_Finalize(ierr)
contains
  subroutine exchange
    integer :: left, right
    left = merge(MPI_PROC_NULL, rank - 1, rank == 0)
    right = merge(MPI_PROC_NULL, rank + 1, rank == ranks - 1)
    call MPI_Sendrecv(x(1), 1, MPI_DOUBLE_PRECISION, left, 1, x(n + 1), 1, MPI_DOUBLE_PRECISION, right, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(x(n), 1, MPI_DOUBLE_PRECISION, right, 2, x(0), 1, MPI_DOUBLE_PRECISION, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
end program
