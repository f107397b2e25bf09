// The uses of entities that the ISO C++ PSM has, one a line: what each is, and that it does it.

#include "psm_uses.hpp"

using namespace dds_test;
using namespace dds::core;
using namespace dds::core::policy;
using dds::domain::DomainParticipant;
using dds::sub::status::DataState;

TEST_CASE_METHOD(Uses, "psm: the QoS that entities have by default", "[dds]") {
  const auto manual = EntityFactory::ManuallyEnable();
  SECTION("participant.qos") { CHECK(p.qos() == dds::domain::qos::DomainParticipantQos()); }
  SECTION("participant.default_publisher_qos") {
    CHECK(p.default_publisher_qos() == dds::pub::qos::PublisherQos());
  }
  SECTION("participant.default_publisher_qos(q)") {
    p.default_publisher_qos(dds::pub::qos::PublisherQos() << manual);
    CHECK(dds::pub::Publisher(p).qos().policy<EntityFactory>() == manual);
  }
  SECTION("participant.default_subscriber_qos") {
    CHECK(p.default_subscriber_qos() == dds::sub::qos::SubscriberQos());
  }
  SECTION("participant.default_subscriber_qos(q)") {
    p.default_subscriber_qos(dds::sub::qos::SubscriberQos() << Partition("x"));
    CHECK(dds::sub::Subscriber(p).qos().policy<Partition>() == Partition("x"));
  }
  SECTION("participant.default_topic_qos") { CHECK(p.default_topic_qos() == dds::topic::qos::TopicQos()); }
  SECTION("participant.default_topic_qos(q)") {
    p.default_topic_qos(dds::topic::qos::TopicQos() << History::KeepAll());
    CHECK(dds::topic::Topic<S>(p, unique("t")).qos().policy<History>() == History::KeepAll());
  }
  SECTION("participant.default_datawriter_qos") {
    CHECK(p.default_datawriter_qos() == dds::pub::qos::DataWriterQos());
  }
  SECTION("participant.default_datawriter_qos(q)") {
    p.default_datawriter_qos(dds::pub::qos::DataWriterQos() << History::KeepLast(4));
    CHECK(dds::pub::Publisher(p).default_datawriter_qos().policy<History>().depth() == 4);
    CHECK(pub.default_datawriter_qos().policy<History>().depth() == 1);
  }
  SECTION("participant.default_datareader_qos(q)") {
    p.default_datareader_qos(dds::sub::qos::DataReaderQos() << History::KeepLast(4));
    CHECK(dds::sub::Subscriber(p).default_datareader_qos().policy<History>().depth() == 4);
  }
  SECTION("default QoS that contradicts itself") {
    CHECK_THROWS_AS(p.default_datawriter_qos(dds::pub::qos::DataWriterQos() << History::KeepLast(0)),
                    InconsistentPolicyError);
  }
  SECTION("DomainParticipant::default_participant_qos(q)") {
    DomainParticipant::default_participant_qos(dds::domain::qos::DomainParticipantQos() << manual);
    CHECK(DomainParticipant(0).qos().policy<EntityFactory>() == manual);
    DomainParticipant::default_participant_qos(dds::domain::qos::DomainParticipantQos());
  }
  SECTION("publisher << qos of its writers") {
    pub << dds::pub::qos::PublisherQos() << (dds::pub::qos::DataWriterQos() << History::KeepLast(3));
    CHECK(dds::pub::DataWriter<S>(pub, t).qos().policy<History>().depth() == 3);
  }
  SECTION("subscriber << qos of its readers") {
    sub << (dds::sub::qos::DataReaderQos() << History::KeepLast(3));
    CHECK(dds::sub::DataReader<S>(sub, t).qos().policy<History>().depth() == 3);
  }
  SECTION("publisher >> qos of its writers") {
    pub.default_datawriter_qos(dds::pub::qos::DataWriterQos() << History::KeepLast(3));
    dds::pub::qos::DataWriterQos q;
    pub >> q;
    CHECK(q.policy<History>().depth() == 3);
  }
}

