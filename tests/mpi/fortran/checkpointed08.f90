! Checkpoints with mpi_f08: ierror is left out. The registered variables are local, and have no attribute TARGET. A compiler that
! keeps them in registers across the call makes the sum wrong.
program checkpointed08
  use mpi_f08
  use llamada_checkpoints
  implicit none
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call add(40)
  call MPI_Finalize()
contains
  subroutine add(steps)
    integer, intent(in) :: steps
    integer :: step
    real(8) :: total
    real(8) :: mine, sum
    logical :: restarted
    step = 0
    total = 0
    call LLAMADA_Checkpoint_register(step, 4_MPI_ADDRESS_KIND)
    call LLAMADA_Checkpoint_register(total, 8_MPI_ADDRESS_KIND)
    call LLAMADA_Checkpoint(MPI_COMM_WORLD, restarted)
    if (restarted) write (0, '(a,i0,a,i0)') 'rank ', rank, ' goes on at step ', step
    do while (step < steps)
      step = step + 1
      mine = rank + step
      call MPI_Allreduce(mine, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
      total = total + sum
      if (mod(step, 10) == 0) call LLAMADA_Checkpoint(MPI_COMM_WORLD, restarted)
    end do
    if (rank == 0) print '(a,f12.0)', 'total', total
  end subroutine
end program
