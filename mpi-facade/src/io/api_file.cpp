#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "coll/comm_create.hpp"
#include "io/api.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, 13.2: opening, closing, removing, sizes, hints; 13.6: consistency.
using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::io;

namespace {

/// Hints that ROMIO knows and that say something here; the others are ignored (13.2.8).
struct Hint {
  const char* key;
  const char* value;  ///< without it
  bool is_choice;     ///< enable, disable or automatic
};
constexpr std::array<Hint, 6> known_hints{{{"romio_cb_read", "automatic", true},
                                           {"romio_cb_write", "automatic", true},
                                           {"romio_ds_read", "automatic", false},
                                           {"romio_ds_write", "disable", false},
                                           {"cb_buffer_size", "1048576", false},
                                           {"romio_no_indep_rw", "false", false}}};

/// A name as ROMIO takes it may have the kind of file system before a colon.
std::string without_prefix(const std::string& name) {
  for (const char* prefix : {"ufs:", "nfs:", "xfs:", "testfs:", "panfs:", "lustre:", "gpfs:"})
    if (name.starts_with(prefix)) return name.substr(std::string_view(prefix).size());
  return name;
}

/// The program may change its working directory while a file is open.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char folder[PATH_MAX];
  return ::getcwd(folder, sizeof folder) ? std::string(folder) + "/" + path : path;
}

int check_name(const char* name) {
  if (int code = check_file_pointer(nullptr, name, "file name")) return code;
  return *name ? MPI_SUCCESS : report_file(nullptr, MPI_ERR_BAD_FILE, "the file name is empty");
}

/// Why a mode of access is none (13.2.1); null for a good one.
const char* fault_of(int amode) {
  const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
    return "the mode must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR";
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return "MPI_MODE_RDONLY does not go with MPI_MODE_CREATE or MPI_MODE_EXCL";
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return "MPI_MODE_RDWR does not go with MPI_MODE_SEQUENTIAL";
  return amode < 0 || amode >= 2 * MPI_MODE_SEQUENTIAL ? "the mode has bits that mean nothing" : nullptr;
}

