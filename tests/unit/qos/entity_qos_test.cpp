#include "llamada/qos/entity_qos.hpp"

#include <set>

#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
using namespace std::chrono_literals;

namespace {

std::string text_of(const Status& status) { return status ? "ok" : status.error().text(); }

template <typename Qos, typename Change>
std::string consistency_of(Change&& change) {
  Qos qos;
  change(qos);
  return text_of(check_consistent(qos));
}

/// The ids of the policies that are incompatible after both changes.
template <typename ChangeWriter, typename ChangeReader>
std::string mismatch(ChangeWriter&& change_writer, ChangeReader&& change_reader) {
  DataWriterQos writer;
  PublisherQos publisher;
  DataReaderQos reader;
  SubscriberQos subscriber;
  change_writer(writer, publisher);
  change_reader(reader, subscriber);
  return to_string(incompatibilities(writer, publisher, reader, subscriber));
}

/// Offers and requests each pair of two values of one policy: "ok" in the places where they match.
template <typename Policy, typename Value>
std::vector<std::vector<bool>> matrix(Value Policy::*field, std::vector<Value> values) {
  std::vector<std::vector<bool>> fits;
  for (const Value& offer : values) {
    fits.emplace_back();
    for (const Value& request : values) {
      Policy offered;
      Policy requested;
      offered.*field = offer;
      requested.*field = request;
      fits.back().push_back(check_compatible(offered, requested).has_value());
    }
  }
  return fits;
}

using Matrix = std::vector<std::vector<bool>>;

/// What is offered, from weak to strong, satisfies what is not stronger.
Matrix lower_triangle(std::size_t size) {
  Matrix fits(size, std::vector<bool>(size));
  for (std::size_t offer = 0; offer < size; ++offer)
    for (std::size_t request = 0; request <= offer; ++request) fits[offer][request] = true;
  return fits;
}

const std::vector<Duration> long_to_short{duration_infinite, 2s, 1s, 1ns};

}  // namespace

TEST_CASE("policy ids: the 22 of the standard and our own, each with its own names", "[qos]") {
  std::set<std::string_view> names;
  std::set<std::string_view> elements;
  for (PolicyId id : all_policies()) {
    names.insert(to_string(id));
    elements.insert(element_name(id));
  }
  CHECK(all_policies().size() == 24);
  CHECK(names.size() == 24);
  CHECK(elements.size() == 24);
  for (std::uint32_t id = 1; id <= 22; ++id) CHECK(to_string(static_cast<PolicyId>(id)) != "?");
  CHECK(to_string(static_cast<PolicyId>(23)) == "?");
  CHECK(to_string(PolicyId::time_based_filter) == "TIME_BASED_FILTER");
  CHECK(element_name(PolicyId::time_based_filter) == "time_based_filter");
}

TEST_CASE("policies: defaults of the standard, as they print", "[qos]") {
  CHECK(to_string(DomainParticipantQos{}) ==
        "USER_DATA empty; ENTITY_FACTORY autoenable_created_entities true");
  CHECK(to_string(PublisherQos{}) ==
        "PRESENTATION INSTANCE; PARTITION name ''; GROUP_DATA empty; ENTITY_FACTORY "
        "autoenable_created_entities true");
  CHECK(to_string(SubscriberQos{}) == to_string(PublisherQos{}));
  CHECK(to_string(TopicQos{}) ==
        "TOPIC_DATA empty; DURABILITY VOLATILE; DURABILITY_SERVICE service_cleanup_delay 0 s, KEEP_LAST, "
        "depth 1, max_samples LENGTH_UNLIMITED, max_instances LENGTH_UNLIMITED, max_samples_per_instance "
        "LENGTH_UNLIMITED; DEADLINE period infinite; LATENCY_BUDGET duration 0 s; LIVELINESS AUTOMATIC, "
        "lease_duration infinite; RELIABILITY BEST_EFFORT, max_blocking_time 100 ms; DESTINATION_ORDER "
        "BY_RECEPTION_TIMESTAMP; HISTORY KEEP_LAST, depth 1; RESOURCE_LIMITS max_samples LENGTH_UNLIMITED, "
        "max_instances LENGTH_UNLIMITED, max_samples_per_instance LENGTH_UNLIMITED; TRANSPORT_PRIORITY value "
        "0; LIFESPAN duration infinite; OWNERSHIP SHARED");
  CHECK(DataWriterQos{}.reliability.kind == ReliabilityKind::reliable);
  CHECK(DataWriterQos{}.writer_data_lifecycle.autodispose_unregistered_instances);
  CHECK(to_string(DataWriterQos{}.ownership_strength) == "value 0");
  CHECK(to_string(DataWriterQos{}.send_window) == "min LENGTH_UNLIMITED, max LENGTH_UNLIMITED");
  CHECK(DataReaderQos{}.reliability.kind == ReliabilityKind::best_effort);
  CHECK(to_string(DataReaderQos{}.time_based_filter) == "minimum_separation 0 s");
  CHECK(to_string(DataReaderQos{}.reader_data_lifecycle) ==
        "autopurge_nowriter_samples_delay infinite, autopurge_disposed_samples_delay infinite");
}

