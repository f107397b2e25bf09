#include "llamada/qos/profile.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
using namespace std::chrono_literals;

namespace {

std::string text_of(const Status& status) { return status ? "ok" : status.error().text(); }

}  // namespace

TEST_CASE("policies: have the standard's defaults", "[qos]") {
  CHECK(DataWriterQos{}.reliability.kind == ReliabilityKind::reliable);
  CHECK(DataReaderQos{}.reliability.kind == ReliabilityKind::best_effort);
  CHECK(DataWriterQos{}.reliability.max_blocking_time == 100ms);
  CHECK(Durability{}.kind == DurabilityKind::volatile_);
  CHECK(History{} == History{HistoryKind::keep_last, 1});
  CHECK(ResourceLimits{} == ResourceLimits{-1, -1, -1});
  CHECK(Liveliness{} == Liveliness{LivelinessKind::automatic, duration_infinite});
  CHECK(RankReplacement{} ==
        RankReplacement{RankReplacementKind::abort, 10, 100, 2147483648, 0, OnUnprotected::continue_});
  CHECK(check_consistent(Profile{}));
  CHECK(check_enforced(Profile{}));
}

TEST_CASE("policies: print as the standard names them", "[qos]") {
  CHECK(to_string(Reliability{}) == "BEST_EFFORT, max_blocking_time 100 ms");
  CHECK(to_string(Reliability{ReliabilityKind::reliable, duration_infinite}) ==
        "RELIABLE, max_blocking_time infinite");
  CHECK(to_string(History{}) == "KEEP_LAST, depth 1");
  CHECK(to_string(History{HistoryKind::keep_all, 7}) == "KEEP_ALL");
  CHECK(to_string(Durability{DurabilityKind::transient_local}) == "TRANSIENT_LOCAL");
  CHECK(to_string(ResourceLimits{5, -1, 2}) ==
        "max_samples 5, max_instances LENGTH_UNLIMITED, max_samples_per_instance 2");
  CHECK(to_string(Liveliness{LivelinessKind::manual_by_topic, 1500us}) ==
        "MANUAL_BY_TOPIC, lease_duration 1500 us");
  CHECK(to_string(RankReplacement{}) == "ABORT");
  CHECK(to_string(RankReplacement{.kind = RankReplacementKind::rebuild, .log_bytes_per_node = 1500}) ==
        "REBUILD, at most 10 replacements of a rank and 100 of the job, 1500 bytes of log per node, "
        "on_unprotected CONTINUE");
  CHECK(to_string(PolicyId::resource_limits) == "RESOURCE_LIMITS");
  CHECK(to_string(Duration(0)) == "0 s");
  CHECK(to_string(Duration(1)) == "1 ns");
  CHECK(bytes_to_string(2ULL << 30) == "2 GiB");
  CHECK(bytes_to_string(3 << 20) == "3 MiB");
  CHECK(bytes_to_string(1024) == "1 KiB");
  CHECK(bytes_to_string(0) == "0 bytes");
}

TEST_CASE("policies: a kind outside its enumeration prints as a question mark", "[qos]") {
  CHECK(to_string(static_cast<HistoryKind>(9)) == "?");
  CHECK_FALSE(kind_from_name<HistoryKind>("KEEP"));
  CHECK(kind_from_name<HistoryKind>("KEEP_ALL") == HistoryKind::keep_all);
}

TEST_CASE("reliability: refuses a negative max_blocking_time", "[qos]") {
  CHECK(check_consistent(Reliability{.max_blocking_time = 0ns}));
  CHECK(text_of(check_consistent(Reliability{.max_blocking_time = -1ms})) ==
        "RELIABILITY: max_blocking_time is -1 ms; it must not be negative");
}

TEST_CASE("history: keep_last refuses depth 0, keep_all does not look at it", "[qos]") {
  CHECK(check_consistent(History{HistoryKind::keep_last, 1}));
  CHECK(check_consistent(History{HistoryKind::keep_all, 0}));
  CHECK(text_of(check_consistent(History{HistoryKind::keep_last, 0})) ==
        "HISTORY: KEEP_LAST with depth 0; depth must be at least 1");
}

