! A relaxation that takes a checkpoint every 10 steps, with a wildcard receive in each step. Its state is registered: the variables of
! a subroutine, a scalar, an allocated array and a derived type. fortran_checkpoints.sh compares its output with that of a run without
! a death.
program checkpointed90
  use mpi
  use llamada_checkpoints
  implicit none
  type tally_type
    integer :: messages = 0
    real(8) :: sum = 0
  end type
  integer :: rank, ranks, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call relax(60)
  call MPI_Finalize(code)
contains
  subroutine relax(steps)
    integer, intent(in) :: steps
    integer, parameter :: n = 64
    integer, target :: step
    type(tally_type), target :: tally
    real(8), allocatable, target :: x(:)
    real(8), allocatable :: next(:)
    real(8) :: change, largest
    logical :: restarted
    allocate (x(0:n + 1), next(n))
    x = 0
    if (rank == 0) x(0) = 1
    step = 0
    call register(step, storage_size(step) / 8)
    call LLAMADA_Checkpoint_register(tally, int(storage_size(tally) / 8, MPI_ADDRESS_KIND), code)
    call expect(code == MPI_SUCCESS, 'tally')
    call LLAMADA_Checkpoint_register(x, 8_MPI_ADDRESS_KIND * size(x), code)
    call expect(code == MPI_SUCCESS, 'x')
    call LLAMADA_Checkpoint_register(x(0:n:2), 8_MPI_ADDRESS_KIND * n / 2, code)
    call expect(code == MPI_ERR_BUFFER, 'a section with gaps')
    call LLAMADA_Checkpoint_register(x, -1_MPI_ADDRESS_KIND, code)
    call expect(code == MPI_ERR_ARG, 'a negative size')
    do while (step < steps)
      if (mod(step, 10) == 0) then
        call LLAMADA_Checkpoint(MPI_COMM_WORLD, restarted, code)
        call expect(code == MPI_SUCCESS, 'the checkpoint')
        if (restarted) write (0, '(a,i0,a,i0)') 'rank ', rank, ' goes on at step ', step
      end if
      step = step + 1
      call exchange(x)
      next = x(1:n) + 0.4d0 * (x(0:n - 1) - 2 * x(1:n) + x(2:n + 1))
      change = maxval(abs(next - x(1:n)))
      x(1:n) = next
      call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, code)
      call collect(x(n), tally)
      if (rank == 0 .and. mod(step, 20) == 0) print '(a,i4,es24.16)', 'step', step, largest
    end do
    call MPI_Reduce(sum(x(1:n)), change, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, code)
    if (rank == 0) print '(a,es24.16,f20.0,i6)', 'sum', change, tally%sum, tally%messages
  end subroutine

  subroutine register(memory, bytes)
    type(*), dimension(..), target :: memory
    integer, intent(in) :: bytes
    call LLAMADA_Checkpoint_register(memory, int(bytes, MPI_ADDRESS_KIND))
  end subroutine

  subroutine collect(value, tally)
    real(8), intent(in) :: value
    type(tally_type), intent(inout) :: tally
    integer :: i, status(MPI_STATUS_SIZE)
    real(8) :: got
    if (rank /= 0) call MPI_Send(value, 1, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, code)
    if (rank /= 0) return
    do i = 1, ranks - 1
      call MPI_Recv(got, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, code)
      tally%sum = tally%sum + nint(got * 1d9) + status(MPI_SOURCE)
      tally%messages = tally%messages + 1
    end do
  end subroutine

  subroutine exchange(x)
    real(8), intent(inout) :: x(0:)
    integer :: left, right, n
    n = size(x) - 2
    left = merge(MPI_PROC_NULL, rank - 1, rank == 0)
    right = merge(MPI_PROC_NULL, rank + 1, rank == ranks - 1)
    call MPI_Sendrecv(x(1), 1, MPI_DOUBLE_PRECISION, left, 1, x(n + 1), 1, MPI_DOUBLE_PRECISION, right, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Sendrecv(x(n), 1, MPI_DOUBLE_PRECISION, right, 2, x(0), 1, MPI_DOUBLE_PRECISION, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  end subroutine

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (is_so) return
    print '(3a)', 'WRONG: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine
end program
