#include "coll/agreement.hpp"
#include "io/api.hpp"
#include "io/collective.hpp"
#include "p2p/api_common.hpp"

// MPI 3.1, 13.4: data access.
using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::io;

namespace {

enum class Direction { read, write };
enum class Pointer { explicit_offset, individual, shared, ordered };

/// A call as the program made it.
struct Call {
  Direction direction;
  Pointer pointer;
  bool collective;
  MPI_File handle;
  MPI_Offset offset = 0;
  const void* buffer = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

struct Fault {
  int error_class = MPI_SUCCESS;
  std::string text;
};

Fault fault_of_mode(const File& file, const Call& call) {
  if (call.direction == Direction::read && !file.is_readable())
    return {MPI_ERR_ACCESS, fmt::format("{} was opened with MPI_MODE_WRONLY", file.name)};
  if (call.direction == Direction::write && !file.is_writable())
    return {MPI_ERR_READ_ONLY, fmt::format("{} was opened with MPI_MODE_RDONLY", file.name)};
  const bool own_pointer = call.pointer == Pointer::explicit_offset || call.pointer == Pointer::individual;
  if (file.is_sequential() && own_pointer)
    return {
        MPI_ERR_UNSUPPORTED_OPERATION,
        fmt::format("{} was opened with MPI_MODE_SEQUENTIAL and has only a shared file pointer", file.name)};
  return {};
}

Fault fault_of_data(const Call& call, const Datatype* type) {
  if (call.count < 0)
    return {MPI_ERR_COUNT, fmt::format("the count is {}, it must not be negative", call.count)};
  if (!type) return {MPI_ERR_TYPE, "the datatype is none, or was freed"};
  if (!type->is_committed())
    return {MPI_ERR_TYPE, "the datatype has not been committed: call MPI_Type_commit first"};
  if (call.pointer == Pointer::explicit_offset && call.offset < 0)
    return {MPI_ERR_ARG, fmt::format("the offset is {}, it must not be negative", call.offset)};
  const bool has_data = call.count > 0 && type->size() > 0;
  if (has_data && call.buffer == nullptr && type->true_lower_bound() == 0)
    return {MPI_ERR_BUFFER, "the buffer is null, but there is data"};
  return {};
}

/// Finds out what is to be read or written; the position of shared pointers is not known yet.
Fault prepare(const Call& call, Access& access) {
  File& file = access.file;
  const Datatype* type = runtime().datatypes.find(call.datatype);
  if (Fault fault = fault_of_data(call, type); fault.error_class) return fault;
  if (Fault fault = fault_of_mode(file, call); fault.error_class) return fault;
  auto bytes = file.representation->file_bytes(*type, static_cast<std::size_t>(call.count));
  if (!bytes) return {error_class_of(bytes.error()), bytes.error().text()};
  const std::uint64_t etype_bytes = file.view.etype_bytes();
  if (*bytes % etype_bytes != 0)
    return {MPI_ERR_IO, fmt::format("{} bytes are no whole number of etypes of {}", *bytes, etype_bytes)};
  access.buffer = {const_cast<void*>(call.buffer), static_cast<std::size_t>(call.count), type};
  access.bytes = *bytes;
  if (call.pointer == Pointer::explicit_offset)
    access.position = static_cast<std::uint64_t>(call.offset) * etype_bytes;
  return {};
}

/// The members' accesses one after the other, in the order of the ranks (13.4.4).
Status order(Access& access) {
  Communicator& communicator = *access.file.communicator;
  auto all = gather_from_all(communicator, access.bytes);
  if (!all) return propagate(all);
  std::uint64_t total = 0;
  std::uint64_t before = 0;
  for (std::size_t member = 0; member < all->size(); ++member) {
    if (static_cast<int>(member) < communicator.rank()) before += (*all)[member];
    total += (*all)[member];
  }
  struct Start {
    std::uint64_t position = 0;
    std::uint64_t failed = 0;
  } start;
  Result<std::uint64_t> moved = 0;
  if (communicator.rank() == 0) {
    moved = change_shared_pointer(access.file, digest({total}), {PointerChange::Kind::add, total});
    start = {moved.value_or(0), !moved};
  }
  auto starts = gather_from_all(communicator, start);
  if (!starts) return propagate(starts);
  if (!moved) return propagate(moved);
  if (starts->front().failed)
    return failure(Errc::system, "the shared pointer of {} cannot be moved", access.file.name);
  access.position = starts->front().position + before;
  return {};
}

/// Moves the pointer that the call uses, and takes the position from it.
Status place(const Call& call, Access& access) {
  switch (call.pointer) {
    case Pointer::explicit_offset:
      return {};
    case Pointer::individual:
      access.position = std::exchange(access.file.position, access.file.position + access.bytes);
      return {};
    case Pointer::ordered:
      return order(access);
    case Pointer::shared:
      break;
  }
  auto moved =
      change_shared_pointer(access.file, digest({access.bytes}), {PointerChange::Kind::add, access.bytes});
  if (!moved) return propagate(moved);
  access.position = *moved;
  return {};
}

/// The bytes of memory that were read or written.
Result<std::uint64_t> carry_out(const Call& call, const Access& access) {
  // Ordered accesses do not interleave.
  const bool together = call.collective && call.pointer != Pointer::ordered;
  if (call.direction == Direction::read) return together ? read_all(access) : read(access);
  auto status = together ? write_all(access) : write(access);
  if (!status) return propagate(status);
  return access.buffer.bytes();
}

/// What came of a call; nothing is reported.
struct Outcome {
  File* file = nullptr;
  int code = MPI_SUCCESS;
  std::string text;
  std::uint64_t bytes = 0;
};

/// `take_part`: in what the other members of a collective wait for.
Outcome access_now(const Call& call, File& file, bool take_part) {
  Access access{file, 0, {}, 0};
  if (const Fault fault = prepare(call, access); fault.error_class) {
    access.bytes = 0;
    access.buffer = {};
    if (take_part && call.pointer == Pointer::ordered) (void)order(access).has_value();
    if (take_part && call.pointer != Pointer::ordered)
      (void)(call.direction == Direction::read ? read_all(access).has_value()
                                               : write_all(access).has_value());
    return {&file, fault.error_class, fault.text, 0};
  }
  Call carried = call;
  carried.collective = take_part;
  auto placed = place(call, access);
  auto done = placed ? carry_out(carried, access) : Result<std::uint64_t>(propagate(placed));
  if (!done) return {&file, error_class_of(done.error()), done.error().text(), 0};
  return {&file, MPI_SUCCESS, {}, *done};
}

void give_status(std::uint64_t bytes, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || status == nullptr) return;
  set_empty(*status);
  set_byte_count(*status, bytes);
}

int perform_call(const Call& call, MPI_Status* status) {
  File* file = nullptr;
  if (int code = find_file(call.handle, file)) return code;
  if (call.collective && file->split)
    return report_file(file, MPI_ERR_IO,
                       fmt::format("the split collective {} has not been ended", file->split));
  Outcome outcome = access_now(call, *file, call.collective);
  if (outcome.code) return report_file(file, outcome.code, std::move(outcome.text));
  give_status(outcome.bytes, status);
  return MPI_SUCCESS;
}

/// A nonblocking access: the system calls are made when it is begun.
class FileTask final : public Task {
 public:
  FileTask(MPI_File handle, Outcome outcome) : handle_(handle), outcome_(std::move(outcome)) {}
  bool step() override { return true; }
  int complete(MPI_Status* status) override {
    give_status(outcome_.bytes, status);
    return outcome_.code;
  }
  int report(int code) override {
    File* file = files().find(handle_);
    return code == outcome_.code ? report_file(file, code, outcome_.text) : call_file_handler(file, code);
  }

