#include "llamada/dcps/publisher.hpp"

#include <algorithm>

#include "core.hpp"
#include "llamada/dcps/domain_participant.hpp"

namespace llamada::dcps {

Publisher::Publisher(std::shared_ptr<detail::Core> core, Entity* participant, std::uint64_t number,
                     const qos::PublisherQos& qos)
    : ConfiguredEntity(std::move(core), participant, qos), number_(number) {}

Publisher::~Publisher() = default;

std::shared_ptr<DomainParticipant> Publisher::participant() const {
  Lock held = lock();
  return parent_ == nullptr ? nullptr
                            : std::static_pointer_cast<DomainParticipant>(parent_->shared_from_this());
}

void Publisher::enable_children() {
  for (const auto& writer : writers_) (void)writer->enable_locked();
}

Result<std::shared_ptr<DataWriter>> Publisher::create_datawriter(const std::shared_ptr<Topic>& topic,
                                                                 const qos::DataWriterQos& qos,
                                                                 DataWriterListener* listener,
                                                                 StatusMask mask) {
  if (Status status = check_creatable(qos); !status) return propagate(status);
  Lock held = lock();
  if (Status status = check_child_of_topic(topic.get()); !status) return propagate(status);
  auto writer = std::shared_ptr<DataWriter>(new DataWriter(shared_core(), *this, topic, qos));
  writer->made(listener, mask);
  if (Status status = writer->enable_if_wanted(); !status) return propagate(status);
  writers_.push_back(writer);
  ++topic->use_count_;
  return writer;
}

Status Publisher::delete_datawriter(const std::shared_ptr<DataWriter>& writer) {
  Lock held = lock();
  if (!writer || std::find(writers_.begin(), writers_.end(), writer) == writers_.end()) {
    return failure(Errc::precondition_not_met, "the writer is not of this publisher");
  }
  remove(held, writer);
  return {};
}

void Publisher::remove(Lock& held, std::shared_ptr<DataWriter> writer) {
  if (std::erase(writers_, writer) == 0) return;
  writer->leave(held);
  --writer->topic()->use_count_;
}

std::shared_ptr<DataWriter> Publisher::lookup_datawriter(const std::string& topic_name) const {
  Lock held = lock();
  for (const auto& writer : writers_) {
    if (writer->topic()->name() == topic_name) return writer;
  }
  return nullptr;
}

std::vector<std::shared_ptr<DataWriter>> Publisher::datawriters() const {
  Lock held = lock();
  return writers_;
}

Status Publisher::delete_contained_entities() {
  Lock held = lock();
  while (!writers_.empty()) remove(held, writers_.back());
  return {};
}

Status Publisher::apply_qos(const qos::PublisherQos& qos) {
  for (const auto& writer : writers_) {
    if (Status status = writer->update_endpoint_qos(writer->qos_, qos); !status) return status;
  }
  return {};
}

Status Publisher::suspend_publications() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  ++suspend_depth_;
  return {};
}

Status Publisher::resume_publications() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (suspend_depth_ == 0)
    return failure(Errc::precondition_not_met, "there is no suspend_publications() to resume");
  --suspend_depth_;
  return {};
}

Status Publisher::begin_coherent_changes() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (coherent_depth_++ == 0 && qos_.presentation.coherent_access) ++coherent_set_;
  return {};
}

Status Publisher::end_coherent_changes() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (coherent_depth_ == 0) {
    return failure(Errc::precondition_not_met, "there is no begin_coherent_changes() to end");
  }
  if (--coherent_depth_ > 0 || !qos_.presentation.coherent_access) return {};
  Status result;
  const auto writers = writers_;  // the lock may be let go while one waits for room
  for (const auto& writer : writers) {
    Status status = writer->end_coherent_set(held, coherent_set_, is_group());
    if (!status && result) result = std::move(status);
  }
  return result;
}

Status Publisher::wait_for_acknowledgments(Duration at_most) {
  const auto deadline = after(core().now().monotonic, at_most);
  std::unique_lock held = lock();
  if (Status status = check_usable(); !status) return status;
  const auto writers = writers_;
  held.unlock();
  for (const auto& writer : writers) {
    const Duration left = deadline == never ? deadline : deadline - core().now().monotonic;
    if (!writer->is_enabled()) continue;
    if (Status status = writer->wait_for_acknowledgments(std::max(left, Duration::zero())); !status)
      return status;
  }
  return {};
}

qos::DataWriterQos Publisher::default_datawriter_qos() const {
  Lock held = lock();
  return default_datawriter_qos_;
}

Status Publisher::set_default_datawriter_qos(const qos::DataWriterQos& qos) {
  return set_default(default_datawriter_qos_, qos);
}

}  // namespace llamada::dcps
