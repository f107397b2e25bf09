#include <algorithm>

#include "p2p/api_common.hpp"

// The Wait and Test families (MPI 3.1, 3.7.3 to 3.7.6). What a call answers, when it could have answered
// something else, is recorded before it returns; a replay takes the recorded answer and waits until it is so.

using namespace llamada::mpi;
using replay::CallKind;

namespace {

bool is_fruitless(const replay::Outcome& outcome) { return outcome.type == replay::Outcome::Type::fruitless; }

/// The requests of an array of handles.
class RequestArray {
 public:
  int find(int count, MPI_Request handles[]) {
    if (int code = check_count(nullptr, count)) return code;
    if (count > 0)
      if (int code = check_pointer(nullptr, handles, "requests")) return code;
    handles_ = handles;
    if (static_cast<std::size_t>(count) > few) {
      many_.resize(static_cast<std::size_t>(count));
      requests_ = many_.data();
    }
    RequestTable& table = engine().requests();
    bool any_active = false;
    for (int i = 0; i < count; ++i) {
      Request* request = table.find(handles[i]);
      if (!request || request->kind == Request::Kind::message) [[unlikely]]
        if (int code = find_request(handles[i], request)) return code;
      requests_[i] = request;
      if (!is_active(request)) continue;
      any_active = true;
      if (request->complete && complete_before_ < 0) complete_before_ = i;
    }
    count_ = count;
    any_active_ = any_active;
    return MPI_SUCCESS;
  }

  int count() const { return count_; }
  Request* operator[](int index) const { return requests_[index]; }
  MPI_Request& handle(int index) const { return handles_[index]; }

  bool any_active() const { return any_active_; }
  /// The first that was complete when they were found, or -1.
  int complete_before() const { return complete_before_; }
  int first_complete() const {
    for (int i = 0; i < count_; ++i)
      if (is_active(requests_[i]) && requests_[i]->complete) return i;
    return -1;
  }
  /// How copies of large messages go on where any of them is awaited.
  Engine::Bulk bulk_beside() const {
    const auto is_small = [](const Request* request) {
      return is_active(request) && engine().bulk_beside(*request) == Engine::Bulk::gives_way;
    };
    return std::any_of(requests_, requests_ + count_, is_small) ? Engine::Bulk::gives_way
                                                                : Engine::Bulk::first;
  }
  bool all_complete() {
    // What is complete stays so: the next look begins behind it.
    while (complete_until_ < count_ &&
           (!is_active(requests_[complete_until_]) || requests_[complete_until_]->complete))
      ++complete_until_;
    return complete_until_ == count_;
  }
  void collect_complete(std::vector<std::uint32_t>& indices) const {
    for (int i = 0; i < count_; ++i)
      if (is_active(requests_[i]) && requests_[i]->complete) indices.push_back(static_cast<std::uint32_t>(i));
  }
  /// Waits for what a replay says was complete.
  void wait_for(std::uint32_t index) const {
    if (index >= static_cast<std::uint32_t>(count_) || !is_active(requests_[index]))
      engine().diverged(fmt::format("request {} of {}, which was completed, is not active", index, count_));
    engine().wait_for_recorded("the completion of a request", *requests_[index]);
  }

