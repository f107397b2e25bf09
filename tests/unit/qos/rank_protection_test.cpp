#include "llamada/qos/rank_protection.hpp"

#include "llamada/qos/tuning.hpp"
#include "profiles.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;

TEST_CASE("rank protection: RELIABLE, KEEP_ALL and TRANSIENT_LOCAL at both ends turn all of it on", "[qos]") {
  const RankProtection all{true, true, true};
  CHECK(rank_protection(fault_tolerant()) == all);
  CHECK(rank_protection(Profile{}) == RankProtection{});
  const auto without = [](auto change) {
    Profile profile = fault_tolerant();
    change(profile);
    return rank_protection(profile) == RankProtection{} &&
           implied_rank_replacement(profile.datawriter_qos, profile.datareader_qos) ==
               RankReplacementKind::abort;
  };
  CHECK(without([](Profile& p) { p.datawriter_qos.durability.kind = DurabilityKind::volatile_; }));
  CHECK(without([](Profile& p) { p.datareader_qos.durability.kind = DurabilityKind::volatile_; }));
  CHECK(without([](Profile& p) { p.datawriter_qos.history.kind = HistoryKind::keep_last; }));
  CHECK(without([](Profile& p) { p.datareader_qos.history.kind = HistoryKind::keep_last; }));
  CHECK(without([](Profile& p) { p.datareader_qos.reliability.kind = ReliabilityKind::best_effort; }));
  Profile more = fault_tolerant();
  more.datawriter_qos.durability.kind = DurabilityKind::persistent;
  CHECK(implied_rank_replacement(more.datawriter_qos, more.datareader_qos) == RankReplacementKind::rebuild);
}

TEST_CASE("tuning: values, ranges and the nearest name", "[qos]") {
  const auto said = [](std::string_view assignment) {
    Tuning tuning;
    auto status = set_tuning(tuning, assignment);
    if (status) status = check_consistent(tuning);
    return status ? std::string("ok") : status.error().text();
  };
  for (const char* good :
       {"llamada_eager_bytes_max=0", "llamada_eager_bytes_max=64 KiB", "llamada_bulk_piece_bytes=4MiB",
        "llamada_collective_barrier=true", "llamada_receive_before_send=0", "llamada_spin_rounds=1000000000"})
    CHECK(said(good) == "ok");
  CHECK(
      said("llamada_eager_bytes_max=-1") ==
      "llamada_eager_bytes_max cannot be '-1'; legal: 0 bytes to 128 MiB, as bytes or with KiB, MiB or GiB");
  CHECK(said("llamada_eager_bytes_max=18446744073709551615GiB").find("cannot be") != std::string::npos);
  CHECK(said("llamada_spin_rounds=1000000001") ==
        "llamada_spin_rounds is 1000000001; legal: a whole number from 0 to 1000000000");
  CHECK(said("spin_rounds=1") == "there is no setting 'spin_rounds'; llamada qos check lists all");
  CHECK(said("=1") == "there is no setting ''; llamada qos check lists all");
  Tuning tuning, over;
  tuning.set(TuningId::spin_rounds, 1);
  tuning.set(TuningId::bulk_piece_bytes, 5000);
  over.set(TuningId::spin_rounds, 2);
  tuning.put_over(over);
  CHECK(tuning.value(TuningId::spin_rounds) == 2);
  CHECK(tuning.given(TuningId::bulk_piece_bytes) == 5000);
  CHECK(tuning.value(TuningId::yields_before_sleep) == 1000);
}
