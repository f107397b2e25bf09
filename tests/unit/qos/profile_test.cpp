#include "profiles.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

std::string text_of(const Status& status) { return status ? "ok" : status.error().text(); }

}  // namespace

TEST_CASE("profile: REBUILD says which policy of which end to change", "[qos]") {
  CHECK(check_consistent(fault_tolerant()));
  Profile profile = fault_tolerant();
  SECTION("the writer's reliability") {
    profile.datawriter_qos.reliability.kind = ReliabilityKind::best_effort;
    CHECK(text_of(check_consistent(profile)) ==
          "datawriter_qos: rank_replacement REBUILD needs RELIABLE: set reliability, which is BEST_EFFORT");
  }
  SECTION("the writer's history") {
    profile.datawriter_qos.history.kind = HistoryKind::keep_last;
    CHECK(text_of(check_consistent(profile)) ==
          "datawriter_qos: rank_replacement REBUILD needs KEEP_ALL: set history, which is KEEP_LAST");
  }
  SECTION("the writer's durability") {
    profile.datawriter_qos.durability.kind = DurabilityKind::volatile_;
    CHECK(
        text_of(check_consistent(profile)) ==
        "datawriter_qos: rank_replacement REBUILD needs TRANSIENT_LOCAL: set durability, which is VOLATILE");
  }
  SECTION("the writer's limits") {
    profile.datawriter_qos.resource_limits.max_samples = 9;
    CHECK(text_of(check_consistent(profile)) ==
          "datawriter_qos: rank_replacement REBUILD needs LENGTH_UNLIMITED throughout: set resource_limits, "
          "which is "
          "max_samples 9, max_instances LENGTH_UNLIMITED, max_samples_per_instance LENGTH_UNLIMITED");
  }
  SECTION("the reader's durability") {
    profile.datareader_qos.durability.kind = DurabilityKind::volatile_;
    CHECK(
        text_of(check_consistent(profile)) ==
        "datareader_qos: rank_replacement REBUILD needs TRANSIENT_LOCAL: set durability, which is VOLATILE");
  }
}

TEST_CASE("profile: an inconsistent policy is reported with its entity", "[qos]") {
  Profile profile;
  profile.datareader_qos.history.depth = 0;
  CHECK(text_of(check_consistent(profile)) ==
        "datareader_qos: HISTORY: KEEP_LAST with depth 0; depth must be at least 1");
  profile = {};
  profile.datawriter_qos.liveliness.lease_duration = std::chrono::milliseconds(99);
  CHECK(text_of(check_enforced(profile)).starts_with("datawriter_qos: LIVELINESS: "));
}

TEST_CASE("profile: a job of ranks needs ends that lose nothing and match", "[qos]") {
  CHECK(check_for_ranks(fault_tolerant()));
  Profile profile;
  CHECK(text_of(check_for_ranks(profile)) ==
        "datawriter_qos: a job of ranks needs KEEP_ALL: set history, which is KEEP_LAST");
  profile = fault_tolerant();
  profile.datareader_qos.reliability.kind = ReliabilityKind::best_effort;
  CHECK(text_of(check_for_ranks(profile)) ==
        "datareader_qos: a job of ranks needs RELIABLE: set reliability, which is BEST_EFFORT");
  profile = fault_tolerant();
  profile.datawriter_qos.durability.kind = DurabilityKind::volatile_;
  CHECK(text_of(check_for_ranks(profile)) ==
        "datareader_qos and datawriter_qos of one profile must match in a job of ranks: DURABILITY: reader "
        "requests "
        "TRANSIENT_LOCAL, writer offers VOLATILE");
}

TEST_CASE("profile: prints as four lines", "[qos]") {
  CHECK(to_string(Profile{}) ==
        "profile (without a name)\n"
        "DataWriter: RELIABILITY RELIABLE, max_blocking_time 100 ms; DURABILITY VOLATILE; HISTORY KEEP_LAST, "
        "depth 1; "
        "RESOURCE_LIMITS max_samples LENGTH_UNLIMITED, max_instances LENGTH_UNLIMITED, "
        "max_samples_per_instance "
        "LENGTH_UNLIMITED; LIVELINESS AUTOMATIC, lease_duration infinite\n"
        "DataReader: RELIABILITY BEST_EFFORT, max_blocking_time 100 ms; DURABILITY VOLATILE; HISTORY "
        "KEEP_LAST, depth "
        "1; RESOURCE_LIMITS max_samples LENGTH_UNLIMITED, max_instances LENGTH_UNLIMITED, "
        "max_samples_per_instance "
        "LENGTH_UNLIMITED; LIVELINESS AUTOMATIC, lease_duration infinite\n"
        "rank_replacement: ABORT\n");
}