 private:
  static constexpr std::size_t few = 64;
  Request* few_[few];
  std::vector<Request*> many_;
  Request** requests_ = few_;
  MPI_Request* handles_ = nullptr;
  int count_ = 0;
  int complete_until_ = 0;
  int complete_before_ = -1;
  bool any_active_ = false;
};

/// Retires a message that went well; false when there is more to it.
inline bool retire_plainly(MPI_Request& handle, Request& request, MPI_Status* status) {
  if (request.error != MPI_SUCCESS || request.kind == Request::Kind::task || !request.active) [[unlikely]]
    return false;
  Engine::receive_status(request, status);
  if (request.persistent) {
    request.active = false;
    return true;
  }
  engine().requests().remove(request);
  handle = MPI_REQUEST_NULL;
  return true;
}

/// Retires one request and reports its error.
int retire_and_report(MPI_Request& handle, Request& request, MPI_Status* status) {
  if (request.error == MPIX_ERR_PROC_FAILED_PENDING) [[unlikely]]
    settle(request);
  if (retire_plainly(handle, request, status)) return MPI_SUCCESS;
  if (request.kind == Request::Kind::task) return retire_task(handle, request, status);
  const Reference<Communicator> communicator(request.communicator);
  const std::uint64_t message = request.failed_bytes;
  const std::uint64_t room = request.buffer.type ? request.buffer.bytes() : 0;
  const int error = retire(handle, request, status);
  return error == MPI_SUCCESS ? MPI_SUCCESS : report_receive(communicator.get(), error, message, room);
}

/// Retires several: `slot(i)` gives where the status of the ith goes. MPI_ERR_IN_STATUS if one has an error.
template <typename Indices>
int retire_many(RequestArray& requests, const Indices& indices, MPI_Status statuses[]) {
  bool failed = false;
  for (const auto index : indices) {
    settle(*requests[static_cast<int>(index)]);
    failed |= requests[static_cast<int>(index)]->error != MPI_SUCCESS;
  }
  Reference<Communicator> communicator;
  int place = 0;
  for (const auto index : indices) {
    const int at = static_cast<int>(index);
    Request& request = *requests[at];
    if (failed && request.error != MPI_SUCCESS && !communicator)
      communicator = Reference<Communicator>(request.communicator);
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[place];
    ++place;
    const int error = retire(requests.handle(at), request, status);
    if (failed && status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  }
  if (!failed) return MPI_SUCCESS;
  return report(
      communicator.get(), MPI_ERR_IN_STATUS,
      "one of the requests has failed: a message was longer than the buffer of its receive, a process "
      "has died, or an operation went wrong");
}

/// Those of several that are not complete.
class AwaitsRequests final : public Awaits {
 public:
  AwaitsRequests(const RequestArray& requests, bool any_suffices)
      : requests_(requests), any_suffices_(any_suffices) {}
  void describe(llamada::waits::Report& report) const override {
    report.any_suffices = any_suffices_;
    for (int i = 0; i < requests_.count(); ++i)
      if (is_active(requests_[i]) && !requests_[i]->complete) describe_request(report, *requests_[i]);
  }

 private:
  const RequestArray& requests_;
  bool any_suffices_;
};

/// One request: whether it is complete, as the program is told.
bool decide_one(Request& request, CallKind kind) {
  Engine& self = engine();
  if (self.replaying()) {
    if (is_fruitless(self.take_outcome(kind))) {
      self.found_nothing();
      return false;
    }
    self.wait_for_recorded("the completion of a request", request);
    return true;
  }
  if (!request.complete) self.found_nothing();
  if (!request.complete) {
    self.determinants().record_fruitless();
    return false;
  }
  self.found_something();
  const std::uint32_t index = 0;
  self.determinants().record_completion(kind, {&index, 1});
  return true;
}

/// Which of several is complete, as the program is told; -1 for none.
int decide_any(RequestArray& requests, CallKind kind) {
  Engine& self = engine();
  if (self.replaying()) {
    const auto outcome = self.take_outcome(kind);
    if (is_fruitless(outcome)) {
      self.found_nothing();
      return -1;
    }
    requests.wait_for(outcome.indices.at(0));
    return static_cast<int>(outcome.indices[0]);
  }
  int index = requests.complete_before();
  if (index < 0 && kind == CallKind::waitany) {
    const AwaitsRequests awaits(requests, true);
    self.wait_until([&] { return (index = requests.first_complete()) >= 0; }, &awaits,
                    requests.bulk_beside());
  }
  if (index < 0 && self.found_nothing()) index = requests.first_complete();
  if (index < 0) {
    self.determinants().record_fruitless();
    return -1;
  }
  self.found_something();
  const auto recorded = static_cast<std::uint32_t>(index);
  self.determinants().record_completion(kind, {&recorded, 1});
  return index;
}

/// All that are complete, as the program is told.
void decide_some(RequestArray& requests, CallKind kind, std::vector<std::uint32_t>& indices) {
  Engine& self = engine();
  if (self.replaying()) {
    const auto outcome = self.take_outcome(kind);
    if (is_fruitless(outcome)) {
      self.found_nothing();
      return;
    }
    for (const std::uint32_t index : outcome.indices) requests.wait_for(index);
    indices = outcome.indices;
    return;
  }
  bool found = requests.complete_before() >= 0;
  if (!found && kind == CallKind::waitsome) {
    const AwaitsRequests awaits(requests, true);
    self.wait_until([&] { return requests.first_complete() >= 0; }, &awaits, requests.bulk_beside());
    found = true;
  }
  if (found || self.found_nothing()) requests.collect_complete(indices);
  if (indices.empty()) return self.determinants().record_fruitless();
  self.found_something();
  self.determinants().record_completion(kind, indices);
}

bool decide_all(RequestArray& requests) {
  Engine& self = engine();
  if (self.replaying()) {
    if (is_fruitless(self.take_outcome(CallKind::testall))) {
      self.found_nothing();
      return false;
    }
    self.wait_for_recorded("the completion of all requests", [&] { return requests.all_complete(); });
    return true;
  }
  if (!requests.all_complete()) self.found_nothing();
  if (!requests.all_complete()) {
    self.determinants().record_fruitless();
    return false;
  }
  self.found_something();
  self.determinants().record_completion(CallKind::testall, {});
  return true;
}

/// Those from `first` on; the others are retired, and went well.
int retire_rest(RequestArray& requests, int first, MPI_Status statuses[]) {
  bool failed = false;
  for (int i = first; i < requests.count(); ++i) {
    if (!is_active(requests[i])) continue;
    settle(*requests[i]);
    failed |= requests[i]->error != MPI_SUCCESS;
  }
  Reference<Communicator> communicator;
  for (int i = 0; i < requests.count(); ++i) {
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    int error = MPI_SUCCESS;
    const bool is_rest = i >= first;
    if (is_rest && !is_active(requests[i])) {
      empty_status(status);
    } else if (is_rest) {
      if (requests[i]->error != MPI_SUCCESS && !communicator)
        communicator = Reference<Communicator>(requests[i]->communicator);
      error = retire(requests.handle(i), *requests[i], status);
    }
    if (failed && status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  }
  if (!failed) return MPI_SUCCESS;
  return report(
      communicator.get(), MPI_ERR_IN_STATUS,
      "one of the requests has failed: a message was longer than the buffer of its receive, a process "
      "has died, or an operation went wrong");
}

/// The same, where all may be complete. The statuses of those before `first` are as they are to be.
int retire_all(RequestArray& requests, int first, MPI_Status statuses[]) {
  for (int i = first; i < requests.count(); ++i) {
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    if (!requests[i])
      empty_status(status);
    else if (!retire_plainly(requests.handle(i), *requests[i], status))
      return retire_rest(requests, i, statuses);
  }
  return MPI_SUCCESS;
}

/// MPI_Waitall for the usual ones, sends that were over at once and plain receives, one after the other;
/// stops at the first that is another, or did not go well. Gives how many it has retired.
int wait_and_retire(int count, MPI_Request handles[], MPI_Status statuses[]) {
  Engine& self = engine();
  RequestTable& table = self.requests();
  for (int i = 0; i < count; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) {
      if (statuses != MPI_STATUSES_IGNORE) set_empty(statuses[i]);
      continue;
    }
    const Request* from = &table.sent();
    if (handles[i] != RequestTable::sent_handle) {
      Request* request = table.find_own(handles[i]);
      if (!request) return i;
      if (request->state() == receive_begun) self.wait_for_first(*request);
      if (request->state() != receive_done) return i;
      table.remove_done(*request);
      from = request;
    }
    if (statuses != MPI_STATUSES_IGNORE) Engine::receive_status(*from, &statuses[i]);
    handles[i] = MPI_REQUEST_NULL;
  }
  return count;
}

/// The rest of MPI_Waitall behind the first that have been retired.
[[gnu::noinline]] int wait_for_rest(int count, MPI_Request handles[], MPI_Status statuses[], int retired) {
  RequestArray requests;
  if (int code = requests.find(count, handles)) return code;
  const AwaitsRequests awaits(requests, false);
  if (!requests.all_complete()) engine().wait_until([&] { return requests.all_complete(); }, &awaits);
  return retire_all(requests, retired, statuses);
}

int some(int count, MPI_Request handles[], int* done_count, int indices[], MPI_Status statuses[],
         CallKind kind) {
  RequestArray requests;
  if (int code = requests.find(count, handles)) return code;
  if (int code = check_pointer(nullptr, done_count, "outcount")) return code;
  *done_count = MPI_UNDEFINED;
  if (!requests.any_active()) return MPI_SUCCESS;
  auto list = engine().take_index_list();
  decide_some(requests, kind, list);
  *done_count = static_cast<int>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) indices[i] = static_cast<int>(list[i]);
  const int code = retire_many(requests, list, statuses);
  engine().give_back(std::move(list));
  return code;
}

int any(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status, CallKind kind) {
  RequestArray requests;
  if (int code = requests.find(count, handles)) return code;
  if (int code = check_pointer(nullptr, index, "index")) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (!requests.any_active()) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  const int found = decide_any(requests, kind);
  *flag = found >= 0;
  if (found < 0) return MPI_SUCCESS;
  *index = found;
  return retire_and_report(requests.handle(found), *requests[found], status);
}

/// More than these are asked the longer way.
constexpr int asked_briefly_max = 16;

/// Whether a test of these finds nothing, which it has then recorded: receives of the usual kind, when
/// nothing at all is new to the rank. Programs ask so beside their work, each time for a little of it.
inline bool asks_in_vain(CallId id, int count, const MPI_Request handles[]) {
  Runtime* const runtime = runtime_if_any();
  if (!handles || count < 1 || count > asked_briefly_max || !BriefCall::is_possible(runtime)) return false;
  Engine& self = *runtime->engine;
  for (int i = 0; i < count; ++i) {
    const Request* request = self.requests().find_own(handles[i]);
    if (!request || request->state() != receive_begun) return false;
  }
  if (!self.is_nothing_new()) return false;
  const BriefCall call(*runtime, id);
  self.determinants().record_fruitless();
  return true;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Wait)
int PMPI_Wait(MPI_Request* handle, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Wait);
  if (int code = check_pointer(nullptr, handle, "request")) return code;
  Request* request = engine().requests().find(*handle);
  if (!request || request->kind == Request::Kind::message) [[unlikely]]
    if (int code = find_request(*handle, request)) return code;
  if (!is_active(request)) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  engine().wait(*request);
  return retire_and_report(*handle, *request, status);
}