TEST_CASE("policies: every default is consistent", "[qos]") {
  CHECK(check_consistent(DomainParticipantQos{}));
  CHECK(check_consistent(TopicQos{}));
  CHECK(check_consistent(PublisherQos{}));
  CHECK(check_consistent(SubscriberQos{}));
  CHECK(check_consistent(DataWriterQos{}));
  CHECK(check_consistent(DataReaderQos{}));
}

TEST_CASE("policies: the edges of what is consistent", "[qos]") {
  using W = DataWriterQos;
  using R = DataReaderQos;
  CHECK(consistency_of<W>([](W& qos) { qos.deadline.period = 0s; }) ==
        "DEADLINE: period is 0 s; it must be above 0");
  CHECK(consistency_of<W>([](W& qos) { qos.deadline.period = 1ns; }) == "ok");
  CHECK(consistency_of<W>([](W& qos) { qos.latency_budget.duration = -1ns; }) ==
        "LATENCY_BUDGET: duration is -1 ns; it must not be negative");
  CHECK(consistency_of<W>([](W& qos) { qos.latency_budget.duration = 0ns; }) == "ok");
  CHECK(consistency_of<W>([](W& qos) { qos.lifespan.duration = 0s; }) ==
        "LIFESPAN: duration is 0 s; it must be above 0");
  CHECK(consistency_of<W>([](W& qos) { qos.lifespan.duration = 1ns; }) == "ok");
  CHECK(consistency_of<W>([](W& qos) {
          qos.send_window = {0, 1};
        }) == "SEND_WINDOW: min is 0; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(consistency_of<W>([](W& qos) {
          qos.send_window = {1, -2};
        }) == "SEND_WINDOW: max is -2; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(consistency_of<W>([](W& qos) {
          qos.send_window = {8, 7};
        }) == "SEND_WINDOW: min 8 is above max 7; lower min");
  CHECK(consistency_of<W>([](W& qos) {
          qos.send_window = {length_unlimited, 7};
        }) == "SEND_WINDOW: min LENGTH_UNLIMITED is above max 7; lower min");
  CHECK(consistency_of<W>([](W& qos) { qos.send_window = {7, 7}; }) == "ok");
  CHECK(consistency_of<W>([](W& qos) { qos.send_window = {7, length_unlimited}; }) == "ok");
  CHECK(consistency_of<R>([](R& qos) { qos.time_based_filter.minimum_separation = -1s; }) ==
        "TIME_BASED_FILTER: minimum_separation is -1 s; it must not be negative");
  CHECK(consistency_of<R>([](R& qos) {
          qos.time_based_filter.minimum_separation = 2s;
          qos.deadline.period = 1s;
        }) ==
        "TIME_BASED_FILTER: minimum_separation 2 s is above DEADLINE's period 1 s; lower it or raise period");
  CHECK(consistency_of<R>([](R& qos) {
          qos.time_based_filter.minimum_separation = 1s;
          qos.deadline.period = 1s;
        }) == "ok");
  CHECK(consistency_of<R>([](R& qos) { qos.reader_data_lifecycle.autopurge_nowriter_samples_delay = -1s; }) ==
        "READER_DATA_LIFECYCLE: autopurge_nowriter_samples_delay is -1 s; it must not be negative");
  CHECK(consistency_of<R>([](R& qos) { qos.reader_data_lifecycle.autopurge_disposed_samples_delay = -1s; }) ==
        "READER_DATA_LIFECYCLE: autopurge_disposed_samples_delay is -1 s; it must not be negative");
  CHECK(consistency_of<R>([](R& qos) { qos.history = {HistoryKind::keep_last, 3}; }) == "ok");
  CHECK(consistency_of<R>([](R& qos) {
          qos.history = {HistoryKind::keep_last, 3};
          qos.resource_limits.max_samples_per_instance = 2;
        }).starts_with("HISTORY: KEEP_LAST with depth 3 does not fit"));
}

