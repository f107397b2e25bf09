! Files in Fortran (MPI 3.1, chapter 13): handles, offsets, views, split and shared accesses, error handlers, representations.
module file_callbacks
  use mpi
  implicit none
  integer :: calls = 0, last_file = -1
contains
  subroutine on_error(file, code)
    integer :: file, code
    calls = calls + 1
    last_file = file
    if (code == MPI_SUCCESS) calls = -1000
  end subroutine

  subroutine twice(datatype, extent, extra_state, ierror)
    integer :: datatype, ierror, size
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call MPI_Type_size(datatype, size, ierror)
    extent = size * extra_state
  end subroutine

  subroutine negate_out(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), filebuf(*), datatype, count, ierror, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    do i = 1, count
      filebuf(i) = -userbuf(position + i)
    end do
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 1)
  end subroutine

  subroutine negate_in(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), filebuf(*), datatype, count, ierror, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    do i = 1, count
      userbuf(position + i) = -filebuf(i)
    end do
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, datatype == MPI_INTEGER .and. extra_state == 1)
  end subroutine
end module

program files
  use mpi
  use file_callbacks
  implicit none
  integer :: rank, ranks, code, file, i, handler, amode, count, request, status(MPI_STATUS_SIZE)
  integer :: values(10), got(10), class
  integer(kind=MPI_OFFSET_KIND) :: size, position, start
  integer(kind=MPI_ADDRESS_KIND) :: one
  character(len=256) :: path, folder
  character(len=MPI_MAX_DATAREP_STRING) :: representation
  integer :: etype, file_type, columns

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_environment_variable('TMPDIR', folder, status=i)
  if (i /= 0) folder = '/tmp'
  write (path, '(2a, i0)') trim(folder), '/llamada-fortran-', getpid()
  call MPI_Bcast(path, 256, MPI_CHARACTER, 0, MPI_COMM_WORLD, code)

  call MPI_File_create_errhandler(on_error, handler, code)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler, code)
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
  call MPI_Error_class(code, class, i)
  call check(class == MPI_ERR_NO_SUCH_FILE .and. calls == 1 .and. last_file == MPI_FILE_NULL, 'open')
  call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, code)

  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file, code)
  call check(code == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 'create')
  call MPI_File_get_amode(file, amode, code)
  call check(amode == MPI_MODE_RDWR + MPI_MODE_CREATE, 'amode')

  values = [(100 * rank + i, i = 1, 10)]
  call MPI_Type_vector(5, 2, 2 * ranks, MPI_INTEGER, columns, code)
  call MPI_Type_commit(columns, code)
  start = 8 * rank
  call MPI_File_set_view(file, start, MPI_INTEGER, columns, 'native', MPI_INFO_NULL, code)
  call check(code == MPI_SUCCESS, 'set_view')
  call MPI_File_write_all(file, values, 10, MPI_INTEGER, status, code)
  call MPI_Get_count(status, MPI_INTEGER, count, code)
  call check(count == 10, 'count')
  call MPI_File_get_position(file, position, code)
  call check(position == 10, 'position')
  call MPI_File_get_view(file, start, etype, file_type, representation, code)
  call check(start == 8 * rank .and. etype == MPI_INTEGER .and. representation == 'native', 'get_view')
  call MPI_Type_free(file_type, code)
  start = 0
  call MPI_File_read_at_all_begin(file, start, got, 10, MPI_INTEGER, code)
  call MPI_File_read_at_all_end(file, got, status, code)
  call check(all(got == values), 'read')
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_File_get_size(file, size, code)
  call check(size == 40 * ranks, 'size')

  start = 40 * ranks
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
  call MPI_File_iwrite_shared(file, values, 10, MPI_INTEGER, request, code)
  call MPI_Wait(request, status, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_File_get_position_shared(file, position, code)
  call check(position == 10 * ranks, 'shared position')
  call MPI_Type_free(columns, code)

  one = 1
  call MPI_Register_datarep('negative', negate_in, negate_out, twice, one, code)
  call check(code == MPI_SUCCESS, 'register')
  start = 0
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL, code)
  start = 10 * rank
  call MPI_File_write_at(file, start, values, 10, MPI_INTEGER, status, code)
  call check(code == MPI_SUCCESS, 'converted write')
  call MPI_File_read_at(file, start, got, 10, MPI_INTEGER, MPI_STATUS_IGNORE, code)
  call check(all(got == values), 'converted read')
  start = 0
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
  start = 10 * rank
  call MPI_File_read_at(file, start, got, 10, MPI_INTEGER, MPI_STATUS_IGNORE, code)
  call check(all(got == -values), 'as converted')

  call MPI_File_set_errhandler(file, handler, code)
  call MPI_File_seek(file, -5_MPI_OFFSET_KIND, MPI_SEEK_SET, code)
  call check(code /= MPI_SUCCESS .and. calls == 2 .and. last_file == file, 'handler')
  call MPI_Errhandler_free(handler, code)
  call MPI_File_close(file, code)
  call check(code == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'close')
  if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, code)
  call check(code == MPI_SUCCESS, 'delete')
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (rank == 0) print '(a)', 'ok files'
  call MPI_Finalize(code)

contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: ignored
    if (condition) return
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
