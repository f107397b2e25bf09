! One-sided communication in Fortran 2008: windows of type MPI_Win, memory by C_PTR, array sections as origins.
program windows2008
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, ranks, next, previous, value, got, unit, length
  integer(MPI_ADDRESS_KIND) :: bytes, found, size
  integer, pointer :: memory(:)
  integer, asynchronous :: strided(10)
  type(c_ptr) :: base
  type(MPI_Win) :: win
  type(MPI_Group) :: group
  type(MPI_Request) :: request
  character(MPI_MAX_OBJECT_NAME) :: name
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  bytes = 40
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [10])
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, found, flag)
  call check(flag .and. found == 40, 'size')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, found, flag)
  call check(flag .and. found == 4, 'unit')
  call MPI_Win_get_attr(win, MPI_WIN_MODEL, found, flag)
  call check(flag .and. found == MPI_WIN_UNIFIED, 'model')
  call MPI_Win_set_name(win, 'a window')
  call MPI_Win_get_name(win, name, length)
  call check(name == 'a window' .and. length == 8, 'name')
  call MPI_Win_get_group(win, group)
  call MPI_Group_size(group, got)
  call check(got == ranks, 'group')
  memory = 0
  call MPI_Win_fence(0, win)
  strided = [(rank * 100 + value, value = 1, 10)]
  call MPI_Put(strided(1:9:2), 5, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 5, MPI_INTEGER, win)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
  call check(all(memory(3:7) == [(previous * 100 + value, value = 1, 9, 2)]), 'put a section')
  call MPI_Win_lock_all(0, win)
  value = 1
  call MPI_Rput(value, 1, MPI_INTEGER, next, 9_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Fetch_and_op(value, got, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win)
  call MPI_Win_flush(0, win)
  call check(got >= 0 .and. got < ranks, 'a number')
  call MPI_Win_unlock_all(win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(memory(10) == 1, 'with a request')
  if (rank == 0) call check(memory(1) == ranks, 'counted')
  call MPI_Win_post(group, 0, win)
  call MPI_Win_start(group, 0, win)
  call MPI_Win_complete(win)
  call MPI_Win_wait(win)
  call MPI_Group_free(group)
  call MPI_Win_free(win)
  call check(win == MPI_WIN_NULL, 'freed')
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [10])
  memory = rank
  call MPI_Win_fence(0, win)
  call MPI_Win_shared_query(win, next, size, unit, base)
  call c_f_pointer(base, memory, [10])
  call check(size == 40 .and. unit == 4 .and. all(memory == next), 'shared')
  call MPI_Win_fence(0, win)
  call MPI_Win_free(win)
  if (rank == 0) print '(a)', 'ok windows2008'
  call MPI_Finalize()
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print '(2a, i0)', what, ' is wrong in rank ', rank
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check
end program windows2008