int open_flags(int amode) {
  if ((amode & MPI_MODE_RDONLY) != 0) return O_RDONLY;
  return (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY : O_RDWR;
}

std::uint32_t digest_of_open(const File& file) {
  return digest(file.name) ^ static_cast<std::uint32_t>(file.amode);
}

/// 0, or the errno of a failure.
template <typename T>
int error_number(const Result<T>& result) {
  if (result) return 0;
  return result.error().system_errno() != 0 ? result.error().system_errno() : EIO;
}

/// Makes the file, for all. A replacement that finds that its predecessor was about to make a file which was
/// not there takes it as made.
Result<std::uint64_t> create(File& file) {
  return perform(nullptr, file.name, OperationKind::create, digest_of_open(file),
                 [&]() -> Result<std::uint64_t> {
                   Ledger& ledger = **files().ledger();
                   const bool exclusive = (file.amode & MPI_MODE_EXCL) != 0 && !ledger.was_announced();
                   if (exclusive && exists(file.storage.path()))
                     return file_failure(file.name, "opened", EEXIST);
                   if (exclusive && ledger.recording()) ledger.announce();
                   auto opened = file.storage.open(O_CREAT | (exclusive ? O_EXCL : 0));
                   if (!opened) return propagate(opened);
                   return 0;
                 });
}

Result<std::uint64_t> open_existing(File& file) {
  return perform(nullptr, file.name, OperationKind::open, digest_of_open(file),
                 [&]() -> Result<std::uint64_t> {
                   if (file.storage.is_open()) return file.storage.size();
                   auto opened = file.storage.open();
                   if (!opened) return propagate(opened);
                   return file.storage.size();
                 });
}

/// What each member says of its opening.
struct Opening {
  std::uint64_t size = 0;
  std::int64_t error_number = 0;
};

/// Opens the file on all members; the error is that of any.
Status open_for_all(File& file) {
  Communicator& communicator = *file.communicator;
  if ((file.amode & MPI_MODE_CREATE) != 0) {
    Opening own;
    if (communicator.rank() == 0) own.error_number = error_number(create(file));
    auto all = gather_from_all(communicator, own);
    if (!all) return propagate(all);
    if (all->front().error_number != 0)
      return file_failure(file.name, "opened", static_cast<int>(all->front().error_number));
  }
  auto size = open_existing(file);
  auto all = gather_from_all(communicator, Opening{size.value_or(0), error_number(size)});
  if (!all) return propagate(all);
  if (!size) return propagate(size);
  for (const Opening& opening : *all)
    if (opening.error_number != 0)
      return file_failure(file.name, "opened for all", static_cast<int>(opening.error_number));
  if ((file.amode & MPI_MODE_APPEND) != 0) file.position = file.shared_origin = all->front().size;
  return {};
}

void free_communicator(File& file) {
  const MPI_Comm handle = file.communicator->handle();
  runtime().collectives->spare_channel(*file.communicator);
  file.communicator->set_handle(MPI_COMM_NULL);
  runtime().communicators.erase(handle);
}

/// Removes a file; a replacement whose predecessor was about to remove it takes it as removed.
Result<std::uint64_t> remove(const std::string& name, const std::string& path) {
  return perform(nullptr, name, OperationKind::remove, digest(name), [&]() -> Result<std::uint64_t> {
    Ledger& ledger = **files().ledger();
    const bool was_there = ledger.was_announced();
    if (!was_there && ledger.recording() && exists(path)) ledger.announce();
    auto removed = remove_file(path);
    if (!removed && !(was_there && removed.error().system_errno() == ENOENT))
      return file_failure(name, "removed", removed.error().system_errno());
    return 0;
  });
}

int close(File& file) {
  auto met = meet(*file.communicator);
  drop_shared_pointer(file);
  Status outcome = file.storage.close();
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    // Nobody has it open any more.
    if (met) met = meet(*file.communicator);
    Opening own;
    if (file.communicator->rank() == 0)
      own.error_number = error_number(remove(file.name, file.storage.path()));
    auto all = gather_from_all(*file.communicator, own);
    if (!all) return report_file(&file, all.error());
    if (outcome && all->front().error_number != 0)
      outcome = file_failure(file.name, "removed", static_cast<int>(all->front().error_number));
  }
  free_communicator(file);
  int code = MPI_SUCCESS;
  if (!met)
    code = report_file(&file, met.error());
  else if (!outcome)
    code = report_file(&file, outcome.error());
  files().remove(file);
  return code;
}

/// The first member does it for all, when all have come to it with the same `number`; all get its outcome.
int done_by_first(File& file, std::uint64_t number, const char* what, OperationKind kind,
                  const std::function<Status()>& operation) {
  auto numbers = gather_from_all(*file.communicator, number);
  if (!numbers) return report_file(&file, numbers.error());
  for (const std::uint64_t other : *numbers)
    if (other != numbers->front())
      return report_file(&file, MPI_ERR_NOT_SAME, fmt::format("the {} is not the same on all ranks", what));
  Opening own;
  Result<std::uint64_t> outcome = 0;
  if (file.communicator->rank() == 0) {
    outcome = perform(&file, file.name, kind, digest({number}), [&]() -> Result<std::uint64_t> {
      auto status = operation();
      if (!status) return propagate(status);
      return 0;
    });
    own.error_number = error_number(outcome);
  }
  auto all = gather_from_all(*file.communicator, own);
  if (!all) return report_file(&file, all.error());
  if (!outcome) return report_file(&file, outcome.error());
  if (all->front().error_number == 0) return MPI_SUCCESS;
  return report_file(&file,
                     file_failure(file.name, "changed", static_cast<int>(all->front().error_number)).value());
}

int check_writable(File& file) {
  if (!file.is_writable())
    return report_file(&file, MPI_ERR_READ_ONLY,
                       fmt::format("{} was opened with MPI_MODE_RDONLY", file.name));
  return MPI_SUCCESS;
}

