! The module llamada_checkpoints (docs/checkpoints.md), for programs with mpif.h, mpi and mpi_f08 alike.
module llamada_checkpoints
  use mpi_f08, only : MPI_Comm, MPI_ADDRESS_KIND
  implicit none
  private
  public :: LLAMADA_Checkpoint_register, LLAMADA_Checkpoint

  interface LLAMADA_Checkpoint_register
    subroutine llamada_checkpoint_register_f08(memory, bytes, ierror) bind(C, name="llamada_checkpoint_register_f08")
      import :: MPI_ADDRESS_KIND
      implicit none
      ! TARGET, since the library keeps the address.
      type(*), dimension(..), target :: memory
      integer(MPI_ADDRESS_KIND), intent(in) :: bytes
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface LLAMADA_Checkpoint
    subroutine llamada_checkpoint_mpi(comm, restarted, ierror)
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: restarted
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine llamada_checkpoint_f08(comm, restarted, ierror)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: restarted
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module