TEST_CASE_METHOD(Uses, "psm: references, weak and of any type", "[dds]") {
  using Reader = dds::sub::DataReader<S>;
  SECTION("dds::core::Entity") {
    Entity e = r;
    CHECK(e == r);
    CHECK(e.instance_handle() == r.instance_handle());
    CHECK_FALSE(e == Entity(w));
  }
  SECTION("entity.status_changes") {
    CHECK_FALSE(Entity(r).status_changes().has(status::StatusMask::sample_rejected()));
  }
  SECTION("polymorphic_cast") {
    CHECK(polymorphic_cast<Reader>(dds::sub::AnyDataReader(r)) == r);
    CHECK(polymorphic_cast<Reader>(Entity(r)) == r);
    CHECK(polymorphic_cast<dds::topic::Topic<S>>(dds::topic::TopicDescription(t)) == t);
    CHECK(polymorphic_cast<Reader>(Entity(null)).is_nil());
    CHECK_THROWS_AS(polymorphic_cast<dds::pub::DataWriter<S>>(Entity(r)), InvalidDowncastError);
    CHECK_THROWS_AS(polymorphic_cast<dds::sub::DataReader<Note>>(Entity(r)), InvalidDowncastError);
  }
  SECTION("AnyDataReader.get") { CHECK(dds::sub::AnyDataReader(r).get<S>() == r); }
  SECTION("AnyTopic, AnyDataWriter") {
    CHECK(dds::topic::AnyTopic(t) == t);
    CHECK(dds::pub::AnyDataWriter(w) == w);
  }
  SECTION("== nullptr, == null, is_nil") {
    CHECK_FALSE(r == nullptr);
    CHECK_FALSE(r == null);
    CHECK_FALSE(r.is_nil());
  }
  SECTION("reference = null") {
    Reader x = r;
    x = null;
    CHECK(x == null);
    CHECK(x == nullptr);
    CHECK(x.is_nil());
    CHECK_THROWS_AS(x.read(), NullReferenceError);
  }
  SECTION("WeakReference") {
    std::optional<Reader> x(std::in_place, sub, t);
    WeakReference<Reader> weak(*x);
    CHECK(weak.lock() == *x);
    CHECK_FALSE(weak.expired());
    x.reset();
    CHECK(weak.expired());
    CHECK(weak.lock() == null);
    CHECK(WeakReference<Reader>().expired());
  }
  SECTION("retain, close") {
    std::optional<Reader> x(std::in_place, sub, t);
    WeakReference<Reader> weak(*x);
    x->retain();
    x.reset();
    CHECK_FALSE(weak.expired());
    weak.lock().close();
    CHECK(weak.expired());
  }
  SECTION("listener(l, mask)") {
    r.listener(nullptr, status::StatusMask::none());
    CHECK(r.listener() == nullptr);
    t.listener(nullptr, status::StatusMask::none());
    CHECK(t.listener() == nullptr);
  }
  SECTION("StatusCondition.entity") {
    cond::StatusCondition c(r);
    CHECK(c.entity() == r);
    CHECK(polymorphic_cast<Reader>(c.entity()) == r);
  }
  SECTION("StatusCondition.trigger_value") {
    cond::StatusCondition c(r);
    c.enabled_statuses(status::StatusMask::sample_rejected());
    CHECK_FALSE(c.trigger_value());
  }
  SECTION("Exception") {
    try {
      r.select().instance(InstanceHandle(llamada::dcps::InstanceHandle{1, 2})).read();
      FAIL();
    } catch (const Exception& e) {
      CHECK_FALSE(std::string(e.what()).empty());
    }
  }
}

