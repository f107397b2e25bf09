#include "p2p/progress.hpp"

#include <utility>

namespace llamada::mpi {

bool Progress::go_on() {
  bool done = carry();
  direct_.gather();
  done |= incoming_.poll();
  done |= outgoing_.advance();
  done |= direct_.advance();
  if (!tasks_.empty()) done |= step_tasks();
  receiving_.look_at_outcomes();
  return done;
}

bool Progress::go_on_with(int from, Stream& stream) {
  // Large messages that came together become one copy here, too.
  direct_.gather();
  const bool taken = incoming_.drain(from, stream);
  direct_.advance();
  return taken;
}

bool Progress::anything_new() {
  return carry() || incoming_.ready() || direct_.anything_new() || outgoing_.advance() ||
         (!tasks_.empty() && step_tasks());
}

Request& Progress::add_task(std::unique_ptr<Task> task) {
  Request& request = requests_.add();
  request.kind = Request::Kind::task;
  request.communicator = task->communicator();
  request.keep().communicator = Reference<Communicator>(request.communicator);
  request.kept->task = std::move(task);
  return request;
}

Request& Progress::start_task(std::unique_ptr<Task> task) {
  Request& request = add_task(std::move(task));
  begin_task(request);
  return request;
}

Request& Progress::add_persistent_task(std::unique_ptr<Task> task) {
  Request& request = add_task(std::move(task));
  request.persistent = true;
  return request;
}

void Progress::begin_task(Request& request) {
  request.begin();
  if (request.kept->task->step())
    requests_.complete(request);
  else
    tasks_.push_back(&request);
}

/// True when one of them has become complete.
bool Progress::step_tasks() {
  if (stepping_) return false;
  stepping_ = true;
  bool any_complete = false;
  // A step may begin further tasks, which are appended.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Request& request = *tasks_[i];
    if (!request.kept->task->step()) continue;
    tasks_[i] = nullptr;
    requests_.complete(request);
    any_complete = true;
  }
  if (any_complete) std::erase(tasks_, nullptr);
  stepping_ = false;
  return any_complete;
}

}  // namespace llamada::mpi