int check_size(File& file, MPI_Offset size) {
  return size >= 0
             ? MPI_SUCCESS
             : report_file(&file, MPI_ERR_ARG, fmt::format("the size is {}, it must not be negative", size));
}

/// What each member asks MPI_File_open for.
struct Wish {
  int amode = 0;
  int error_class = MPI_SUCCESS;
};

}  // namespace

void llamada::mpi::io::take_hints(File& file, MPI_Info info) {
  const Info* given = runtime().infos.find(info);
  if (!given) return;
  for (const Hint& hint : known_hints) {
    const auto value = given->get(hint.key);
    if (!value || (hint.is_choice && value != "enable" && value != "disable" && value != "automatic"))
      continue;
    if (hint.is_choice) file.hints.set(hint.key, *value);
  }
}

LLAMADA_MPI_FUNCTION(File_open)
int PMPI_File_open(MPI_Comm comm, const char* file_name, int amode, MPI_Info info, MPI_File* handle) {
  LLAMADA_MPI_ENTER(File_open);
  Communicator* communicator = runtime().communicators.find(comm);
  if (!communicator || communicator->is_inter())
    return report_file(nullptr, MPI_ERR_COMM,
                       "the communicator is none, was freed, or is an intercommunicator");
  if (int code = check_file_pointer(nullptr, handle, "file")) return code;
  *handle = MPI_FILE_NULL;
  if (int code = check_name(file_name)) return code;
  if (int code = check_info(nullptr, info)) return code;
  const char* fault = fault_of(amode);
  auto wishes = gather_from_all(*communicator, Wish{amode, fault ? MPI_ERR_AMODE : MPI_SUCCESS});
  if (!wishes) return report_file(nullptr, wishes.error());
  if (fault) return report_file(nullptr, MPI_ERR_AMODE, fault);
  for (const Wish& wish : *wishes)
    if (wish.amode != amode)
      return report_file(nullptr, MPI_ERR_NOT_SAME, "the mode is not the same on all ranks");

  auto own = duplicate(*communicator);
  if (!own) return report_file(nullptr, own.error());
  const std::string path = absolute(without_prefix(file_name));
  auto made = std::make_unique<File>(file_name, Storage(path, open_flags(amode)), amode);
  made->communicator = *own;
  made->error_handler = files().default_handler;
  made->etype = made->file_type = Reference<Datatype>(runtime().datatypes.find(MPI_BYTE));
  made->representation = files().representation("native");
  for (const Hint& hint : known_hints) made->hints.set(hint.key, hint.value);
  made->hints.set("cb_nodes", std::to_string(communicator->size()));
  take_hints(*made, info);
  auto opened = open_for_all(*made);
  if (!opened) {
    made->storage.close().has_value();
    free_communicator(*made);
    return report_not_opened(opened.error());
  }
  *handle = &files().add(std::move(made));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_close)
int PMPI_File_close(MPI_File* handle) {
  LLAMADA_MPI_ENTER(File_close);
  if (int code = check_file_pointer(nullptr, handle, "file")) return code;
  File* file = nullptr;
  if (int code = find_file(*handle, file)) return code;
  if (file->split)
    return report_file(file, MPI_ERR_IO,
                       fmt::format("the split collective {} has not been ended", file->split));
  const int code = close(*file);
  *handle = MPI_FILE_NULL;
  return code;
}

LLAMADA_MPI_FUNCTION(File_delete)
int PMPI_File_delete(const char* file_name, MPI_Info info) {
  LLAMADA_MPI_ENTER(File_delete);
  if (int code = check_name(file_name)) return code;
  if (int code = check_info(nullptr, info)) return code;
  auto removed = remove(file_name, absolute(without_prefix(file_name)));
  return removed ? MPI_SUCCESS : report_file(nullptr, removed.error());
}

