#include "p2p/request.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "llamada/base/copy.hpp"
#include "object/handle.hpp"

namespace llamada::mpi {

void Buffer::pack(std::size_t first_byte, std::span<std::byte> out) const {
  if (out.empty()) return;
  if (const std::byte* memory = contiguous())
    copy_bytes(out.data(), memory + first_byte, out.size());
  else
    type->pack(base, count, first_byte, out);
}

void Buffer::unpack(std::size_t first_byte, std::span<const std::byte> in) const {
  const std::size_t capacity = bytes();
  if (first_byte >= capacity) return;
  in = in.first(std::min(in.size(), capacity - first_byte));
  if (in.empty()) return;
  if (std::byte* memory = contiguous())
    copy_bytes_in(memory + first_byte, in.data(), in.size());
  else
    type->unpack(in, first_byte, base, count);
}

void Request::reset() {
  rule = Rule::free;
  queued = false;
  expected_ordinal = 0;
  room_bytes = -1;
  kind = Kind::none;
  mode = SendMode::standard;
  persistent = active = complete = released = cancelled = null_process = matched_by_probe = false;
  error = MPI_SUCCESS;
  buffer = {};
  communicator = nullptr;
  status_source = MPI_ANY_SOURCE;
  status_tag = MPI_ANY_TAG;
  status_bytes = 0;
  failed_bytes = 0;
  bulk_done = 0;
  arrival = nullptr;
}

void Request::begin() {
  active = true;
  complete = cancelled = false;
  error = MPI_SUCCESS;
  status_source = null_process ? MPI_PROC_NULL : MPI_ANY_SOURCE;
  status_tag = MPI_ANY_TAG;
  status_bytes = 0;
}

void Request::hold_objects() {
  kept = std::make_unique<Kept>();
  kept->type = Reference<Datatype>(const_cast<Datatype*>(buffer.type));
  kept->communicator = Reference<Communicator>(communicator);
}

RequestTable::RequestTable() {
  sent_.kind = Request::Kind::send;
  sent_.active = sent_.complete = sent_.is_shared = true;
  sent_.handle = sent_handle;
}

Request& RequestTable::make_object() {
  requests_.push_back(std::make_unique<Request>());
  requests_.back()->kept = std::make_unique<Request::Kept>();
  return *requests_.back();
}

void RequestTable::make_one() {
  Request& request = make_object();
  request.handle =
      make_handle(HandleKind::direct, ObjectKind::request, static_cast<std::uint32_t>(handles_.size()));
  handles_.push_back(&request);
  request.next = unused_;
  unused_ = &request;
}

Request& RequestTable::add_without_handle() {
  if (!nameless_) return make_object();
  Request& request = *nameless_;
  nameless_ = next_unused(request);
  request.reset();
  return request;
}

void RequestTable::complete(Request& request) {
  request.complete = true;
  if (!request.released) return;
  if (request.kind == Request::Kind::task) request.kept->task->free();
  remove(request);
}

/// The handle goes to another request, which is unused as yet.
void RequestTable::remove_handle(Request& request) {
  Request& heir = add_without_handle();
  heir.handle = std::exchange(request.handle, MPI_REQUEST_NULL);
  request.is_named = false;
  handles_[handle_index(heir.handle)] = &heir;
  heir.next = unused_;
  unused_ = &heir;
}

void RequestTable::forget_kept(Request& request) {
  request.kept->type = {};
  request.kept->communicator = {};
  request.kept->message = {};
  request.kept->task = {};
  request.keeps_something = false;
}

bool RequestTable::any_active() const {
  return std::any_of(requests_.begin(), requests_.end(), [](const auto& request) { return request->active; });
}

std::size_t RequestTable::named_count() const {
  return static_cast<std::size_t>(std::count_if(requests_.begin(), requests_.end(),
                                                [](const auto& request) { return request->is_named; }));
}

bool RequestTable::any_active(const Communicator& communicator) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const auto& request) {
    const bool message = request->kind == Request::Kind::send || request->kind == Request::Kind::receive;
    return message && request->active && !request->complete && request->communicator == &communicator;
  });
}

}  // namespace llamada::mpi
