#include "job_shared.hpp"

namespace llamada::launcher {
namespace {

using Kind = SharedQuestion::Kind;

constexpr std::uint32_t services = 0, ports = 1;

SharedAnswer answer_of(const Status& status) {
  SharedAnswer answer;
  answer.done = status.has_value();
  if (!status) answer.code = status.error().code();
  return answer;
}

SharedAnswer moved(std::uint64_t before) {
  SharedAnswer answer;
  answer.done = true;
  answer.before = before;
  return answer;
}

std::uint64_t after(const SharedQuestion& question, std::uint64_t before) {
  if (question.kind == Kind::add) return before + question.operand;
  return question.kind == Kind::set ? question.operand : before;
}

}  // namespace

SharedAnswer JobShared::answer(std::uint32_t slot, const SharedQuestion& question) {
  if (question.kind == Kind::release) return release(slot, question.number_name);
  if (!question.is_about_name()) return move(slot, question);
  SharedAnswer answer = answer_about_name(slot, question);
  answer.is_about_name = true;
  return answer;
}

SharedAnswer JobShared::answer_about_name(std::uint32_t slot, const SharedQuestion& question) {
  const std::uint32_t space = question.is_port ? ports : services;
  if (question.kind == Kind::publish)
    return answer_of(names_.publish(space, question.name, question.value, slot));
  if (question.kind == Kind::withdraw) return answer_of(names_.withdraw(space, question.name));
  const auto found = names_.look_up(space, question.name);
  SharedAnswer answer;
  answer.done = found.has_value();
  if (found) answer.value = *found;
  return answer;
}

SharedAnswer JobShared::move(std::uint32_t slot, const SharedQuestion& question) {
  if (numbers_.size() >= numbers_max && !numbers_.contains(question.number_name))
    return answer_of(failure(Errc::out_of_resources, "there are {} shared numbers", numbers_.size()));
  SharedNumber& number = numbers_[question.number_name];
  SharedNumber::Last& last = number.members[slot];
  const bool is_change = question.kind != Kind::read;
  // A rank whose predecessor has heard the answer, or has not, asks the same again.
  if (is_change && last.operation == question.operation) return moved(last.before);
  const std::uint64_t before = number.value;
  number.value = after(question, before);
  if (is_change) last = {question.operation, before};
  return moved(before);
}

SharedAnswer JobShared::release(std::uint32_t slot, std::uint64_t number) {
  const auto found = numbers_.find(number);
  if (found == numbers_.end()) return moved(0);
  const std::uint64_t value = found->second.value;
  found->second.members.erase(slot);
  if (found->second.members.empty()) numbers_.erase(found);
  return moved(value);
}

void JobShared::rank_ended(std::uint32_t slot) { names_.drop(ports, slot); }

void JobShared::rank_done(std::uint32_t slot) {
  rank_ended(slot);
  for (auto& [name, number] : numbers_) number.members.erase(slot);
  std::erase_if(numbers_, [](const auto& entry) { return entry.second.members.empty(); });
}

}  // namespace llamada::launcher
