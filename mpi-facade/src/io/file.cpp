#include "io/file.hpp"

#include <algorithm>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"
#include "p2p/engine.hpp"
#include "runtime/errors.hpp"
#include "runtime/one_node.hpp"
#include "runtime/runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi::io {
namespace {

/// "the file cannot be ...", as file_failure() says it.
const char* verb(OperationKind kind) {
  switch (kind) {
    case OperationKind::create:
    case OperationKind::open:
      return "opened";
    case OperationKind::remove:
      return "removed";
    case OperationKind::set_size:
      return "given this size";
    case OperationKind::preallocate:
      return "given this room";
    case OperationKind::get_size:
      return "asked for its size";
    case OperationKind::sync:
      return "synchronised";
    case OperationKind::read:
      return "read";
    case OperationKind::write:
      return "written";
    case OperationKind::shared_pointer:
      break;
  }
  return "accessed";
}

}  // namespace

Files::Files() : default_handler(runtime().error_handlers.find(MPI_ERRORS_RETURN)) {
  using Kind = Representation::Kind;
  representations_.push_back(make_counted<Representation>("native", Kind::native));
  representations_.push_back(make_counted<Representation>("internal", Kind::native));
  representations_.push_back(make_counted<Representation>("external32", Kind::external32));
}

File* Files::find(MPI_File handle) const {
  if (handle == MPI_FILE_NULL) return nullptr;
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const auto& file) { return file.get() == handle; });
  return found == files_.end() ? nullptr : found->get();
}

File* Files::find_fortran(MPI_Fint handle) const {
  const auto index = static_cast<std::size_t>(handle) - 1;
  return handle > 0 && index < files_.size() ? files_[index].get() : nullptr;
}

File& Files::add(std::unique_ptr<File> file) {
  auto place = std::find(files_.begin(), files_.end(), nullptr);
  if (place == files_.end()) place = files_.insert(place, nullptr);
  file->fortran_handle = static_cast<MPI_Fint>(place - files_.begin()) + 1;
  *place = std::move(file);
  return **place;
}

void Files::remove(File& file) { files_[static_cast<std::size_t>(file.fortran_handle) - 1].reset(); }

Reference<Representation> Files::representation(std::string_view name) const {
  for (const auto& representation : representations_)
    if (representation->name() == name) return representation;
  return {};
}

void Files::add_representation(Reference<Representation> representation) {
  representations_.push_back(std::move(representation));
}

Result<Ledger*> Files::ledger() {
  if (!ledger_) {
    auto opened = Ledger::open(*runtime().world);
    if (!opened) return propagate(opened);
    ledger_ = std::move(*opened);
  }
  return ledger_.get();
}

bool Files::any_open() const {
  return std::ranges::any_of(files_, [](const auto& file) { return file != nullptr; });
}

void Files::will_pass_checkpoint() {
  if (ledger_) ledger_->will_pass_checkpoint();
}

void Files::pass_checkpoint() {
  if (ledger_) ledger_->pass_checkpoint();
}

void Files::give_back_records() {
  if (ledger_) ledger_->give_back_records();
}

Files& files() {
  auto& files = runtime().files;
  if (!files) files = std::make_shared<Files>();
  return *files;
}

namespace {

/// The code as the handler has left it.
int handle(File* file, int code) {
  const Reference<ErrorHandler> handler = file ? file->error_handler : files().default_handler;
  if (handler->ends_job()) {
    fatal(fmt::format("{} failed in rank {} on {}: {}", failed_call(), runtime().world_rank,
                      file ? "the file " + file->name : "MPI_FILE_NULL", error_text(code)));
  }
  if (handler->kind() == ErrorHandler::Kind::user) {
    MPI_File handle = file;
    int given = code;
    const OutsideForCallback outside;
    handler->call(&handle, &given);
    return given;
  }
  return code;
}

}  // namespace

int call_file_handler(File* file, int code) {
  const int handled = handle(file, code);
  return handled != MPI_SUCCESS ? handled : code;
}

int report_not_opened(const Error& error) {
  const int code = error_class_of(error);
  keep_particulars(code, error.text());
  return handle(nullptr, code);
}

int report_file(File* file, int error_class, std::string text) {
  keep_particulars(error_class, std::move(text));
  return call_file_handler(file, error_class);
}