TEST_CASE_METHOD(Uses, "psm: topics and their descriptions", "[dds]") {
  using dds::topic::TopicDescription;
  const dds::topic::ContentFilteredTopic<S> filtered(t, unique("filtered"),
                                                     dds::topic::Filter("v > %0", {"1"}));
  SECTION("TopicDescription") {
    TopicDescription<S> d(t);
    CHECK(d.name() == t.name());
    CHECK(d.type_name() == t.type_name());
    CHECK(d.domain_participant() == p);
    CHECK(d == TopicDescription<S>(t));
    CHECK_FALSE(d == TopicDescription<S>(filtered));
  }
  SECTION("DataReader of a TopicDescription") {
    dds::sub::DataReader<S> x(sub, TopicDescription<S>(filtered));
    CHECK(x.topic_description() == filtered);
    CHECK(x.topic() == t);
  }
  SECTION("reader.topic_description") {
    CHECK(r.topic_description() == t);
    CHECK(dds::sub::AnyDataReader(r).topic_description().name() == t.name());
  }
  SECTION("reader.topic") { CHECK(r.topic() == t); }
  SECTION("writer.topic") {
    CHECK(w.topic() == t);
    CHECK(w.topic_description() == t);
    CHECK(dds::pub::AnyDataWriter(w).topic_description().type_name() == t.type_name());
  }
  SECTION("TopicDescription of any type") {
    TopicDescription d = dds::sub::AnyDataReader(r).topic_description();
    CHECK(polymorphic_cast<TopicDescription<S>>(d) == t);
    CHECK_THROWS_AS(polymorphic_cast<TopicDescription<Note>>(d), InvalidDowncastError);
  }
  SECTION("description of a built-in topic") {
    std::vector<dds::sub::AnyDataReader> all;
    dds::sub::find<dds::sub::AnyDataReader>(dds::sub::builtin_subscriber(p), dds::topic::topic_topic_name(),
                                            std::back_inserter(all));
    CHECK(all.at(0).topic_description().name() == dds::topic::topic_topic_name());
  }
  SECTION("ContentFilteredTopic") {
    dds::topic::ContentFilteredTopic<S> c(t, unique("c"), dds::topic::Filter("v > 1"));
    CHECK(c.filter_expression() == "v > 1");
    CHECK(c.filter_parameters().empty());
    CHECK(c.domain_participant() == p);
  }
  SECTION("ContentFilteredTopic.filter_parameters(begin, end)") {
    dds::topic::ContentFilteredTopic<S> c(filtered);
    std::vector<std::string> v{"2"};
    c.filter_parameters(v.begin(), v.end());
    CHECK(c.filter_parameters() == v);
  }
}

TEST_CASE("psm: a topic may name its type", "[dds]") {
  DomainParticipant here(0), there(0), elsewhere(0);
  const std::string name = unique("named");
  dds::topic::Topic<S> t(here, name, "TypeName"), same(there, name, "TypeName"), other(elsewhere, name);
  CHECK(t.type_name() == "TypeName");
  CHECK(dds::topic::find<dds::topic::Topic<S>>(here, name) == t);
  CHECK_THROWS_AS((dds::topic::Topic<S>(here, unique("t"), "")), InvalidArgumentError);

  dds::sub::DataReader<S> stranger(dds::sub::Subscriber(elsewhere), other,
                                   durable(dds::sub::qos::DataReaderQos()));
  dds::pub::DataWriter<S> w(dds::pub::Publisher(here), t, durable(dds::pub::qos::DataWriterQos()));
  dds::sub::DataReader<S> r(dds::sub::Subscriber(there), same, durable(dds::sub::qos::DataReaderQos()));
  w << S{1, 7};
  CHECK(take(r, 1)[0].data().v == 7);
  CHECK(eventually([&] { return other.inconsistent_topic_status().total_count() > 0; }));
  CHECK(stranger.subscription_matched_status().total_count() == 0);
}