TEST_CASE("resource_limits: refuses 0, negative numbers and an instance larger than the whole", "[qos]") {
  CHECK(check_consistent(ResourceLimits{1, 1, 1}));
  CHECK(check_consistent(ResourceLimits{10, length_unlimited, 10}));
  CHECK(check_consistent(ResourceLimits{10, length_unlimited, length_unlimited}));
  CHECK(text_of(check_consistent(ResourceLimits{0, 1, 1})) ==
        "RESOURCE_LIMITS: max_samples is 0; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(text_of(check_consistent(ResourceLimits{1, -2, 1})) ==
        "RESOURCE_LIMITS: max_instances is -2; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(text_of(check_consistent(ResourceLimits{1, 1, 0})) ==
        "RESOURCE_LIMITS: max_samples_per_instance is 0; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(text_of(check_consistent(ResourceLimits{10, 1, 11})) ==
        "RESOURCE_LIMITS: max_samples_per_instance 11 is above max_samples 10; raise max_samples");
}

TEST_CASE("resource_limits: refuses limits that KEEP_LAST's depth does not fit", "[qos]") {
  const History ten{HistoryKind::keep_last, 10};
  CHECK(check_consistent(ResourceLimits{10, 1, 10}, ten));
  CHECK(check_consistent(ResourceLimits{9, 1, 9}, History{HistoryKind::keep_all, 10}));
  CHECK(text_of(check_consistent(ResourceLimits{100, 1, 9}, ten)) ==
        "HISTORY: KEEP_LAST with depth 10 does not fit RESOURCE_LIMITS max_samples_per_instance 9; lower "
        "depth or "
        "raise max_samples_per_instance");
  CHECK(text_of(check_consistent(ResourceLimits{9, 1, -1}, ten)) ==
        "HISTORY: KEEP_LAST with depth 10 does not fit RESOURCE_LIMITS max_samples 9; lower depth or raise "
        "max_samples");
}

TEST_CASE("liveliness: refuses a lease of 0, and for ranks one that nobody enforces", "[qos]") {
  CHECK(text_of(check_consistent(Liveliness{.lease_duration = 0s})) ==
        "LIVELINESS: lease_duration is 0 s; it must be above 0");
  CHECK(check_consistent(Liveliness{.lease_duration = 1ns}));
  CHECK(check_enforced(Liveliness{.lease_duration = 1s}));
  CHECK(check_enforced(Liveliness{.lease_duration = rank_lease_min}));
  CHECK(check_enforced(Liveliness{.kind = LivelinessKind::manual_by_participant, .lease_duration = 1s}));
  CHECK(text_of(check_enforced(Liveliness{.lease_duration = 99ms})) ==
        "LIVELINESS: lease_duration 99 ms is too short for ranks, because a busy machine lets processes wait "
        "that long; set 100 ms or more");
  CHECK(
      text_of(check_enforced(Liveliness{.kind = LivelinessKind::manual_by_topic, .lease_duration = 1s})) ==
      "LIVELINESS: MANUAL_BY_TOPIC with a lease is not enforced for ranks; set MANUAL_BY_PARTICIPANT, which "
      "a rank meets by entering MPI");
  CHECK(check_enforced(Liveliness{.kind = LivelinessKind::manual_by_topic}));
}

TEST_CASE("durability: TRANSIENT ranks outlive nodes, PERSISTENT ones the job", "[qos]") {
  DataWriterQos writer;
  DataReaderQos reader;
  const auto protection = [&](DurabilityKind kind) {
    writer.history.kind = reader.history.kind = HistoryKind::keep_all;
    writer.reliability.kind = reader.reliability.kind = ReliabilityKind::reliable;
    writer.durability.kind = reader.durability.kind = kind;
    return rank_protection(writer, reader);
  };
  CHECK_FALSE(protection(DurabilityKind::volatile_).keeps_messages);
  CHECK(protection(DurabilityKind::transient_local).keeps_messages);
  CHECK_FALSE(protection(DurabilityKind::transient_local).outlives_nodes);
  CHECK(protection(DurabilityKind::transient).outlives_nodes);
  CHECK_FALSE(protection(DurabilityKind::transient).outlives_job);
  CHECK(protection(DurabilityKind::persistent).outlives_nodes);
  CHECK(protection(DurabilityKind::persistent).outlives_job);
}