 private:
  MPI_File handle_;
  Outcome outcome_;
};

int begin_call(const Call& call, MPI_Request* request) {
  File* file = nullptr;
  if (int code = find_file(call.handle, file)) return code;
  if (int code = check_file_pointer(file, request, "request")) return code;
  Access access{*file, 0, {}, 0};
  if (Fault fault = prepare(call, access); fault.error_class)
    return report_file(file, fault.error_class, std::move(fault.text));
  // The members of a nonblocking collective do not wait for each other: each accesses its own part.
  return begin_task(std::make_unique<FileTask>(call.handle, access_now(call, *file, false)), request);
}

/// The first half of a split collective (13.4.5) does it all.
int begin_split(const Call& call, const char* name) {
  File* file = nullptr;
  if (int code = find_file(call.handle, file)) return code;
  if (file->split)
    return report_file(file, MPI_ERR_IO,
                       fmt::format("the split collective {} has not been ended", file->split));
  Outcome outcome = access_now(call, *file, true);
  if (outcome.code) return report_file(file, outcome.code, std::move(outcome.text));
  file->split = name;
  file->split_buffer = call.buffer;
  give_status(outcome.bytes, &file->split_status);
  return MPI_SUCCESS;
}

int end_split(MPI_File handle, const void* buffer, const char* name, MPI_Status* status) {
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (!file->split || std::string_view(file->split) != name)
    return report_file(file, MPI_ERR_IO, fmt::format("the split collective {} has not been begun", name));
  if (file->split_buffer != buffer)
    return report_file(file, MPI_ERR_ARG,
                       fmt::format("the buffer is not that with which {} was begun", name));
  file->split = nullptr;
  if (status != MPI_STATUS_IGNORE && status != nullptr) {
    const int error = status->MPI_ERROR;
    *status = file->split_status;
    status->MPI_ERROR = error;
  }
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(File_read_at)
int PMPI_File_read_at(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype datatype,
                      MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_at);
  return perform_call(
      {Direction::read, Pointer::explicit_offset, false, file, offset, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_read_at_all)
int PMPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype datatype,
                          MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_at_all);
  return perform_call(
      {Direction::read, Pointer::explicit_offset, true, file, offset, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_read)
int PMPI_File_read(MPI_File file, void* buffer, int count, MPI_Datatype datatype, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read);
  return perform_call({Direction::read, Pointer::individual, false, file, 0, buffer, count, datatype},
                      status);
}

LLAMADA_MPI_FUNCTION(File_read_all)
int PMPI_File_read_all(MPI_File file, void* buffer, int count, MPI_Datatype datatype, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_all);
  return perform_call({Direction::read, Pointer::individual, true, file, 0, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_read_shared)
int PMPI_File_read_shared(MPI_File file, void* buffer, int count, MPI_Datatype datatype, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_shared);
  return perform_call({Direction::read, Pointer::shared, false, file, 0, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_read_ordered)
int PMPI_File_read_ordered(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_ordered);
  return perform_call({Direction::read, Pointer::ordered, true, file, 0, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_iread_at)
int PMPI_File_iread_at(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype datatype,
                       MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iread_at);
  return begin_call({Direction::read, Pointer::explicit_offset, false, file, offset, buffer, count, datatype},
                    request);
}

LLAMADA_MPI_FUNCTION(File_iread_at_all)
int PMPI_File_iread_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype datatype,
                           MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iread_at_all);
  return begin_call({Direction::read, Pointer::explicit_offset, true, file, offset, buffer, count, datatype},
                    request);
}

LLAMADA_MPI_FUNCTION(File_iread)
int PMPI_File_iread(MPI_File file, void* buffer, int count, MPI_Datatype datatype, MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iread);
  return begin_call({Direction::read, Pointer::individual, false, file, 0, buffer, count, datatype}, request);
}

LLAMADA_MPI_FUNCTION(File_iread_all)
int PMPI_File_iread_all(MPI_File file, void* buffer, int count, MPI_Datatype datatype, MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iread_all);
  return begin_call({Direction::read, Pointer::individual, true, file, 0, buffer, count, datatype}, request);
}

