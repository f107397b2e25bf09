#pragma once

#include "llamada/launcher/job_control.hpp"
#include "message_stream.hpp"

// The fields of each message between mpirun and llamanetd, listed once for both directions, in the order of
// docs/internals/job-control.md.

namespace llamada::launcher::control {

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Node>& node) {
  coder.text(node.name);
  coder.texts(node.agent);
  coder.numbers(node.slots, node.max_slots);
  coder.text(node.place);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Storing>& storing) {
  coder.text(storing.checkpoints);
  coder.text(storing.directory);
  coder.numbers(storing.is_resumed, storing.token);
  coder.texts(storing.words);
  coder.texts(storing.environment);
  coder.text(storing.working_directory);
  coder.numbers(storing.file_mode_mask);
  coder.text(storing.processor);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Start>& message) {
  coder.numbers(message.rank_count, message.job_number);
  coder.text(message.program);
  coder.texts(message.arguments);
  coder.texts(message.environment);
  coder.text(message.working_directory);
  coder.text(message.profile);
  coder.text(message.profile_label);
  coder.texts(message.inject_rules);
  coder.text(message.crash_point_library_directory);
  coder.numbers(message.binding, message.mapping, message.report_bindings);
  coder.numbers(message.print_exit_codes, message.verbose, message.ends_at_deadlock);
  coder.list(message.nodes, as_fields);
  coder.texts(message.programs);
  coder.list(message.node_of_rank, as_number);
  coder.choice(message.link, LinkWish::ethernet);
  coder.numbers(message.deals_by_node);
  coder.numbers(message.is_adopted);
  coder.numbers(message.checks_nodes);
  fields(coder, message.storing);
  coder.list(message.spares, as_fields);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Input>& message) {
  coder.text(message.bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Signal>& message) {
  coder.numbers(message.number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<End>& message) {
  coder.numbers(message.exit_code, message.kill, message.explain);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<InputTaken>& message) {
  coder.numbers(message.size_bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Output>& message) {
  coder.numbers(message.rank, message.stream);
  coder.text(message.bytes);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Notice>& message) {
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Finished>& message) {
  coder.numbers(message.exit_code);
  coder.text(message.report);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<World>& message) {
  coder.numbers(message.first, message.count, message.number);
  coder.texts(message.hosts);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<Die>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<OutputShown>& message) {
  coder.numbers(message.rank, message.stream, message.size_bytes);
}

}  // namespace llamada::launcher::control