TEST_CASE("rank_replacement: survivors go on under BLANK and SHRINK", "[qos]") {
  CHECK(survivors_go_on({.kind = RankReplacementKind::blank}));
  CHECK(survivors_go_on({.kind = RankReplacementKind::shrink}));
  CHECK_FALSE(survivors_go_on({.kind = RankReplacementKind::abort}));
  CHECK_FALSE(survivors_go_on({.kind = RankReplacementKind::rebuild}));
}

TEST_CASE("rank_replacement: what is out of range is refused", "[qos]") {
  CHECK(text_of(check_consistent(RankReplacement{.log_bytes_per_node = 0})) ==
        "rank_replacement: log_bytes_per_node is 0; it must be above 0");
  CHECK(text_of(check_consistent(RankReplacement{.log_bytes_per_node = 1024, .log_bytes_at_start = 1025})) ==
        "rank_replacement: log_bytes_at_start (1025 bytes) is more than log_bytes_per_node (1 KiB)");
  CHECK(check_consistent(RankReplacement{.log_bytes_per_node = 1024, .log_bytes_at_start = 1024}));
  CHECK(text_of(check_consistent(RankReplacement{.log_directory = "scratch/logs"})) ==
        "rank_replacement: log_directory is 'scratch/logs'; it must be an absolute path, which begins with "
        "'/'");
  CHECK(check_consistent(RankReplacement{.log_directory = "/scratch"}));
  CHECK(check_consistent(RankReplacement{.max_replacements_per_rank = 0, .max_replacements_per_job = 0}));
}

TEST_CASE("compatibility: says what the reader requests and the writer offers", "[qos]") {
  CHECK(incompatibilities(DataWriterQos{}, DataReaderQos{}).empty());
  CHECK(check_compatible(DataWriterQos{}, DataReaderQos{}));
  DataWriterQos writer;
  DataReaderQos reader;
  writer.reliability.kind = ReliabilityKind::best_effort;
  reader.reliability.kind = ReliabilityKind::reliable;
  reader.durability.kind = DurabilityKind::transient_local;
  reader.liveliness.lease_duration = 1s;
  CHECK(incompatibilities(writer, reader) ==
        std::vector<Incompatibility>{
            {PolicyId::durability, "reader requests TRANSIENT_LOCAL, writer offers VOLATILE"},
            {PolicyId::liveliness, "reader requests lease_duration 1 s, writer offers infinite"},
            {PolicyId::reliability, "reader requests RELIABLE, writer offers BEST_EFFORT"}});
  auto status = check_compatible(writer, reader);
  CHECK(text_of(status) ==
        "DURABILITY: reader requests TRANSIENT_LOCAL, writer offers VOLATILE; LIVELINESS: reader requests "
        "lease_duration 1 s, writer offers infinite; RELIABILITY: reader requests RELIABLE, writer offers "
        "BEST_EFFORT");
  CHECK(status.error().code() == Errc::incompatible);
}

TEST_CASE("compatibility: a stronger offer satisfies a weaker request", "[qos]") {
  DataWriterQos writer;
  writer.durability.kind = DurabilityKind::persistent;
  writer.liveliness = {LivelinessKind::manual_by_topic, 1s};
  DataReaderQos reader;
  reader.durability.kind = DurabilityKind::transient;
  reader.liveliness = {LivelinessKind::manual_by_participant, 1s};
  CHECK(check_compatible(writer, reader));
  writer.liveliness.kind = LivelinessKind::automatic;
  CHECK(text_of(check_compatible(writer, reader)) ==
        "LIVELINESS: reader requests MANUAL_BY_PARTICIPANT, writer offers AUTOMATIC");
}