LLAMADA_MPI_FUNCTION(Test)
int PMPI_Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  if (flag && asks_in_vain(CallId::Test, 1, handle)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  LLAMADA_MPI_ENTER(Test);
  if (int code = check_pointer(nullptr, handle, "request")) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  Request* request = nullptr;
  if (int code = find_request(*handle, request)) return code;
  *flag = 1;
  if (!is_active(request)) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  *flag = decide_one(*request, CallKind::test);
  if (!*flag) return MPI_SUCCESS;
  const bool is_pending = request->error == MPIX_ERR_PROC_FAILED_PENDING && request->queued;
  const int code = retire_and_report(*handle, *request, status);
  if (is_pending) *flag = 0;
  return code;
}

LLAMADA_MPI_FUNCTION(Request_get_status)
int PMPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Request_get_status);
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  Request* request = nullptr;
  if (int code = find_request(handle, request)) return code;
  *flag = 1;
  if (!is_active(request)) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  *flag = decide_one(*request, CallKind::get_status);
  if (!*flag) return MPI_SUCCESS;
  settle(*request);
  if (request->go_on_if_pending()) {
    *flag = 0;
    return report_loss(request->communicator, MPIX_ERR_PROC_FAILED_PENDING);
  }
  Engine::receive_status(*request, status);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Waitany)
