// The uses of samples, instances and conditions that the ISO C++ PSM has: what each is, and that it does it.

#include "psm_uses.hpp"

using namespace dds_test;
using namespace dds::core;
using namespace dds::core::policy;
using dds::sub::status::DataState;
using dds::sub::status::InstanceState;
using dds::topic::TopicInstance;

namespace {

/// As `w` of the fixture, whose samples `r` has at once: they are of one participant.
std::vector<std::int32_t> values(const std::vector<dds::sub::Sample<S>>& samples) {
  std::vector<std::int32_t> all;
  for (const auto& each : samples) all.push_back(each.data().v);
  return all;
}

dds::pub::DataWriter<S>& write_seven(dds::pub::DataWriter<S>& writer) { return writer << S{7, 7}; }

}  // namespace

TEST_CASE_METHOD(Uses, "psm: writing", "[dds]") {
  const Time moment(1000, 5);
  const auto one = w.register_instance(S{1, 0});
  SECTION("write(sample, timestamp)") {
    w.write(S{1, 1}, moment);
    CHECK(take(r, 1)[0].info().timestamp() == moment);
  }
  SECTION("write(sample, handle)") {
    w.write(S{1, 1}, one);
    w.write(S{1, 2}, w.lookup_instance(S{1, 0}));
    CHECK(values(take(r, 2)) == std::vector<std::int32_t>{1, 2});
    CHECK_THROWS_AS(w.write(S{2, 1}, one), PreconditionNotMetError);
  }
  SECTION("write(sample, handle, timestamp)") {
    w.write(S{1, 1}, one, moment);
    CHECK(take(r, 1)[0].info().timestamp() == moment);
  }
  SECTION("write(begin, end)") {
    const std::vector<S> samples{{1, 1}, {2, 2}};
    w.write(samples.begin(), samples.end());
    CHECK(values(take(r, 2)) == std::vector<std::int32_t>{1, 2});
  }
  SECTION("write(begin, end, timestamp)") {
    const std::vector<S> samples{{1, 1}, {2, 2}};
    w.write(samples.begin(), samples.end(), moment);
    CHECK(take(r, 2)[1].info().timestamp() == moment);
  }
  SECTION("write(begin, end, handles, timestamp)") {
    const std::vector<S> samples{{1, 1}, {1, 2}, {1, 3}};
    const std::vector<InstanceHandle> handles{one, one};
    w.write(samples.begin(), samples.end(), handles.begin(), handles.end(), moment);
    w.write(samples.begin() + 2, samples.end(), handles.begin(), handles.end());
    const auto taken = take(r, 3);
    CHECK(values(taken) == std::vector<std::int32_t>{1, 2, 3});
    CHECK(taken[1].info().timestamp() == moment);
    CHECK(taken[2].info().timestamp() != moment);
  }
  SECTION("write(TopicInstance)") {
    const TopicInstance<S> instance(one, S{1, 4});
    w.write(instance);
    w.write(instance, moment);
    w << instance;
    const auto taken = take(r, 3);
    CHECK(values(taken) == std::vector<std::int32_t>{4, 4, 4});
    CHECK(taken[1].info().timestamp() == moment);
    CHECK(static_cast<InstanceHandle>(instance) == one);
  }
  SECTION("writer << sample << pair << manipulator") {
    w << S{1, 1} << std::make_pair(S{1, 2}, moment) << std::make_pair(S{1, 3}, one) << write_seven;
    const auto taken = take(r, 4);
    CHECK(values(taken) == std::vector<std::int32_t>{1, 2, 3, 7});
    CHECK(taken[1].info().timestamp() == moment);
  }
  SECTION("writer << qos << sample") {
    w << w.qos() << S{1, 1};
    CHECK(take(r, 1).size() == 1);
  }
  SECTION("loan_sample") {
    auto loan = w.loan_sample();
    *loan = S{1, 9};
    w.write(std::move(loan));
    CHECK(take(r, 1)[0].data().v == 9);
  }
}