LLAMADA_MPI_FUNCTION(File_iread_shared)
int PMPI_File_iread_shared(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                           MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iread_shared);
  return begin_call({Direction::read, Pointer::shared, false, file, 0, buffer, count, datatype}, request);
}

LLAMADA_MPI_FUNCTION(File_read_at_all_begin)
int PMPI_File_read_at_all_begin(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(File_read_at_all_begin);
  return begin_split({Direction::read, Pointer::explicit_offset, true, file, offset, buffer, count, datatype},
                     "read_at_all");
}

LLAMADA_MPI_FUNCTION(File_read_at_all_end)
int PMPI_File_read_at_all_end(MPI_File file, void* buffer, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_at_all_end);
  return end_split(file, buffer, "read_at_all", status);
}

LLAMADA_MPI_FUNCTION(File_read_all_begin)
int PMPI_File_read_all_begin(MPI_File file, void* buffer, int count, MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(File_read_all_begin);
  return begin_split({Direction::read, Pointer::individual, true, file, 0, buffer, count, datatype},
                     "read_all");
}

LLAMADA_MPI_FUNCTION(File_read_all_end)
int PMPI_File_read_all_end(MPI_File file, void* buffer, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_all_end);
  return end_split(file, buffer, "read_all", status);
}

LLAMADA_MPI_FUNCTION(File_read_ordered_begin)
int PMPI_File_read_ordered_begin(MPI_File file, void* buffer, int count, MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(File_read_ordered_begin);
  return begin_split({Direction::read, Pointer::ordered, true, file, 0, buffer, count, datatype},
                     "read_ordered");
}