TEST_CASE("durability_service: is consistent as a history with limits", "[qos]") {
  using W = DataWriterQos;
  CHECK(consistency_of<W>([](W& qos) { qos.durability_service.service_cleanup_delay = -1s; }) ==
        "DURABILITY_SERVICE: service_cleanup_delay is -1 s; it must not be negative");
  CHECK(consistency_of<W>([](W& qos) { qos.durability_service.history_depth = 0; }) ==
        "DURABILITY_SERVICE: HISTORY: KEEP_LAST with depth 0; depth must be at least 1");
  CHECK(consistency_of<W>([](W& qos) { qos.durability_service.max_samples = 0; }) ==
        "DURABILITY_SERVICE: RESOURCE_LIMITS: max_samples is 0; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(consistency_of<W>([](W& qos) {
          qos.durability_service.history_depth = 5;
          qos.durability_service.max_samples = 4;
        }).starts_with("DURABILITY_SERVICE: HISTORY: KEEP_LAST with depth 5 does not fit"));
}

TEST_CASE("user, topic and group data: up to a limit", "[qos]") {
  const std::vector<std::byte> most(opaque_value_size_max_bytes);
  const std::vector<std::byte> more(opaque_value_size_max_bytes + 1);
  CHECK(check_consistent(UserData{most}));
  CHECK(text_of(check_consistent(UserData{more})) == "USER_DATA: value has 4097 bytes; the limit is 4096");
  CHECK(text_of(check_consistent(TopicData{more})) == "TOPIC_DATA: value has 4097 bytes; the limit is 4096");
  CHECK(text_of(check_consistent(GroupData{more})) == "GROUP_DATA: value has 4097 bytes; the limit is 4096");
  CHECK(to_string(UserData{{std::byte{10}}}) == "1 byte: 0a");
  CHECK(to_string(UserData{std::vector<std::byte>(17, std::byte{255})}) ==
        "17 bytes: ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ...");
}

TEST_CASE("partition: names are bounded", "[qos]") {
  CHECK(check_consistent(Partition{std::vector<std::string>(partition_names_max, "a")}));
  CHECK(text_of(check_consistent(Partition{std::vector<std::string>(partition_names_max + 1, "a")})) ==
        "PARTITION: there are 65 names; the limit is 64");
  CHECK(check_consistent(Partition{{std::string(255, 'a')}}));
  CHECK(text_of(check_consistent(Partition{{std::string(256, 'a')}})) ==
        "PARTITION: a name has 256 characters; the limit is 255");
  CHECK(text_of(check_consistent(Partition{{std::string("a\0b", 3)}})) ==
        "PARTITION: a name has a NUL in it");
}

TEST_CASE("partition: matches by names and by patterns of one side", "[qos]") {
  struct Row {
    std::vector<std::string> left;
    std::vector<std::string> right;
    bool match;
  };
  const std::vector<Row> rows{
      {{}, {}, true},
      {{}, {""}, true},
      {{""}, {"a"}, false},
      {{}, {"a"}, false},
      {{"a"}, {"a"}, true},
      {{"a"}, {"A"}, false},
      {{"a", "b"}, {"c", "b"}, true},
      {{"a", "b"}, {"c", "d"}, false},
      {{"a*"}, {"abc"}, true},
      {{"abc"}, {"a*"}, true},
      {{"a?c"}, {"abc"}, true},
      {{"a?c"}, {"ac"}, false},
      {{"[a-c]x"}, {"bx"}, true},
      {{"[!a-c]x"}, {"bx"}, false},
      {{"[a-c]x"}, {"dx"}, false},
      {{"*"}, {}, true},
      {{"*"}, {"any/thing"}, true},
      {{"*"}, {"*"}, false},
      {{"a*"}, {"a*"}, false},
      {{"a\\*"}, {"a*"}, false},
      {{"[a"}, {"[a"}, false},
  };
  for (const Row& row : rows) {
    INFO(to_string(Partition{row.left}) << " and " << to_string(Partition{row.right}));
    CHECK(partitions_match({row.left}, {row.right}) == row.match);
    CHECK(partitions_match({row.right}, {row.left}) == row.match);
  }
}

