! Each rank appends lines to a file that it opens and closes again each time, and reads it in the end. Run as it is, and with ranks
! killed: each line is there once.
program append
  use mpi
  implicit none
  integer, parameter :: lines = 6
  integer :: code, rank, i, value, status
  character(len=256) :: path, folder

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call get_environment_variable('TMPDIR', folder, status=status)
  if (status /= 0) folder = '/tmp'
  write (path, '(2a, i0)') trim(folder), '/llamada-append-', getpid()
  call MPI_Bcast(path, 256, MPI_CHARACTER, 0, MPI_COMM_WORLD, code)
  write (path, '(2a, i0)') trim(path), '-', rank

  do i = 1, lines
    open (17, file=path, position='append')
    write (17, *) i
    close (17)
    call MPI_Barrier(MPI_COMM_WORLD, code)
  end do

  open (17, file=path, status='old')
  do i = 1, lines
    read (17, *) value
    if (value /= i) call MPI_Abort(MPI_COMM_WORLD, 98, code)
  end do
  read (17, *, iostat=status) value
  if (status >= 0) call MPI_Abort(MPI_COMM_WORLD, 99, code)
  close (17, status='delete')
  if (rank == 0) print '(a)', 'ok append'
  call MPI_Finalize(code)
end program append