int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Waitany);
  int flag = 0;
  return any(count, requests, index, &flag, status, CallKind::waitany);
}

LLAMADA_MPI_FUNCTION(Testany)
int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (index && flag && asks_in_vain(CallId::Testany, count, requests)) {
    *index = MPI_UNDEFINED;
    *flag = 0;
    return MPI_SUCCESS;
  }
  LLAMADA_MPI_ENTER(Testany);
  return any(count, requests, index, flag, status, CallKind::testany);
}

LLAMADA_MPI_FUNCTION(Waitall)
int PMPI_Waitall(int count, MPI_Request handles[], MPI_Status statuses[]) {
  LLAMADA_MPI_ENTER(Waitall);
  const int retired = handles && count > 0 ? wait_and_retire(count, handles, statuses) : 0;
  return retired == count ? MPI_SUCCESS : wait_for_rest(count, handles, statuses, retired);
}

LLAMADA_MPI_FUNCTION(Testall)
int PMPI_Testall(int count, MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  LLAMADA_MPI_ENTER(Testall);
  RequestArray requests;
  if (int code = requests.find(count, handles)) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  *flag = requests.any_active() ? decide_all(requests) : 1;
  return *flag ? retire_all(requests, 0, statuses) : MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Waitsome)
int PMPI_Waitsome(int count, MPI_Request requests[], int* done_count, int indices[], MPI_Status statuses[]) {
  LLAMADA_MPI_ENTER(Waitsome);
  return some(count, requests, done_count, indices, statuses, CallKind::waitsome);
}

LLAMADA_MPI_FUNCTION(Testsome)
int PMPI_Testsome(int count, MPI_Request requests[], int* done_count, int indices[], MPI_Status statuses[]) {
  LLAMADA_MPI_ENTER(Testsome);
  return some(count, requests, done_count, indices, statuses, CallKind::testsome);
}
