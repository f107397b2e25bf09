#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/ledger.hpp"
#include "io/representation.hpp"
#include "io/shared_pointer.hpp"
#include "io/storage.hpp"
#include "io/view.hpp"
#include "object/communicator.hpp"
#include "object/datatype.hpp"
#include "object/error_handler.hpp"
#include "object/info.hpp"
#include "world/world.hpp"

/// An open file: what a handle MPI_File points to (MPI 3.1, chapter 13). Positions are in bytes of the view's
/// stream.
///
/// Threads: the rank's.
struct ADIOI_FileD {
  ADIOI_FileD(std::string file_name, llamada::mpi::io::Storage opened, int access_mode)
      : name(std::move(file_name)), amode(access_mode), storage(std::move(opened)) {}

  bool is_readable() const { return (amode & MPI_MODE_WRONLY) == 0; }
  bool is_writable() const { return (amode & MPI_MODE_RDONLY) == 0; }
  bool is_sequential() const { return (amode & MPI_MODE_SEQUENTIAL) != 0; }

  std::string name;  ///< as the program said
  int amode;
  llamada::mpi::io::Storage storage;
  llamada::mpi::Communicator* communicator = nullptr;  ///< the file's own
  llamada::mpi::Reference<llamada::mpi::ErrorHandler> error_handler;
  llamada::mpi::Info hints;
  MPI_Fint fortran_handle = 0;

  llamada::mpi::io::View view;
  llamada::mpi::Reference<llamada::mpi::Datatype> etype;
  llamada::mpi::Reference<llamada::mpi::Datatype> file_type;
  llamada::mpi::Reference<llamada::mpi::io::Representation> representation;
  std::uint32_t view_count = 0;  ///< how often the view was set: each has a shared pointer of its own

  std::uint64_t position = 0;       ///< the individual pointer
  std::uint64_t shared_origin = 0;  ///< where the shared pointer stood at first; of one member: stands
  std::optional<llamada::mpi::io::SharedPointer> shared_pointer;
  llamada::mpi::SharedSegment shared_memory;  ///< of the pointer, when there are several members
  /// This rank, or its predecessor, has used the pointer and not let go of it.
  bool uses_shared_pointer = false;
  bool atomic = false;

  /// A split collective that was begun and not ended; its outcome.
  const char* split = nullptr;
  const void* split_buffer = nullptr;
  int split_code = MPI_SUCCESS;
  MPI_Status split_status{};
};

namespace llamada::mpi::io {

using File = ADIOI_FileD;

/// The files of a rank, its representations of data, and the ledger of its operations.
class Files {
 public:
  Files();

  /// Null when there is none.
  File* find(MPI_File handle) const;
  File* find_fortran(MPI_Fint handle) const;
  File& add(std::unique_ptr<File> file);
  void remove(File& file);

  Reference<Representation> representation(std::string_view name) const;
  void add_representation(Reference<Representation> representation);

  /// Of MPI_FILE_NULL: what files are opened with (13.7).
  Reference<ErrorHandler> default_handler;

  /// Made at the first operation.
  Result<Ledger*> ledger();
  /// Whether the program has a file open.
  bool any_open() const;
  /// What the ledger has of these names, if there is one.
  void will_pass_checkpoint();
  void pass_checkpoint();
  void give_back_records();

 private:
  std::vector<std::unique_ptr<File>> files_;  ///< by Fortran's handle, from 1
  std::vector<Reference<Representation>> representations_;
  std::unique_ptr<Ledger> ledger_;
};

/// Made at the first use.
Files& files();

/// Gives a failure of the current call to the error handler of `file`, that of MPI_FILE_NULL when it is null;
/// what the C function is to return.
int report_file(File* file, int error_class, std::string text);
int report_file(File* file, const Error& error);
int call_file_handler(File* file, int code);
/// For the end of MPI_File_open, where nothing follows that the failure forbids: what the handler makes of
/// the code counts, also when that is MPI_SUCCESS.
int report_not_opened(const Error& error);
/// The class of errors that an Error of this chapter belongs to.
int error_class_of(const Error& error);

/// Does an operation and records its outcome, or gives the outcome that was recorded. `operation` gives a
/// Result<std::uint64_t> and fails with an errno; `name` is the file's. With a `file` that is open for the
/// program, it is opened first if a replacement has not done so yet.
Result<std::uint64_t> perform(File* file, const std::string& name, OperationKind kind, std::uint32_t digest,
                              const std::function<Result<std::uint64_t>()>& operation);
/// For the first operation of a replacement that is not in the ledger.
void reach(File& file, Ledger& ledger);

/// What becomes of a shared pointer.
struct PointerChange {
  enum class Kind { add, set };
  Kind kind = Kind::add;
  std::uint64_t operand = 0;
  std::uint64_t operator()(std::uint64_t before) const {
    return kind == Kind::add ? before + operand : operand;
  }
};
/// Moves the shared pointer of `file`; gives what it was. `digest` is of the change.
Result<std::uint64_t> change_shared_pointer(File& file, std::uint32_t digest, const PointerChange& change);
/// Where it stands. Recorded.
Result<std::uint64_t> shared_position(File& file);
/// All members have come to a new view or to MPI_File_close: lets go of it. It will stand at the beginning.
void drop_shared_pointer(File& file);

/// Of a replacement of this rank: the first operation of its predecessors on a file that it has not repeated;
/// empty if there is none.
std::string left_over(World& world);

/// Digests for the ledger.
std::uint32_t digest(std::initializer_list<std::uint64_t> numbers);
std::uint32_t digest(std::string_view text);

}  // namespace llamada::mpi::io