TEST_CASE_METHOD(Uses, "psm: the life of instances", "[dds]") {
  const auto later = p.current_time() + Duration(1);
  const auto ended = [&](std::size_t count) {
    const auto samples = take(r, count);
    CHECK_FALSE(samples.back().info().valid());
    return samples.back().info();
  };
  SECTION("register_instance(key, timestamp)") {
    const auto handle = w.register_instance(S{1, 0}, later);
    CHECK_FALSE(handle.is_nil());
    CHECK(w.lookup_instance(S{1, 5}) == handle);
    CHECK(w.lookup_instance(S{2, 0}).is_nil());
  }
  SECTION("unregister_instance(handle)") {
    w << S{1, 1};
    w.unregister_instance(w.lookup_instance(S{1, 0}));
    CHECK(w.lookup_instance(S{1, 0}).is_nil());
    CHECK(ended(2).state().instance_state() == InstanceState::not_alive_disposed());  // autodispose
  }
  SECTION("unregister_instance(handle, timestamp)") {
    w << S{1, 1};
    w.unregister_instance(w.lookup_instance(S{1, 0}), later);
    CHECK(ended(2).timestamp() == later);
  }
  SECTION("unregister_instance(key, timestamp)") {
    w << S{1, 1};
    w.unregister_instance(S{1, 0}, later);
    CHECK(ended(2).timestamp() == later);
    CHECK_THROWS_AS(w.unregister_instance(S{1, 0}), PreconditionNotMetError);
  }
  SECTION("dispose_instance(handle, timestamp)") {
    w << S{1, 1};
    w.dispose_instance(w.lookup_instance(S{1, 0}), later);
    const auto info = ended(2);
    CHECK(info.state().instance_state() == InstanceState::not_alive_disposed());
    CHECK(info.timestamp() == later);
    CHECK_FALSE(w.lookup_instance(S{1, 0}).is_nil());
  }
  SECTION("dispose_instance(key, timestamp)") {
    w << S{1, 1};
    w.dispose_instance(S{1, 0}, later).unregister_instance(S{1, 0});
    CHECK(ended(2).state().instance_state() == InstanceState::not_alive_disposed());
  }
  SECTION("key_value(sample, handle)") {
    S sample;
    CHECK(w.key_value(sample, w.register_instance(S{3, 9})).k == 3);
    CHECK(sample.v == 0);
  }
  SECTION("key_value(TopicInstance, handle)") {
    TopicInstance<S> instance;
    const auto handle = w.register_instance(S{3, 9});
    CHECK(w.key_value(instance, handle).sample().k == 3);
    CHECK(instance.handle() == handle);
  }
}

