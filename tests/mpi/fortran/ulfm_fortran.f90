! ULFM from Fortran: what both modules have, on a communicator whose last rank ends without MPI_Finalize.
module both
  implicit none
contains
  subroutine fail(what)
    use mpi, only : MPI_COMM_WORLD, MPI_Abort
    character(len=*), intent(in) :: what
    integer :: ierror
    write (0, *) 'ulfm_fortran: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine by_mpi(well)
    use mpi
    use mpi_ext
    logical, intent(out) :: well
    integer :: comm, living, group, request, rank, size, living_size, class, flag, acked, code, ierror
    integer(MPI_ADDRESS_KIND) :: attribute
    logical :: is_set, revoked
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, attribute, is_set, ierror)
    if (.not. is_set .or. attribute /= 1) call fail('MPIX_FT')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    flag = 7 - 2 ** mod(rank, 2)
    call MPIX_Comm_agree(comm, flag, ierror)
    if (ierror /= MPI_SUCCESS .or. flag /= 4) call fail('agree')
    if (rank == size - 1) call exit(3)
    do
      call MPI_Barrier(comm, code)
      if (code /= MPI_SUCCESS) exit
    end do
    call MPI_Error_class(code, class, ierror)
    if (class /= MPIX_ERR_PROC_FAILED .and. class /= MPIX_ERR_REVOKED) call fail('class')
    call MPIX_Comm_revoke(comm, ierror)
    call MPIX_Comm_is_revoked(comm, revoked, ierror)
    if (.not. revoked) call fail('is_revoked')
    call MPIX_Comm_failure_ack(comm, ierror)
    call MPIX_Comm_failure_get_acked(comm, group, ierror)
    call MPI_Group_size(group, acked, ierror)
    if (acked > 1) call fail('failure_get_acked')
    call MPI_Group_free(group, ierror)
    call MPIX_Comm_ishrink(comm, living, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_size(living, living_size, ierror)
    if (living_size /= size - 1) call fail('ishrink')
    call MPI_Comm_free(comm, ierror)
    call MPI_Barrier(living, ierror)
    call MPI_Comm_free(living, ierror)
    well = ierror == MPI_SUCCESS
  end subroutine

  subroutine by_f08(well)
    use mpi_f08
    use mpi_f08_ext
    logical, intent(out) :: well
    type(MPI_Comm) :: living, smaller
    type(MPI_Group) :: group
    type(MPI_Request) :: request
    integer, asynchronous :: flag
    integer :: failed, acked, size
    logical :: revoked
    call MPIX_Comm_get_failed(MPI_COMM_WORLD, group)
    call MPI_Group_size(group, failed)
    if (failed /= 1) call fail('get_failed')
    call MPI_Group_free(group)
    call MPIX_Comm_ack_failed(MPI_COMM_WORLD, failed, acked)
    if (acked /= 1) call fail('ack_failed')
    call MPIX_Comm_shrink(MPI_COMM_WORLD, living)
    flag = 6
    call MPIX_Comm_iagree(living, flag, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (flag /= 6) call fail('iagree')
    call MPIX_Comm_is_revoked(living, revoked)
    call MPI_Barrier(living)
    call MPI_Comm_size(living, size)
    call MPIX_Comm_revoke(living)
    call MPIX_Comm_shrink(living, smaller)
    call MPI_Comm_size(smaller, failed)
    well = .not. revoked .and. failed == size
  end subroutine
end module

program ulfm_fortran
  use both
  use mpi, only : MPI_Init, MPI_Finalize
  implicit none
  integer :: ierror
  logical :: well
  call MPI_Init(ierror)
  call by_mpi(well)
  if (.not. well) call fail('mpi')
  call by_f08(well)
  if (.not. well) call fail('mpi_f08')
  print '(a)', 'ok ulfm_fortran'
  call MPI_Finalize(ierror)
end program
