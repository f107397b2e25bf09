! One-sided communication in Fortran 90: the module mpi, memory of the program, attributes with callbacks.
program windows90
  use mpi
  implicit none
  integer :: rank, ranks, next, previous, value, got, code, keyval, win, handler
  integer :: memory(10)
  integer(MPI_ADDRESS_KIND) :: bytes, here, found, there(16), state
  logical :: flag
  external :: destroy
  integer :: deletions
  common /counted/ deletions
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  memory = 0
  bytes = 40
  deletions = 0
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  call MPI_Get_address(memory, here, code)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, found, flag, code)
  call check(flag .and. found == here, 'base')
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, found, flag, code)
  call check(flag .and. found == MPI_WIN_FLAVOR_CREATE, 'flavor')
  state = 5
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, destroy, keyval, state, code)
  found = 7
  call MPI_Win_set_attr(win, keyval, found, code)
  found = 0
  call MPI_Win_get_attr(win, keyval, found, flag, code)
  call check(flag .and. found == 7, 'attribute')
  call MPI_Win_delete_attr(win, keyval, code)
  call check(deletions == 12, 'callback')
  call MPI_Win_free_keyval(keyval, code)
  call MPI_Win_fence(0, win, code)
  value = rank + 1
  call MPI_Put(value, 1, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, code)
  call MPI_Accumulate(value, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, code)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, code)
  call check(memory(4) == previous + 1, 'put')
  if (rank == 0) call check(memory(1) == ranks * (ranks + 1) / 2, 'accumulate')
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win, code)
  call MPI_Get(got, 1, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, code)
  call MPI_Win_unlock(next, win, code)
  call check(got == rank + 1, 'get')
  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, code)
  call MPI_Win_get_errhandler(win, handler, code)
  call check(handler == MPI_ERRORS_RETURN, 'error handler')
  call MPI_Win_complete(win, code)
  call check(code == MPI_ERR_RMA_SYNC, 'error')
  call MPI_Win_free(win, code)
  call check(win == MPI_WIN_NULL, 'freed')
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  call MPI_Win_attach(win, memory, bytes, code)
  call MPI_Allgather(here, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD, code)
  call MPI_Win_fence(0, win, code)
  call MPI_Put(rank, 1, MPI_INTEGER, next, there(next + 1) + 36, 1, MPI_INTEGER, win, code)
  call MPI_Win_fence(0, win, code)
  call check(memory(10) == previous, 'dynamic')
  call MPI_Win_detach(win, memory, code)
  call MPI_Win_free(win, code)
  if (rank == 0) print '(a)', 'ok windows90'
  call MPI_Finalize(code)
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print '(2a, i0)', what, ' is wrong in rank ', rank
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine check
end program windows90

subroutine destroy(win, keyval, attribute, extra_state, code)
  use mpi
  implicit none
  integer :: win, keyval, code
  integer(MPI_ADDRESS_KIND) :: attribute, extra_state
  integer :: deletions
  common /counted/ deletions
  deletions = deletions + int(attribute + extra_state)
  if (win == MPI_WIN_NULL .or. keyval == MPI_KEYVAL_INVALID) deletions = -1
  code = MPI_SUCCESS
end subroutine destroy