TEST_CASE("requested and offered: the matrix of each RxO policy", "[qos]") {
  using enum DurabilityKind;
  CHECK(matrix(&Durability::kind, {volatile_, transient_local, transient, persistent}) == lower_triangle(4));
  using enum ReliabilityKind;
  CHECK(matrix(&Reliability::kind, {best_effort, reliable}) == lower_triangle(2));
  using enum LivelinessKind;
  CHECK(matrix(&Liveliness::kind, {automatic, manual_by_participant, manual_by_topic}) == lower_triangle(3));
  CHECK(matrix(&Liveliness::lease_duration, long_to_short) == lower_triangle(4));
  using enum PresentationAccessScope;
  CHECK(matrix(&Presentation::access_scope, {instance, topic, group}) == lower_triangle(3));
  CHECK(matrix(&Presentation::coherent_access, std::vector<bool>{false, true}) == lower_triangle(2));
  CHECK(matrix(&Presentation::ordered_access, std::vector<bool>{false, true}) == lower_triangle(2));
  CHECK(matrix(&Deadline::period, long_to_short) == lower_triangle(4));
  CHECK(matrix(&LatencyBudget::duration, {duration_infinite, 1s, 0s}) == lower_triangle(3));
  CHECK(matrix(&DestinationOrder::kind, {DestinationOrderKind::by_reception_timestamp,
                                         DestinationOrderKind::by_source_timestamp}) == lower_triangle(2));
  CHECK(matrix(&Ownership::kind, {OwnershipKind::shared, OwnershipKind::exclusive}) ==
        Matrix{{true, false}, {false, true}});
}

TEST_CASE("requested and offered: each policy says what is requested and what offered", "[qos]") {
  auto as_is = [](auto&, auto&) {};
  CHECK(mismatch(as_is, as_is).empty());
  CHECK(mismatch(as_is, [](auto& reader, auto&) { reader.durability.kind = DurabilityKind::transient; }) ==
        "DURABILITY: reader requests TRANSIENT, writer offers VOLATILE");
  CHECK(mismatch(as_is, [](auto&, auto& group) {
          group.presentation.access_scope = PresentationAccessScope::group;
        }) == "PRESENTATION: reader requests access_scope GROUP, writer offers INSTANCE");
  CHECK(mismatch(as_is, [](auto&, auto& group) { group.presentation.coherent_access = true; }) ==
        "PRESENTATION: reader requests coherent_access true, writer offers false");
  CHECK(mismatch(as_is, [](auto&, auto& group) { group.presentation.ordered_access = true; }) ==
        "PRESENTATION: reader requests ordered_access true, writer offers false");
  CHECK(mismatch(as_is, [](auto& reader, auto&) { reader.deadline.period = 1s; }) ==
        "DEADLINE: reader requests period 1 s, writer offers infinite");
  CHECK(mismatch([](auto& writer, auto&) { writer.latency_budget.duration = 1s; }, as_is) ==
        "LATENCY_BUDGET: reader requests duration 0 s, writer offers 1 s");
  CHECK(mismatch([](auto& writer, auto&) { writer.ownership.kind = OwnershipKind::exclusive; }, as_is) ==
        "OWNERSHIP: reader requests SHARED, writer offers EXCLUSIVE");
  CHECK(mismatch(as_is, [](auto& reader, auto&) {
          reader.liveliness.kind = LivelinessKind::manual_by_topic;
        }) == "LIVELINESS: reader requests MANUAL_BY_TOPIC, writer offers AUTOMATIC");
  CHECK(mismatch(as_is, [](auto& reader, auto&) { reader.liveliness.lease_duration = 1s; }) ==
        "LIVELINESS: reader requests lease_duration 1 s, writer offers infinite");
  CHECK(mismatch(as_is, [](auto& reader, auto&) {
          reader.destination_order.kind = DestinationOrderKind::by_source_timestamp;
        }) == "DESTINATION_ORDER: reader requests BY_SOURCE_TIMESTAMP, writer offers BY_RECEPTION_TIMESTAMP");
  // Partitions are no incompatibility, and what is not RxO is not looked at.
  CHECK(mismatch(
            [](auto& writer, auto& group) {
              group.partition.name = {"a"};
              writer.history = {HistoryKind::keep_all, 1};
              writer.lifespan.duration = 1s;
              writer.ownership_strength.value = 3;
            },
            [](auto& reader, auto& group) {
              group.partition.name = {"b"};
              reader.time_based_filter.minimum_separation = 1s;
            })
            .empty());
}

