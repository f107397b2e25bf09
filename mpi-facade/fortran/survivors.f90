! ULFM for Fortran (docs/ulfm.md): the modules mpi_ext, beside mpi, and mpi_f08_ext, beside mpi_f08.
module mpi_ext
  implicit none
  integer, parameter :: MPIX_ERR_PROC_FAILED = 101, MPIX_ERR_PROC_FAILED_PENDING = 102, MPIX_ERR_REVOKED = 103
  integer, parameter :: MPIX_FT = int(z'64400012')

  interface
    subroutine MPIX_Comm_revoke(comm, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_is_revoked(comm, flag, ierror)
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_shrink(comm, newcomm, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_ishrink(comm, newcomm, request, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_agree(comm, flag, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_iagree(comm, flag, request, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, asynchronous :: flag
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_failure_ack(comm, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_failure_get_acked(comm, failedgrp, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_get_failed(comm, failedgrp, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_ack_failed(comm, num_to_ack, num_acked, ierror)
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, intent(out) :: ierror
    end subroutine
  end interface
end module

module mpi_f08_ext
  use mpi_f08, only : MPI_Comm, MPI_Group, MPI_Request
  implicit none
  integer, parameter :: MPIX_ERR_PROC_FAILED = 101, MPIX_ERR_PROC_FAILED_PENDING = 102, MPIX_ERR_REVOKED = 103
  integer, parameter :: MPIX_FT = int(z'64400012')

  interface MPIX_Comm_revoke
    subroutine MPIX_Comm_revoke_f08(comm, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_is_revoked
    subroutine MPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_shrink
    subroutine MPIX_Comm_shrink_f08(comm, newcomm, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_ishrink
    subroutine MPIX_Comm_ishrink_f08(comm, newcomm, request, ierror)
      import :: MPI_Comm, MPI_Request
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), asynchronous :: newcomm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_agree
    subroutine MPIX_Comm_agree_f08(comm, flag, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_iagree
    subroutine MPIX_Comm_iagree_f08(comm, flag, request, ierror)
      import :: MPI_Comm, MPI_Request
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_failure_ack
    subroutine MPIX_Comm_failure_ack_f08(comm, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_failure_get_acked
    subroutine MPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
      import :: MPI_Comm, MPI_Group
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_get_failed
    subroutine MPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
      import :: MPI_Comm, MPI_Group
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_ack_failed
    subroutine MPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module
