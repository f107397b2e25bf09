// Which samples a read means, and the conditions that say so.
#include <algorithm>

#include "core.hpp"
#include "llamada/dcps/data_reader.hpp"
#include "reader_cache.hpp"

namespace llamada::dcps {

Result<ReadSelector> DataReader::selector_of(const ReadOptions& options) const {
  if (options.max_samples < 0 && options.max_samples != qos::length_unlimited) {
    return failure(Errc::invalid_argument, "max_samples is {}", options.max_samples);
  }
  ReadSelector selector;
  if (options.condition) {
    if (std::find(conditions_.begin(), conditions_.end(), options.condition) == conditions_.end()) {
      return failure(Errc::precondition_not_met, "topic '{}': the condition is not one of this reader",
                     topic_->name());
    }
    selector = selector_of(*options.condition);
  } else {
    selector.state = options.state;
  }
  selector.max_samples = options.max_samples;
  if (options.next_instance) {
    const InstanceHandle behind = options.instance.value_or(handle_nil);
    selector.scope = ReadSelector::Scope::next_instance;
    selector.instance = behind.low;
    selector.from_first_instance = behind.is_nil();
  } else if (options.instance) {
    if (Status status = check_instance(*options.instance); !status) return propagate(status);
    selector.scope = ReadSelector::Scope::instance;
    selector.instance = options.instance->low;
  }
  return selector;
}

// DDS 1.4, 2.2.2.5.3.14: HANDLE_NIL and unknown handles are bad parameters.
Status DataReader::check_instance(InstanceHandle instance) const {
  if (instance.is_nil()) {
    return failure(Errc::invalid_argument,
                   "topic '{}': the instance handle is nil and names no instance; lookup_instance() gives it "
                   "for a key that the reader does not know",
                   topic_->name());
  }
  if (instance == dcps::instance_handle(instance.low) && cache_->knows_instance(instance.low)) return {};
  return failure(Errc::not_found, "topic '{}': the reader knows no instance with this handle",
                 topic_->name());
}

ReadSelector DataReader::selector_of(const ReadCondition& condition) const {
  ReadSelector selector;
  selector.state = condition.state();
  const std::optional<sql::Filter> query = condition.query();
  if (!query) return selector;
  selector.matches = [query = *query](std::span<const std::byte> sample) {
    const auto matches = query.matches(sample);
    return matches && *matches;
  };
  if (!query->is_ordered()) return selector;
  selector.before = [query = *query](const void* a, const void* b) { return query.before(a, b); };
  selector.object_of = [type = topic_->type()](std::span<const std::byte> sample) {
    auto object = type->object_of(sample);
    return object ? std::move(*object) : std::shared_ptr<const void>();
  };
  return selector;
}

bool DataReader::has_samples(const ReadCondition& condition) {
  Lock held = lock();
  return enabled_ && !deleted_ && !cache_->is_empty() && cache_->any(selector_of(condition), core().now());
}

Result<std::shared_ptr<ReadCondition>> DataReader::create_readcondition(const DataState& state) {
  Lock held = lock();
  if (Status status = check_open(); !status) return propagate(status);
  auto self = std::static_pointer_cast<DataReader>(shared_from_this());
  conditions_.push_back(std::shared_ptr<ReadCondition>(new ReadCondition(self, state)));
  return conditions_.back();
}

Result<std::shared_ptr<QueryCondition>> DataReader::create_querycondition(
    const DataState& state, const std::string& expression, std::vector<std::string> parameters) {
  auto query = sql::Filter::parse_query(expression, parameters, *topic_->type());
  if (!query) return propagate(query);
  Lock held = lock();
  if (Status status = check_open(); !status) return propagate(status);
  auto self = std::static_pointer_cast<DataReader>(shared_from_this());
  std::shared_ptr<QueryCondition> condition(new QueryCondition(self, state, *query, topic_->type()));
  conditions_.push_back(condition);
  return condition;
}

Status DataReader::delete_readcondition(const std::shared_ptr<ReadCondition>& condition) {
  Lock held = lock();
  if (std::erase(conditions_, condition) > 0) return {};
  return failure(Errc::precondition_not_met, "topic '{}': the condition is not one of this reader",
                 topic_->name());
}

}  // namespace llamada::dcps