TEST_CASE_METHOD(Uses, "psm: what can be found and ignored", "[dds]") {
  using Reader = dds::sub::DataReader<S>;
  using Writer = dds::pub::DataWriter<S>;
  const std::string& name = t.name();
  SECTION("dds::domain::find") {
    CHECK_FALSE(dds::domain::find(0).is_nil());
    CHECK(dds::domain::find(77).is_nil());
  }
  SECTION("dds::topic::find") { CHECK(dds::topic::find<dds::topic::Topic<S>>(p, name) == t); }
  SECTION("dds::pub::find") {
    std::vector<Writer> v;
    CHECK(dds::pub::find<Writer>(pub, name, std::back_inserter(v)) == 1);
    CHECK(v.at(0) == w);
  }
  SECTION("dds::sub::find") {
    std::vector<Reader> v;
    CHECK(dds::sub::find<Reader>(sub, name, std::back_inserter(v)) == 1);
    CHECK(v.at(0) == r);
  }
  SECTION("dds::sub::find(begin, max)") {
    std::vector<Reader> v(3, Reader(null));
    CHECK(dds::sub::find<Reader>(sub, name, v.begin(), 3) == 1);
    CHECK(v[0] == r);
  }
  SECTION("dds::sub::find of a topic") {
    std::vector<Reader> v;
    CHECK(dds::sub::find<Reader>(sub, dds::topic::TopicDescription<S>(t), std::back_inserter(v)) == 1);
    CHECK(dds::sub::find<Reader>(sub, t, std::back_inserter(v)) == 1);
  }
  SECTION("dds::sub::find by state") {
    std::vector<dds::sub::AnyDataReader> v;
    w << S{1, 1};
    CHECK(eventually([&] {
      return dds::sub::find<dds::sub::AnyDataReader>(sub, DataState::new_data(), std::back_inserter(v)) == 1;
    }));
  }
  SECTION("matched_publications") {
    CHECK(eventually([&] { return dds::sub::matched_publications(r).size() == 1; }));
  }
  SECTION("matched_publications(begin, max)") {
    std::vector<InstanceHandle> v(5);
    CHECK(eventually([&] { return dds::sub::matched_publications(r, v.begin(), 5) == 1; }));
    CHECK(v[0] == w.instance_handle());
  }
  SECTION("matched_subscriptions(begin, max)") {
    std::vector<InstanceHandle> v(5);
    CHECK(eventually([&] { return dds::pub::matched_subscriptions(w, v.begin(), 5) == 1; }));
    CHECK(dds::pub::matched_subscriptions(w, v.begin(), 0) == 0);
    CHECK(v[0] == r.instance_handle());
  }
  SECTION("matched_publication_data") {
    CHECK(eventually([&] { return dds::sub::matched_publications(r).size() == 1; }));
    CHECK(dds::sub::matched_publication_data(r, w.instance_handle()).topic_name() == name);
  }
  SECTION("discover a topic") {
    DomainParticipant other(0);
    using Topic = dds::topic::Topic<S>;
    const auto found = dds::topic::discover<Topic>(other, name, Duration(60));
    CHECK(found.name() == name);
    CHECK(dds::topic::discover<Topic>(p, name) == t);
    CHECK_THROWS_AS(dds::topic::discover<Topic>(other, unique("nowhere"), Duration::zero()), TimeoutError);
  }
  SECTION("discover_topics") {
    DomainParticipant other(0);
    const auto names = [&] {
      std::vector<std::string> all;
      for (const auto& each : dds::topic::discover_topics(other))
        all.push_back(dds::topic::discover_topic_data(other, each).name());
      return all;
    };
    CHECK(eventually([&] {
      const auto all = names();
      return std::find(all.begin(), all.end(), name) != all.end();
    }));
  }
  SECTION("discovered_participants") {
    DomainParticipant other(0);
    const auto me = static_cast<std::uint32_t>(::getpid());
    CHECK(eventually([&] {
      for (const auto& each : dds::domain::discovered_participants(other))
        if (dds::domain::discovered_participant_data(other, each).pid() == me) return true;
      return false;
    }));
  }
  SECTION("ignore(begin, end)") {
    DomainParticipant other(0);
    dds::sub::DataReader<S> reader(dds::sub::Subscriber(other), dds::topic::Topic<S>(other, name),
                                   durable(dds::sub::qos::DataReaderQos()));
    CHECK(eventually([&] { return dds::sub::matched_publications(reader).size() == 1; }));
    const auto writers = dds::sub::matched_publications(reader);
    dds::pub::ignore(other, writers.begin(), writers.end());
    CHECK(eventually([&] { return dds::sub::matched_publications(reader).empty(); }));
    dds::sub::ignore(other, writers.end(), writers.end());
    CHECK_THROWS_AS(dds::sub::ignore(other, writers[0]), InvalidArgumentError);
  }
  SECTION("ignore a topic") {
    DomainParticipant other(0);
    dds::topic::discover<dds::topic::Topic<S>>(other, name);
    for (const auto& each : dds::topic::discover_topics(other))
      if (dds::topic::discover_topic_data(other, each).name() == name) dds::topic::ignore(other, each);
    dds::sub::DataReader<S> reader(dds::sub::Subscriber(other), dds::topic::Topic<S>(other, name),
                                   durable(dds::sub::qos::DataReaderQos()));
    CHECK(dds::sub::matched_publications(reader).empty());
  }
  SECTION("builtin_subscriber") { CHECK_FALSE(dds::sub::builtin_subscriber(p).is_nil()); }
}