TEST_CASE("requested and offered: the caller can name the ends", "[qos]") {
  DataWriterQos writer;
  DataReaderQos reader;
  writer.reliability.kind = ReliabilityKind::best_effort;
  reader.reliability.kind = ReliabilityKind::reliable;
  reader.deadline.period = 1s;
  const auto found = with_names(incompatibilities(writer, reader), "rank 3", "results");
  CHECK(to_string(found) ==
        "DEADLINE: reader 'results' requests period 1 s, writer 'rank 3' offers infinite; RELIABILITY: "
        "reader 'results' requests RELIABLE, writer 'rank 3' offers BEST_EFFORT");
}

TEST_CASE("changeable: exactly the policies that the standard lets change", "[qos]") {
  const std::set<PolicyId> changeable{PolicyId::user_data,
                                      PolicyId::topic_data,
                                      PolicyId::group_data,
                                      PolicyId::deadline,
                                      PolicyId::latency_budget,
                                      PolicyId::ownership_strength,
                                      PolicyId::partition,
                                      PolicyId::lifespan,
                                      PolicyId::time_based_filter,
                                      PolicyId::entity_factory,
                                      PolicyId::transport_priority,
                                      PolicyId::writer_data_lifecycle,
                                      PolicyId::reader_data_lifecycle};
  const std::set<PolicyId> matched{PolicyId::durability,     PolicyId::presentation,     PolicyId::deadline,
                                   PolicyId::latency_budget, PolicyId::ownership,        PolicyId::liveliness,
                                   PolicyId::reliability,    PolicyId::destination_order};
  for (PolicyId id : all_policies()) {
    INFO(to_string(id));
    CHECK(is_changeable(id) == changeable.contains(id));
    CHECK(is_requested_offered(id) == matched.contains(id));
  }
}

TEST_CASE("changeable: the first policy that must not change is named, with both values", "[qos]") {
  DataWriterQos before;
  DataWriterQos after;
  CHECK(check_changeable(before, after));
  after.deadline.period = 1s;
  after.lifespan.duration = 1s;
  after.latency_budget.duration = 1s;
  after.transport_priority.value = 1;
  after.user_data.value = {std::byte{1}};
  after.ownership_strength.value = 1;
  after.writer_data_lifecycle.autodispose_unregistered_instances = false;
  CHECK(check_changeable(before, after));
  after.history = {HistoryKind::keep_all, 1};
  auto status = check_changeable(before, after);
  CHECK(text_of(status) ==
        "HISTORY cannot be changed once the entity is enabled: it is KEEP_LAST, depth 1, not KEEP_ALL");
  CHECK(status.error().code() == Errc::incompatible);
  PublisherQos group;
  PublisherQos other;
  other.partition.name = {"a"};
  other.group_data.value = {std::byte{1}};
  other.entity_factory.autoenable_created_entities = false;
  CHECK(check_changeable(group, other));
  other.presentation.ordered_access = true;
  CHECK(text_of(check_changeable(group, other)) ==
        "PRESENTATION cannot be changed once the entity is enabled: it is INSTANCE, not INSTANCE, "
        "ordered_access");
}

TEST_CASE("copy_from_topic_qos: sets what a topic, too, has", "[qos]") {
  TopicQos topic;
  topic.reliability.kind = ReliabilityKind::reliable;
  topic.deadline.period = 1s;
  topic.lifespan.duration = 2s;
  topic.topic_data.value = {std::byte{1}};
  DataWriterQos writer;
  writer.ownership_strength.value = 7;
  copy_from_topic_qos(writer, topic);
  CHECK(writer.deadline.period == 1s);
  CHECK(writer.lifespan.duration == 2s);
  CHECK(writer.ownership_strength.value == 7);
  CHECK(writer.user_data.value.empty());
  DataReaderQos reader;
  copy_from_topic_qos(reader, topic);
  CHECK(reader.reliability.kind == ReliabilityKind::reliable);
  CHECK(reader.deadline.period == 1s);
}