int error_class_of(const Error& error) {
  if (error.system_errno() != 0) return error_class_for(error.system_errno());
  switch (error.code()) {
    case Errc::incompatible:
      return MPI_ERR_CONVERSION;
    case Errc::invalid_argument:
      return MPI_ERR_ARG;
    case Errc::unsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case Errc::out_of_resources:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

int report_file(File* file, const Error& error) {
  return report_file(file, error_class_of(error), error.text());
}

void reach(File& file, Ledger& ledger) {
  if (file.storage.is_open()) return;
  auto opened = file.storage.open();
  if (!opened) ledger.diverged("a file that the rank had opened no longer exists: " + opened.error().text());
}

Result<std::uint64_t> perform(File* file, const std::string& name, OperationKind kind, std::uint32_t digest,
                              const std::function<Result<std::uint64_t>()>& operation) {
  auto found = files().ledger();
  if (!found) return propagate(found);
  Ledger& ledger = **found;
  if (ledger.replaying()) {
    const Ledger::Entry entry = ledger.take(kind, digest);
    if (entry.error_number != 0) return file_failure(name, verb(kind), entry.error_number);
    return entry.value;
  }
  if (is_change(kind)) ledger.begin(kind, digest);
  if (file) reach(*file, ledger);
  auto outcome = operation();
  Ledger::Entry entry;
  entry.kind = kind;
  entry.digest = digest;
  if (outcome)
    entry.value = *outcome;
  else
    entry.error_number = outcome.error().system_errno() ? outcome.error().system_errno() : EIO;
  ledger.record(entry);
  return outcome;
}

namespace {

/// One for each view of each file. Communicators of disjoint groups may have the same context; which of them
/// it is the first member says.
std::uint64_t shared_pointer_name(const File& file) {
  constexpr std::uint64_t files_mark = std::uint64_t{0x10} << 56;
  const auto first = static_cast<std::uint64_t>(file.communicator->world_rank(0));
  return files_mark | std::uint64_t{file.communicator->context()} << 24 | (first & 0xfff) << 12 |
         (file.view_count & 0xfff);
}

SharedPointer::Waiting waiting_of_rank() {
  Engine& engine = *runtime().engine;
  return {[&engine](const std::function<bool()>& done) { engine.wait_until(done); },
          [&engine] { engine.world().wake_all(); }};
}

Result<SharedPointer*> shared_pointer_of(File& file) {
  if (file.shared_pointer) return &*file.shared_pointer;
  const Communicator& communicator = *file.communicator;
  const std::size_t bytes = SharedPointer::bytes_for(communicator.size());
  auto segment = runtime().world->shared_segment(shared_pointer_name(file), bytes);
  if (!segment) return propagate(segment);
  file.shared_memory = std::move(*segment);
  return &file.shared_pointer.emplace(file.shared_memory.data(), communicator.rank(), waiting_of_rank());
}

/// Whether the pointer is a number of the job: its members share no memory, or the job outlives that.
bool is_number(const File& file) {
  const std::atomic<std::uint64_t>* const cut = runtime().world->cut();
  if (cut != nullptr && cut->load(std::memory_order_relaxed) != 0) return true;
  const auto members = file.communicator->group()->members();
  return std::any_of(members.begin(), members.end(),
                     [](int member) { return !runtime().world->is_local(member); });
}

Result<std::uint64_t> move_number(const File& file, World::NumberMove move) {
  move.number = shared_pointer_name(file);
  return runtime().world->move_number(move);
}

Result<std::uint64_t> change_number(const File& file, std::uint64_t operation, const PointerChange& change) {
  using Kind = World::NumberMove::Kind;
  const bool adds = change.kind == PointerChange::Kind::add;
  // The number counts from the origin.
  return move_number(file, {.operation = operation,
                            .kind = adds ? Kind::add : Kind::set,
                            .operand = adds ? change.operand : change.operand - file.shared_origin});
}

Status may_be_shared() { return need_no_survivors(*runtime().world, "shared file pointers"); }

Result<std::uint64_t> change_pointer(File& file, std::uint64_t operation, const PointerChange& change) {
  if (auto may = may_be_shared(); !may) return propagate(may);
  if (is_number(file)) return change_number(file, operation, change);
  auto pointer = shared_pointer_of(file);
  if (!pointer) return propagate(pointer);
  const std::uint64_t origin = file.shared_origin;
  return (*pointer)->change(operation,
                            [&](std::uint64_t before) { return change(before + origin) - origin; });
}

Result<std::uint64_t> read_pointer(File& file) {
  if (auto may = may_be_shared(); !may) return propagate(may);
  if (is_number(file)) return move_number(file, {.kind = World::NumberMove::Kind::read});
  auto pointer = shared_pointer_of(file);
  if (!pointer) return propagate(pointer);
  return (*pointer)->get();
}

/// A position from what a pointer says, which counts from the origin.
Result<std::uint64_t> position_of(const File& file, Result<std::uint64_t> pointer) {
  if (pointer) *pointer += file.shared_origin;
  return pointer;
}

/// The rank itself, or a predecessor whose outcomes it repeats, has used the pointer.
void let_go(File& file) {
  auto ledger = files().ledger();
  // What the predecessor did later is behind its own letting go.
  if (!ledger || (*ledger)->replaying()) return;
  // When the job ends, so does the pointer.
  if (is_number(file))
    (void)move_number(file, {.kind = World::NumberMove::Kind::release});
  else
    (void)shared_pointer_of(file);  // for the memory's own letting go
}

}  // namespace

Result<std::uint64_t> change_shared_pointer(File& file, std::uint32_t digest, const PointerChange& change) {
  // What depends on this rank alone needs no record.
  if (file.communicator->size() == 1) return std::exchange(file.shared_origin, change(file.shared_origin));
  file.uses_shared_pointer = true;
  const auto operation = [&]() -> Result<std::uint64_t> {
    auto ledger = files().ledger();
    if (!ledger) return propagate(ledger);
    return position_of(file, change_pointer(file, (*ledger)->next_number(), change));
  };
  return perform(&file, file.name, OperationKind::shared_pointer, digest, operation);
}

Result<std::uint64_t> shared_position(File& file) {
  if (file.communicator->size() == 1) return file.shared_origin;
  file.uses_shared_pointer = true;
  return perform(&file, file.name, OperationKind::shared_pointer, 0,
                 [&] { return position_of(file, read_pointer(file)); });
}

void drop_shared_pointer(File& file) {
  if (std::exchange(file.uses_shared_pointer, false)) let_go(file);
  file.shared_pointer.reset();
  file.shared_memory.release();
  file.shared_origin = 0;
}

std::string left_over(World& world) {
  if (!Ledger::is_there(world)) return {};
  auto ledger = files().ledger();
  return ledger ? (*ledger)->left_over() : ledger.error().text();
}

std::uint32_t digest(std::initializer_list<std::uint64_t> numbers) {
  return crc32c(std::as_bytes(std::span(numbers.begin(), numbers.size())));
}

std::uint32_t digest(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

}  // namespace llamada::mpi::io