LLAMADA_MPI_FUNCTION(File_set_size)
int PMPI_File_set_size(MPI_File handle, MPI_Offset size) {
  LLAMADA_MPI_ENTER(File_set_size);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_size(*file, size)) return code;
  if (int code = check_writable(*file)) return code;
  const auto bytes = static_cast<std::uint64_t>(size);
  return done_by_first(*file, bytes, "size", OperationKind::set_size,
                       [&] { return file->storage.set_size(bytes); });
}

LLAMADA_MPI_FUNCTION(File_preallocate)
int PMPI_File_preallocate(MPI_File handle, MPI_Offset size) {
  LLAMADA_MPI_ENTER(File_preallocate);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_size(*file, size)) return code;
  if (int code = check_writable(*file)) return code;
  const auto bytes = static_cast<std::uint64_t>(size);
  return done_by_first(*file, bytes, "size", OperationKind::preallocate,
                       [&] { return file->storage.preallocate(bytes); });
}

LLAMADA_MPI_FUNCTION(File_get_size)
int PMPI_File_get_size(MPI_File handle, MPI_Offset* size) {
  LLAMADA_MPI_ENTER(File_get_size);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, size, "size")) return code;
  auto found = perform(file, file->name, OperationKind::get_size, 0, [&] { return file->storage.size(); });
  if (!found) return report_file(file, found.error());
  *size = static_cast<MPI_Offset>(*found);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_group)
int PMPI_File_get_group(MPI_File handle, MPI_Group* group) {
  LLAMADA_MPI_ENTER(File_get_group);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, group, "group")) return code;
  *group = runtime().groups.insert(file->communicator->group());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_amode)
int PMPI_File_get_amode(MPI_File handle, int* amode) {
  LLAMADA_MPI_ENTER(File_get_amode);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, amode, "mode")) return code;
  *amode = file->amode;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_set_info)
int PMPI_File_set_info(MPI_File handle, MPI_Info info) {
  LLAMADA_MPI_ENTER(File_set_info);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_info(file, info)) return code;
  take_hints(*file, info);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_info)
int PMPI_File_get_info(MPI_File handle, MPI_Info* info) {
  LLAMADA_MPI_ENTER(File_get_info);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, info, "info")) return code;
  auto copy = make_counted<Info>();
  copy->copy_from(file->hints);
  *info = runtime().infos.insert(std::move(copy));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_set_atomicity)
int PMPI_File_set_atomicity(MPI_File handle, int flag) {
  LLAMADA_MPI_ENTER(File_set_atomicity);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  auto flags = gather_from_all(*file->communicator, int{flag != 0});
  if (!flags) return report_file(file, flags.error());
  for (const int other : *flags)
    if (other != int{flag != 0})
      return report_file(file, MPI_ERR_NOT_SAME, "the flag is not the same on all ranks");
  file->atomic = flag != 0;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_atomicity)
int PMPI_File_get_atomicity(MPI_File handle, int* flag) {
  LLAMADA_MPI_ENTER(File_get_atomicity);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, flag, "flag")) return code;
  *flag = file->atomic;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_sync)
int PMPI_File_sync(MPI_File handle) {
  LLAMADA_MPI_ENTER(File_sync);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  auto synced = perform(file, file->name, OperationKind::sync, 0, [&]() -> Result<std::uint64_t> {
    auto status = file->storage.sync();
    if (!status) return propagate(status);
    return 0;
  });
  return synced ? MPI_SUCCESS : report_file(file, synced.error());
}

// 17.2.4: handles in Fortran.

LLAMADA_MPI_FUNCTION(File_c2f)
MPI_Fint PMPI_File_c2f(MPI_File handle) {
  if (!runtime_if_any()) return 0;
  const File* file = files().find(handle);
  return file ? file->fortran_handle : 0;
}

LLAMADA_MPI_FUNCTION(File_f2c)
MPI_File PMPI_File_f2c(MPI_Fint handle) {
  return runtime_if_any() ? files().find_fortran(handle) : MPI_FILE_NULL;
}
