#include "llamada/qos/serialization.hpp"

#include "profiles.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

std::string error_of(std::string_view text) {
  auto profile = deserialize(text);
  return profile ? "ok" : profile.error().text();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("serialization: a profile comes back as it was", "[qos]") {
  for (Profile profile : {Profile{}, fault_tolerant()}) {
    profile.name = "lib::100%\n\x7f";
    profile.datawriter_qos.reliability.max_blocking_time = duration_infinite;
    profile.datareader_qos.reliability.max_blocking_time = Duration(1);
    profile.datareader_qos.history.depth = 7;
    profile.rank_replacement.log_bytes_per_node = 0xffff'ffff'ffff;
    profile.rank_replacement.log_bytes_at_start = 1;
    profile.rank_replacement.max_replacements_per_rank = 0xffffffff;
    profile.rank_replacement.on_unprotected = OnUnprotected::stop;
    if (profile.rank_replacement.kind == RankReplacementKind::rebuild)
      profile.rank_replacement.log_directory = "/scratch/50 %\n";
    if (profile.rank_replacement.kind == RankReplacementKind::rebuild)
      profile.rank_replacement.standby_interval = standby_automatic;
    profile.datawriter_qos.send_window = {3, 40};
    profile.datareader_qos.user_data.value = {std::byte{0}, std::byte{0xff}, std::byte{'='}};
    profile.user_data.value = {std::byte{'\n'}};
    profile.entity_names = {"rank", "", "50 %\n"};
    profile.tuning.set(TuningId::eager_bytes_max, 7);
    profile.tuning.set(TuningId::collective_barrier, 1);
    auto back = deserialize(serialize(profile));
    REQUIRE(back);
    CHECK(*back == profile);
  }
}

TEST_CASE("serialization: is a header and one line for each field", "[qos]") {
  const std::string text = serialize(Profile{});
  CHECK(text.starts_with("llamada-profile=1\nname=\ndatawriter_qos.durability.kind=VOLATILE\n"));
  CHECK(text.find("\ndatareader_qos.liveliness.lease_duration_ns=infinite\n") != std::string::npos);
  CHECK(text.find("\ndatawriter_qos.resource_limits.max_samples=-1\n") != std::string::npos);
  CHECK(text.find("\ntuning.llamada_spin_rounds=default\n") != std::string::npos);
  CHECK(
      text.ends_with("rank_replacement.log_bytes_per_node=2147483648\nrank_replacement.log_bytes_at_start=0\n"
                     "rank_replacement.on_unprotected=CONTINUE\nrank_replacement.log_directory=\n"
                     "rank_replacement.standby_interval_ns=infinite\n"));
}

TEST_CASE("serialization: every error has its sentence", "[qos]") {
  const std::string good = serialize(Profile{});
  CHECK(error_of("") == "a serialized profile must begin with the line 'llamada-profile=1'");
  CHECK(error_of("llamada-profile=10\n") ==
        "a serialized profile must begin with the line 'llamada-profile=1'");
  CHECK(error_of("llamada-profile=1\nx\n") ==
        "a serialized profile has 'x' where a line 'key=value' must be");
  CHECK(error_of(good + "x=1") == "a serialized profile has 'x=1' where a line 'key=value' must be");
  CHECK(error_of(good + "name=x\n") == "a serialized profile has 'name' twice");
  CHECK(error_of(good + "x=1\n") == "a serialized profile has the unknown key 'x'");
  CHECK(error_of("llamada-profile=1\n") == "a serialized profile lacks 'name'");
  CHECK(error_of(replaced(good, "KEEP_LAST", "KEEP")) ==
        "a serialized profile has the value 'KEEP' for 'datawriter_qos.history.kind'");
  CHECK(error_of(replaced(good, "depth=1", "depth=99999999999")) ==
        "a serialized profile has the value '99999999999' for 'datawriter_qos.history.depth'");
  CHECK(error_of(replaced(good, "time_ns=100000000", "time_ns=1s")) ==
        "a serialized profile has the value '1s' for 'datawriter_qos.reliability.max_blocking_time_ns'");
  CHECK(error_of(replaced(good, "name=", "name=%0")) == "a serialized profile has the value '%0' for 'name'");
  CHECK(error_of(replaced(good, "depth=1", "depth=0")) ==
        "datawriter_qos: HISTORY: KEEP_LAST with depth 0; depth must be at least 1");
  CHECK(error_of(replaced(good, "ABORT", "SHRINK")) == "ok");
}

TEST_CASE("serialization: a text cut anywhere is refused", "[qos]") {
  const std::string good = serialize(fault_tolerant());
  for (std::size_t size = 0; size < good.size(); ++size) CHECK(error_of(good.substr(0, size)) != "ok");
}
