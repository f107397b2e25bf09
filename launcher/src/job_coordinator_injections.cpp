#include <algorithm>
#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/host_list.hpp"

// Failures that a test asks for: the rules of --inject, and those of `llamada inject`.

namespace llamada::launcher {

Status JobCoordinator::prepare_injections() {
  std::vector<InjectRule> rules;
  for (const std::string& text : job_.inject_rules) {
    auto rule = parse_inject_rule(text);
    if (!rule) return propagate(rule);
    if (auto status = check_node_of(*rule); !status) return status;
    if (rule->deed == InjectDeed::cut && job_.link == LinkWish::ethernet)
      return failure(Errc::incompatible,
                     "--inject '{}': raw Ethernet cannot be cut; leave out --link ethernet", rule->text);
    if (rule->deed == InjectDeed::cut) job_.link = LinkWish::udp;
    rules.push_back(std::move(*rule));
  }
  injector_ = std::make_unique<Injector>(loop_, std::move(rules), hands());
  return {};
}

/// The node that a rule names; nothing: there is none.
std::optional<std::uint32_t> JobCoordinator::node_named(std::string_view name) const {
  const auto found = std::ranges::find(job_.nodes, name, &control::Node::name);
  auto node = static_cast<std::uint32_t>(found - job_.nodes.begin());
  if (found == job_.nodes.end() && is_this_host(name, {}, {})) node = control::own_node_of(job_.nodes);
  return node < job_.nodes.size() ? std::optional(node) : std::nullopt;
}

Status JobCoordinator::check_node_of(const InjectRule& rule) const {
  // Where the ranks start again, hosts have changed.
  if (rule.target != InjectTarget::node || restart_.lost_at) return {};
  for (const std::string& name : {rule.name, rule.from})
    if (!name.empty() && !node_named(name))
      return failure(Errc::invalid_argument,
                     "--inject '{}': the job has no node '{}' (--host names its nodes)", rule.text, name);
  if (rule.name == rule.from)
    return failure(Errc::invalid_argument, "--inject '{}': a node cannot be cut off itself", rule.text);
  if (rule.deed == InjectDeed::cut || !job_.nodes[*node_named(rule.name)].agent.empty()) return {};
  return failure(Errc::invalid_argument, "--inject '{}': that is mpirun's own node{}", rule.text,
                 rule.deed == InjectDeed::kill ? "; use 'kill driver' to kill its llamanetd" : "");
}

Injector::Hands JobCoordinator::hands() {
  Injector::Hands hands;
  hands.signal = [this](std::uint32_t slot, int signal) {
    const JobRank* rank = rank_at(slot);
    if (!rank || rank->phase != RankPhase::running || rank->pid == 0) return false;
    tell_node_(node::SignalRank{slot, signal, false});
    return true;
  };
  hands.is_replaying = [this](std::uint32_t slot) {
    const JobRank* rank = rank_at(slot);
    return rank && rank->open_death;
  };
  // Nobody can tell of it afterwards: llamanetd has the report, and mpirun writes it.
  hands.kill_driver = [this](const std::string& rule) {
    say(fmt::format("mpirun: --inject '{}' kills llamanetd now.\n", rule));
    complete_report();
    tell_mpirun_(control::Finished{exit_launcher, report_to_json(report_)});
    tell_node_(node::Die{});
  };
  hands.hit_node = [this](const InjectRule& rule, const std::string& text) {
    const auto node = node_named(rule.name);
    if (!node) return;
    if (rule.deed == InjectDeed::cut) return cut(*node, rule, text);
    const bool kills = rule.deed == InjectDeed::kill;
    say(fmt::format("mpirun: --inject '{}' {} all processes of the node '{}' now.\n", text,
                    kills ? "kills" : "stops", rule.name));
    if (kills)
      tell_node_(node::KillNode{*node});
    else
      tell_node_(node::PauseNode{*node, rule.length->count()});
  };
  hands.kill_mpirun = [this](const std::string& rule) {
    say(fmt::format("mpirun: --inject '{}' kills mpirun now.\n", rule));
    tell_mpirun_(control::Die{});
  };
  hands.limit_log = [this](std::uint64_t size_bytes) { tell_node_(node::LimitLog{size_bytes}); };
  return hands;
}

void JobCoordinator::cut(std::uint32_t node, const InjectRule& rule, const std::string& text) {
  const auto other = node_named(rule.from);
  if (!rule.from.empty() && !other) return;
  const bool has_end = rule.length.has_value();
  say(fmt::format("mpirun: --inject '{}' cuts the network of the node '{}' now.\n", text, rule.name));
  const std::int64_t length_ns = has_end ? rule.length->count() : 0;
  std::vector<std::uint32_t> others;
  for (std::uint32_t each = 0; each < job_.nodes.size(); ++each)
    if (each != node && each == other.value_or(each)) others.push_back(each);
  for (const std::uint32_t each : others)
    if (!rule.is_one_way) tell_node_(node::CutNode{each, {node}, length_ns});
  tell_node_(node::CutNode{node, std::move(others), length_ns});
  if (has_end)
    loop_.after(*rule.length,
                [this, text] { say(fmt::format("mpirun: the cut by --inject '{}' is over.\n", text)); });
}

void JobCoordinator::on(node::InjectWanted&& message) {
  if (const auto move = parse_move_request(message.rule)) {
    const auto answer = answer_to(*move);
    return tell_node_(
        node::AnswerInject{message.question, {answer.has_value(), answer ? *answer : answer.error().text()}});
  }
  auto rule = accept_injection(message.rule);
  if (!rule) return tell_node_(node::AnswerInject{message.question, {false, rule.error().text()}});
  const std::string text = injector_->add(std::move(*rule));
  say(fmt::format("mpirun: llamada inject: '{}'.\n", text));
  tell_node_(node::AnswerInject{message.question, {true, text}});
}

/// A rule for a job that runs already.
Result<InjectRule> JobCoordinator::accept_injection(const std::string& text) {
  if (ending_code_ || ranks_.empty())
    return failure(Errc::closed, "the job is {}", ending_code_ ? "ending" : "not running yet");
  auto rule = parse_inject_rule(text);
  if (!rule) return rule;
  if (is_mpi_function_)
    if (auto status = check_function(*rule, is_mpi_function_); !status) return propagate(status);
  if (auto status = check_has_log(*rule, profile_, job_.profile_label); !status) return propagate(status);
  if (rule->target == InjectTarget::rank && rule->rank >= job_.rank_count)
    return failure(Errc::invalid_argument, "'{}': the job has only the ranks 0 to {}", text,
                   job_.rank_count - 1);
  if (auto status = check_node_of(*rule); !status) return propagate(status);
  if (rule->deed == InjectDeed::cut && job_.link != LinkWish::udp)
    return failure(Errc::unsupported,
                   "'{}': raw Ethernet cannot be cut, and the job may use it; start it with --link udp",
                   text);
  if (!rule->is_by_rank()) return rule;
  if (rule->trigger == InjectTrigger::at_step && !injector_->needs_crash_points())
    return failure(
        Errc::unsupported,
        "'{}': the job runs without crash points; a rule with 'at step' works only as mpirun --inject", text);
  const std::uint32_t present = rule->target == InjectTarget::rank ? ranks_[rule->rank].incarnation : 0;
  if (rule->target != InjectTarget::rank || rule->incarnation.value_or(0) <= present)
    return failure(Errc::unsupported,
                   "'{}': in a running job, a rule for an MPI call must name a rank and one of its next "
                   "incarnations{}; a rule with 'after' needs neither",
                   text, present == 0 ? std::string() : fmt::format(", as 'of incarnation {}'", present + 1));
  return rule;
}

void JobCoordinator::tell_of_injections() {
  for (const InjectionRecord& injection : report_.injections)
    if (!injection.fired) say(fmt::format("mpirun: the rule --inject '{}' never fired.\n", injection.rule));
}

}  // namespace llamada::launcher