TEST_CASE_METHOD(Uses, "psm: reading and taking", "[dds]") {
  w << S{1, 1} << S{2, 2} << S{3, 3};
  CHECK(eventually([&] { return r.read().length() == 3; }));
  using Samples = std::vector<dds::sub::Sample<S>>;
  Samples v;
  SECTION("read(), take()") {
    CHECK(r.read().length() == 3);
    CHECK(r.take().length() == 3);
    CHECK(r.read().length() == 0);
  }
  SECTION("read(back_inserter)") {
    CHECK(r.read(std::back_inserter(v)) == 3);
    CHECK(values(v) == std::vector<std::int32_t>{1, 2, 3});
    CHECK(r.read().length() == 3);
  }
  SECTION("take(back_inserter)") {
    CHECK(r.take(std::back_inserter(v)) == 3);
    CHECK(values(v) == std::vector<std::int32_t>{1, 2, 3});
    CHECK(r.read().length() == 0);
  }
  SECTION("take(iterator, max)") {
    v.resize(10);
    CHECK(r.take(v.begin(), 2) == 2);
    CHECK(v[1].data().v == 2);
    CHECK(r.read(v.begin(), 10) == 1);
    CHECK(v[0].data().v == 3);
    CHECK(r.take(v.begin(), 0) == 0);
  }
  SECTION("select().max_samples().take(iterator, max)") {
    v.resize(10);
    CHECK(r.select().max_samples(2).read(v.begin(), 10) == 2);
    CHECK(r.select().max_samples(2).take(v.begin(), 1) == 1);
    CHECK(r.select().max_samples(5).take(std::back_inserter(v)) == 2);
    CHECK(v[10].data().v + v[11].data().v == 5);
  }
  SECTION("select().state().instance().take()") {
    const auto two = r.lookup_instance(S{2, 0});
    CHECK(r.select().state(DataState::new_data()).instance(two).take().length() == 0);
    CHECK(r.select().state(DataState::any()).instance(two).take().length() == 1);
  }
  SECTION("select().next_instance()") {
    const auto first = r.select().next_instance(InstanceHandle::nil()).take();
    REQUIRE(first.length() == 1);
    const auto next = r.select().next_instance(first[0].info().instance_handle()).take();
    REQUIRE(next.length() == 1);
    CHECK(next[0].data().k != first[0].data().k);
  }
  SECTION("select().content(Query)") {
    CHECK(r.select().content(dds::sub::Query(r, "v > 1")).take().length() == 2);
  }
  SECTION("select().condition(ReadCondition)") {
    dds::sub::cond::ReadCondition c(r, DataState::any());
    CHECK(r.select().condition(c).take().length() == 3);
  }
  SECTION("Query parameters(begin, end)") {
    const std::vector<std::string> parameters{"1", "3"};
    dds::sub::Query q(r, "v > %0 AND v < %1", parameters.begin(), parameters.end());
    CHECK(r.select().content(q).read().length() == 1);
    CHECK(std::vector<std::string>(q.begin(), q.end()) == parameters);
    for (auto& each : q) each = "2";
    CHECK(r.select().content(q).read().length() == 0);
    q.expression("v > %0");
    CHECK(r.select().content(q).read().length() == 1);
    CHECK(q.data_reader() == r);
  }
  SECTION("LoanedSamples iterators") {
    const auto samples = r.read();
    std::int32_t sum = 0;
    for (dds::sub::LoanedSamples<S>::const_iterator each = samples.begin(); each != samples.end(); ++each)
      sum += each->data().v;
    CHECK(sum == 6);
  }
  SECTION("Sample of a SampleRef") {
    for (const auto& each : r.take()) v.push_back(each);
    CHECK(values(v) == std::vector<std::int32_t>{1, 2, 3});
    v[0].data(S{9, 9});
    v[0].info(v[1].info());
    CHECK(v[0].data().v == 9);
    CHECK(v[0].info().instance_handle() == v[1].info().instance_handle());
  }
  SECTION("SharedSamples") {
    dds::sub::SharedSamples<S> shared(r.take());
    const auto copy = shared;
    shared = {};
    CHECK(shared.length() == 0);
    CHECK(copy.length() == 3);
    CHECK(copy.begin()->data().v == 1);
    CHECK(std::distance(copy.begin(), copy.end()) == 3);
  }
  SECTION("dds::sub::move") {
    auto samples = r.take();
    const dds::sub::LoanedSamples<S> moved(dds::sub::move(samples));
    CHECK(moved.length() == 3);
    CHECK(samples.length() == 0);
  }
  SECTION("SampleInfo") {
    const auto samples = r.take();
    const auto info = samples[0].info();
    CHECK(info.timestamp() > Time());
    CHECK(info.state().sample_state() == dds::sub::status::SampleState::read());
    CHECK(info.rank().sample() == 0);
    CHECK(info.generation_count().disposed() == 0);
    CHECK(info.publication_handle() == w.instance_handle());
  }
}

TEST_CASE_METHOD(Uses, "psm: statuses, and what a loan, a set and an access are", "[dds]") {
  SECTION("get_status") {
    CHECK(status::get_status<status::SampleLostStatus>(r).total_count() == 0);
    CHECK(eventually(
        [&] { return status::get_status<status::PublicationMatchedStatus>(w).current_count() == 1; }));
    CHECK(status::get_status<status::InconsistentTopicStatus>(t).total_count() == 0);
  }
  SECTION("subscription_matched_status") {
    const auto& reader = r;
    CHECK(eventually([&] { return reader.subscription_matched_status().current_count() == 1; }));
  }
  SECTION("CoherentSet, SuspendedPublication, CoherentAccess") {
    dds::pub::CoherentSet set(pub);
    set.end();
    dds::pub::SuspendedPublication suspended(pub);
    suspended.resume();
    dds::sub::CoherentAccess access(sub);
    access.end();
    CHECK_NOTHROW(sub.notify_datareaders());
  }
}

TEST_CASE("psm: wait sets", "[dds]") {
  cond::WaitSet waits;
  cond::GuardCondition guard;
  cond::WaitSet::ConditionSeq triggered;
  SECTION("wait(sequence, timeout)") {
    waits += guard;
    CHECK_THROWS_AS(waits.wait(triggered, Duration::zero()), TimeoutError);
    guard.trigger_value(true);
    CHECK(waits.wait(triggered, Duration(60)).size() == 1);
    CHECK(triggered.front() == guard);
    CHECK(waits.wait(triggered).size() == 1);
    CHECK(waits.wait().size() == 1);
  }
  SECTION("+=, -=, detach_condition") {
    waits += guard;
    CHECK(waits.conditions(triggered).size() == 1);
    waits -= guard;
    CHECK(waits.conditions().empty());
    CHECK_FALSE(waits.detach_condition(guard));
  }
}