LLAMADA_MPI_FUNCTION(File_read_ordered_end)
int PMPI_File_read_ordered_end(MPI_File file, void* buffer, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_read_ordered_end);
  return end_split(file, buffer, "read_ordered", status);
}

LLAMADA_MPI_FUNCTION(File_write_at)
int PMPI_File_write_at(MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype datatype,
                       MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_at);
  return perform_call(
      {Direction::write, Pointer::explicit_offset, false, file, offset, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_write_at_all)
int PMPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                           MPI_Datatype datatype, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_at_all);
  return perform_call(
      {Direction::write, Pointer::explicit_offset, true, file, offset, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_write)
int PMPI_File_write(MPI_File file, const void* buffer, int count, MPI_Datatype datatype, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write);
  return perform_call({Direction::write, Pointer::individual, false, file, 0, buffer, count, datatype},
                      status);
}

LLAMADA_MPI_FUNCTION(File_write_all)
int PMPI_File_write_all(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                        MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_all);
  return perform_call({Direction::write, Pointer::individual, true, file, 0, buffer, count, datatype},
                      status);
}

LLAMADA_MPI_FUNCTION(File_write_shared)
int PMPI_File_write_shared(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_shared);
  return perform_call({Direction::write, Pointer::shared, false, file, 0, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_write_ordered)
int PMPI_File_write_ordered(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                            MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_ordered);
  return perform_call({Direction::write, Pointer::ordered, true, file, 0, buffer, count, datatype}, status);
}

LLAMADA_MPI_FUNCTION(File_iwrite_at)
int PMPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                        MPI_Datatype datatype, MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iwrite_at);
  return begin_call(
      {Direction::write, Pointer::explicit_offset, false, file, offset, buffer, count, datatype}, request);
}

LLAMADA_MPI_FUNCTION(File_iwrite_at_all)
int PMPI_File_iwrite_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                            MPI_Datatype datatype, MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iwrite_at_all);
  return begin_call({Direction::write, Pointer::explicit_offset, true, file, offset, buffer, count, datatype},
                    request);
}

LLAMADA_MPI_FUNCTION(File_iwrite)
int PMPI_File_iwrite(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                     MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iwrite);
  return begin_call({Direction::write, Pointer::individual, false, file, 0, buffer, count, datatype},
                    request);
}

LLAMADA_MPI_FUNCTION(File_iwrite_all)
int PMPI_File_iwrite_all(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                         MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iwrite_all);
  return begin_call({Direction::write, Pointer::individual, true, file, 0, buffer, count, datatype}, request);
}

LLAMADA_MPI_FUNCTION(File_iwrite_shared)
int PMPI_File_iwrite_shared(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                            MPI_Request* request) {
  LLAMADA_MPI_ENTER(File_iwrite_shared);
  return begin_call({Direction::write, Pointer::shared, false, file, 0, buffer, count, datatype}, request);
}

LLAMADA_MPI_FUNCTION(File_write_at_all_begin)
int PMPI_File_write_at_all_begin(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                 MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(File_write_at_all_begin);
  return begin_split(
      {Direction::write, Pointer::explicit_offset, true, file, offset, buffer, count, datatype},
      "write_at_all");
}

LLAMADA_MPI_FUNCTION(File_write_at_all_end)
int PMPI_File_write_at_all_end(MPI_File file, const void* buffer, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_at_all_end);
  return end_split(file, buffer, "write_at_all", status);
}

LLAMADA_MPI_FUNCTION(File_write_all_begin)
int PMPI_File_write_all_begin(MPI_File file, const void* buffer, int count, MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(File_write_all_begin);
  return begin_split({Direction::write, Pointer::individual, true, file, 0, buffer, count, datatype},
                     "write_all");
}

LLAMADA_MPI_FUNCTION(File_write_all_end)
int PMPI_File_write_all_end(MPI_File file, const void* buffer, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_all_end);
  return end_split(file, buffer, "write_all", status);
}

LLAMADA_MPI_FUNCTION(File_write_ordered_begin)
int PMPI_File_write_ordered_begin(MPI_File file, const void* buffer, int count, MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(File_write_ordered_begin);
  return begin_split({Direction::write, Pointer::ordered, true, file, 0, buffer, count, datatype},
                     "write_ordered");
}

LLAMADA_MPI_FUNCTION(File_write_ordered_end)
int PMPI_File_write_ordered_end(MPI_File file, const void* buffer, MPI_Status* status) {
  LLAMADA_MPI_ENTER(File_write_ordered_end);
  return end_split(file, buffer, "write_ordered", status);
}
