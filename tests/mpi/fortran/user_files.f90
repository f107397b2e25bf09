! What users of Fortran do to files: inquire, open with each status, append, rewind, backspace, endfile, direct and stream access,
! scratch files, close and delete. Each rank has files of its own below TMPDIR; all are told what came of each step.
program user_files
  use mpi
  implicit none
  integer, parameter :: steps = 5
  integer :: code, rank, i, value, status, size_bytes, total
  logical :: is_there
  character(len=200) :: folder, name, line

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call get_environment_variable('TMPDIR', folder, status=status)
  if (status /= 0) folder = '/tmp'
  write (name, '(2a, i0)') trim(folder), '/llamada-user-files-', getpid()
  call MPI_Bcast(name, 200, MPI_CHARACTER, 0, MPI_COMM_WORLD, code)
  write (name, '(2a, i0)') trim(name), '-', rank
  total = 0

  ! A file that must be new, and must not be there before.
  inquire (file=trim(name)//'.log', exist=is_there)
  call tell(merge(1, 0, is_there))
  open (10, file=trim(name)//'.log', status='new', action='write')
  write (10, '(a)') 'the first line'
  close (10)
  open (10, file=trim(name)//'.log', status='new', iostat=status)
  call tell(merge(1, 0, status == 0))

  do i = 1, steps
    ! A log that grows, and a restart file that is replaced.
    open (10, file=trim(name)//'.log', position='append', status='old')
    write (10, '(a, i0)') 'step ', i
    close (10)
    inquire (file=trim(name)//'.restart', exist=is_there)
    value = 0
    if (is_there) then
      open (11, file=trim(name)//'.restart', status='old', action='read')
      read (11, *) value
      close (11)
    end if
    call tell(value)
    open (11, file=trim(name)//'.restart', status='replace')
    write (11, *) i
    close (11)
    inquire (file=trim(name)//'.log', size=size_bytes)
    call tell(size_bytes)
  end do

  ! Backspace, rewind, and a line that is written over.
  open (10, file=trim(name)//'.log', status='old', action='readwrite', position='append')
  backspace (10)
  read (10, '(a)') line
  call tell(len_trim(line))
  backspace (10)
  write (10, '(a)') 'another last line'
  endfile (10)
  rewind (10)
  value = 0
  do
    read (10, '(a)', iostat=status) line
    if (status /= 0) exit
    value = value*31 + len_trim(line) + ichar(line(1:1))
  end do
  call tell(value)
  close (10, status='delete')
  inquire (file=trim(name)//'.log', exist=is_there)
  call tell(merge(1, 0, is_there))

  ! Records in any order.
  open (12, file=trim(name)//'.direct', access='direct', recl=8, form='unformatted', status='replace')
  do i = steps, 1, -1
    write (12, rec=i) real(i + rank, kind=8)
    call tell(i)
  end do
  read (12, rec=3) line(1:8)
  call tell(int(transfer(line(1:8), 1d0)))
  close (12, status='delete')

  ! Bytes at any place.
  open (13, file=trim(name)//'.stream', access='stream', form='unformatted', status='replace')
  write (13) 1, 2, 3, 4
  call tell(0)
  write (13, pos=5) 20 + rank
  read (13, pos=5) value
  call tell(value)
  inquire (13, pos=size_bytes)
  call tell(size_bytes)
  close (13)

  ! A scratch file has no name.
  open (14, status='scratch', action='readwrite')
  write (14, *) 42 + rank
  call tell(1)
  rewind (14)
  read (14, *) value
  call tell(value)
  close (14)

  open (11, file=trim(name)//'.restart', status='old')
  close (11, status='delete')
  open (13, file=trim(name)//'.stream', status='old')
  close (13, status='delete')
  call tell(2)
  if (rank == 0) print '(a, i0)', 'ok user_files ', total
  call MPI_Finalize(code)

contains

  subroutine tell(mine)
    integer, intent(in) :: mine
    integer :: all
    call MPI_Allreduce(mine*(rank + 1), all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    total = mod(total*7 + all, 1000003)
  end subroutine tell

end program user_files
