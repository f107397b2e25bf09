// Read and take: which samples, in which order, and what is said of each.
#include <algorithm>

#include "group_order.hpp"
#include "reader_cache.hpp"

namespace llamada::dcps {

std::vector<ReaderCache::Selected> ReaderCache::select(const ReadSelector& selector, bool take, Now now) {
  std::vector<Selected> found;
  select(selector, take, now, found);
  return found;
}

void ReaderCache::select(const ReadSelector& selector, bool take, Now now, std::vector<Selected>& found) {
  now_ = now;
  if (take && selector.selects_all() && take_all(selector.state, now, found)) return;
  found.clear();
  candidates(selector, now, found);
  arrange(selector, found);
  if (selector.max_samples != qos::length_unlimited &&
      found.size() > static_cast<std::size_t>(selector.max_samples)) {
    found.resize(static_cast<std::size_t>(selector.max_samples));
  }
  fill_infos(found);
  hand_out(found, take);
  if (!take || found.empty()) return;
  release_all_sets(now);
  take_in_aside(now);
}

bool ReaderCache::take_all(const DataState& states, Now now, std::vector<Selected>& found) {
  if (filled_.size() != 1 || orders_all() || !filled_.front()->matches(states)) return false;
  ReaderInstance& instance = *filled_.front();
  for (const CachedSample* sample : instance.samples)
    if (!is_seen(*sample, states.sample, now)) return false;
  now_ = now;
  take_whole_instance(instance, found);
  release_all_sets(now);
  take_in_aside(now);
  return true;
}

bool ReaderCache::any(const ReadSelector& selector, Now now) {
  if (selector.scope != ReadSelector::Scope::all) {
    std::vector<Selected> found;
    candidates(selector, now, found);
    return !found.empty();
  }
  return std::any_of(filled_.begin(), filled_.end(), [&](const ReaderInstance* instance) {
    return instance->matches(selector.state) &&
           std::any_of(instance->samples.begin(), instance->samples.end(),
                       [&](const CachedSample* sample) { return is_selected(*sample, selector, now); });
  });
}

void ReaderCache::visit_selected(const ReadSelector& selector, Now now,
                                 const std::function<void(const CachedSample&)>& visit) {
  std::vector<Selected> found;
  candidates(selector, now, found);
  for (const Selected& each : found) visit(*each.sample);
}

// All that the selector means; no more than its max_samples where the order in which they are found is that
// in which they are presented.
void ReaderCache::candidates(const ReadSelector& selector, Now now, std::vector<Selected>& found) {
  if (selector.scope == ReadSelector::Scope::next_instance) {
    if (ReaderInstance* instance = next_instance(selector, now)) collect(*instance, selector, now, found);
  } else if (selector.scope == ReadSelector::Scope::instance) {
    auto named = instances_.find(selector.instance);
    if (named != instances_.end()) collect(named->second, selector, now, found);
  } else {
    for (ReaderInstance* instance : filled_) collect(*instance, selector, now, found);
  }
}

// Whether all matching samples have to be seen before the first of them can be named.
bool ReaderCache::gathers_all(const ReadSelector& selector) const {
  return selector.before || (selector.scope == ReadSelector::Scope::all && orders_all());
}

// Whether the order in which samples are presented is not that in which instances hold them.
bool ReaderCache::orders_all() const {
  if (!options_.presentation.ordered_access) return false;
  // Within one instance the order of a group still differs from that of arrival.
  if (options_.presentation.access_scope == qos::PresentationAccessScope::group) return true;
  return options_.presentation.access_scope == qos::PresentationAccessScope::topic && filled_.size() > 1;
}

void ReaderCache::collect(ReaderInstance& instance, const ReadSelector& selector, Now now,
                          std::vector<Selected>& into) const {
  if (!instance.matches(selector.state)) return;
  const bool bounded = selector.max_samples != qos::length_unlimited && !gathers_all(selector);
  for (CachedSample* sample : instance.samples) {
    if (bounded && into.size() >= static_cast<std::size_t>(selector.max_samples)) return;
    if (is_selected(*sample, selector, now)) into.push_back({sample, {}});
  }
}

bool ReaderCache::is_selected(const CachedSample& sample, const ReadSelector& selector, Now now) const {
  if (!is_seen(sample, selector.state.sample, now)) return false;
  return !selector.matches || (sample.valid_data && selector.matches(sample.sample.data()));
}

ReaderInstance* ReaderCache::next_instance(const ReadSelector& selector, Now now) {
  auto next = selector.from_first_instance ? instances_.begin() : instances_.upper_bound(selector.instance);
  for (; next != instances_.end(); ++next) {
    ReaderInstance& instance = next->second;
    if (!instance.matches(selector.state)) continue;
    for (const CachedSample* sample : instance.samples) {
      if (is_selected(*sample, selector, now)) return &instance;
    }
  }
  return nullptr;
}

void ReaderCache::arrange(const ReadSelector& selector, std::vector<Selected>& found) const {
  const qos::Presentation& presentation = options_.presentation;
  if (selector.before) return arrange_by_query(selector, found);
  if (!gathers_all(selector)) return;
  if (presentation.access_scope == qos::PresentationAccessScope::group) {
    order_by_group(found, [](const Selected& each) {
      const CachedSample& sample = *each.sample;
      return GroupPlace{sample.writer.participant, sample.publisher, sample.sample.header().group_sequence,
                        sample.order};
    });
    return;
  }
  std::stable_sort(found.begin(), found.end(), [this](const Selected& a, const Selected& b) {
    if (by_source() && a.sample->source_timestamp != b.sample->source_timestamp) {
      return a.sample->source_timestamp < b.sample->source_timestamp;
    }
    return a.sample->order < b.sample->order;
  });
}

// Samples without data stand last.
void ReaderCache::arrange_by_query(const ReadSelector& selector, std::vector<Selected>& found) const {
  std::vector<std::pair<std::shared_ptr<const void>, Selected>> objects;
  objects.reserve(found.size());
  for (const Selected& each : found) {
    objects.emplace_back(each.sample->valid_data ? selector.object_of(each.sample->sample.data()) : nullptr,
                         each);
  }
  std::stable_sort(objects.begin(), objects.end(), [&](const auto& a, const auto& b) {
    if (!a.first || !b.first) return a.first && !b.first;
    return selector.before(a.first.get(), b.first.get());
  });
  for (std::size_t k = 0; k < found.size(); ++k) found[k] = objects[k].second;
}

namespace {

// What has been seen of an instance, from the collection's end.
struct Seen {
  std::int32_t count = 0;
  std::int32_t latest_generation = 0;
};

void fill_info(SampleInfo& info, const CachedSample& sample, const ReaderInstance& instance, Seen& seen) {
  const std::int32_t generation = sample.disposed_generation_count + sample.no_writers_generation_count;
  if (seen.count == 0) seen.latest_generation = generation;
  info.sample_state = sample.read ? sample_state::read : sample_state::not_read;
  info.view_state = instance.view();
  info.instance_state = instance.state();
  info.disposed_generation_count = sample.disposed_generation_count;
  info.no_writers_generation_count = sample.no_writers_generation_count;
  info.sample_rank = seen.count++;
  info.generation_rank = seen.latest_generation - generation;
  info.absolute_generation_rank = instance.generation() - generation;
  info.source_timestamp = sample.source_timestamp;
  info.reception_timestamp = sample.reception_timestamp;
  info.instance_handle = instance_handle(sample.instance);
  info.publication_handle = {sample.writer.participant, sample.writer.endpoint};
  info.valid_data = sample.valid_data;
  info.sequence_number = sample.sample.header().sequence_number;
  info.coherent_set = sample.sample.header().coherent_set;
}

}  // namespace

// The ranks count what follows in the collection, so it is gone through from its end.
void ReaderCache::fill_infos(std::vector<Selected>& found) const {
  const bool is_one = std::all_of(found.begin(), found.end(), [&](const Selected& each) {
    return each.sample->instance == found.front().sample->instance;
  });
  if (is_one) return fill_infos_of_one(found);
  std::map<std::uint64_t, Seen> seen;
  for (auto each = found.rbegin(); each != found.rend(); ++each) {
    const CachedSample& sample = *each->sample;
    fill_info(each->info, sample, instances_.at(sample.instance), seen[sample.instance]);
  }
}

void ReaderCache::fill_infos_of_one(std::vector<Selected>& found) const {
  if (found.empty()) return;
  const ReaderInstance& instance = instances_.at(found.front().sample->instance);
  Seen seen;
  for (auto each = found.rbegin(); each != found.rend(); ++each)
    fill_info(each->info, *each->sample, instance, seen);
}

void ReaderCache::lend(CachedSample& sample, ReaderInstance& instance) {
  sample.read = true;
  sample.sample.let_evacuate(false);
  ++sample.loans;
  ++loan_count_;
  instance.given_through = std::max(instance.given_through, sample.source_timestamp);
  if (sample.disposed_generation_count + sample.no_writers_generation_count == instance.generation())
    instance.viewed();
}

void ReaderCache::hand_out(std::vector<Selected>& found, bool take) {
  ReaderInstance* last = nullptr;
  std::vector<ReaderInstance*> touched;  // but the last
  for (Selected& each : found) {
    CachedSample* sample = each.sample;
    ReaderInstance& instance = instances_.at(sample->instance);
    lend(*sample, instance);
    if (!take) continue;
    if (last != nullptr && last != &instance) touched.push_back(last);
    last = &instance;
    if (instance.samples.front() == sample) {
      instance.samples.pop_front();
    } else {
      instance.samples.erase(std::find(instance.samples.begin(), instance.samples.end(), sample));
    }
    let_go(instance, sample);
  }
  if (touched.empty()) {
    if (last != nullptr) forget_if_done(*last);
    return;
  }
  touched.push_back(last);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (ReaderInstance* instance : touched) forget_if_done(*instance);
}

void ReaderCache::take_whole_instance(ReaderInstance& instance, std::vector<Selected>& found) {
  found.resize(instance.samples.size());  // all fields are written below, and by who asks for the data
  Seen seen;
  for (std::size_t k = found.size(); k-- > 0;) {
    found[k].sample = instance.samples[k];
    fill_info(found[k].info, *found[k].sample, instance, seen);
  }
  instance.samples.clear();
  for (const Selected& each : found) {
    lend(*each.sample, instance);
    let_go(instance, each.sample);
  }
  forget_if_done(instance);
}

}  // namespace llamada::dcps
