#include "llamada/waits/text.hpp"

#include "surveys.hpp"
#include "test.hpp"

using namespace llamada::waits;
using namespace llamada::waits::test;

TEST_CASE("waits: a deadlock of two receives in words", "[waits]") {
  Survey all = survey({waits({receive(1, 5)}), waits({receive(0, 7)})});
  for (int i = 0; i < 3; ++i) all[0].report->add_message(1, 6, "MPI_COMM_WORLD");
  CHECK(describe_deadlock(all, judge(all, all)) ==
        "deadlock: rank 0 waits in MPI_Recv for rank 1, tag 5, communicator MPI_COMM_WORLD; rank 1 waits in "
        "MPI_Recv for rank 0, tag 7, communicator MPI_COMM_WORLD: nobody can go on. Unmatched at rank 0: 3 "
        "messages from rank 1, tag 6.");
}

TEST_CASE("waits: a deadlock of some ranks, and who waits for them", "[waits]") {
  const Survey all =
      survey({waits({send(1)}, false, llamada::mpi::CallId::Ssend), waits({receive(1, any_tag)}), runs()});
  CHECK(describe_deadlock(all, judge(all, all)) ==
        "deadlock of 2 ranks, while others run: rank 1 waits in MPI_Recv for rank 1, any tag, communicator "
        "MPI_COMM_WORLD: none of them can go on. 1 more rank waits for these.");
}

TEST_CASE("waits: collectives that do not fit in words", "[waits]") {
  const auto bcast = [](std::int32_t root) {
    return in_collective(collective("Bcast", 4, root), llamada::mpi::CallId::Bcast);
  };
  const Survey roots = survey({bcast(1), bcast(0)});
  CHECK(
      describe_deadlock(roots, judge(roots, roots)) ==
      "deadlock: rank 0 waits in MPI_Bcast for rank 1 (collective 4 of communicator MPI_COMM_WORLD, root "
      "rank 1); rank 1 waits in MPI_Bcast for rank 0 (collective 4 of communicator MPI_COMM_WORLD, root rank "
      "0): nobody can go on. The members call collective 4 of communicator MPI_COMM_WORLD differently: rank "
      "1 "
      "calls MPI_Bcast with root rank 0 and rank 0 calls MPI_Bcast with root rank 1.");
  const Survey order = survey({in_collective(collective("Barrier", 2, any_rank, 1)),
                               in_collective(collective("Barrier", 1, any_rank, 2))});
  const std::string text = describe_deadlock(order, judge(order, order));
  CHECK(text.find("in the same order") != text.npos);
}

TEST_CASE("waits: nothing is said of the waits of a rank on another node", "[waits]") {
  Survey all = survey({waits({receive(1)}), runs()});
  all[1].node = 2;
  CHECK(describe_wait(all, 1) == "rank 1 is on node 2; run `llamada why` there to see what it waits for");
  CHECK(describe_chain(all, 0) == "rank 0 waits for rank 1");
  CHECK(judge(all, all).stuck.empty());
  all[1].course = SurveyedRank::Course::ended;
  CHECK(describe_wait(all, 1) == "rank 1 has ended");
}

TEST_CASE("waits: a job in words", "[waits]") {
  const Survey all =
      survey({waits({receive(1)}), waits({receive(2), receive(any_rank)}, true), runs(), ended()});
  CHECK(describe_job(all) ==
        "  rank 0 waits in MPI_Recv for rank 1, tag 5, communicator MPI_COMM_WORLD.\n"
        "  rank 1 waits in MPI_Recv for rank 2, tag 5, communicator MPI_COMM_WORLD, or for any rank, tag 5, "
        "communicator MPI_COMM_WORLD.\n"
        "  rank 2 does not wait in MPI.\n"
        "  rank 3 has ended.\n"
        "  The others wait for rank 2.\n");
  CHECK(describe_chain(all, 0) == "rank 0 waits for rank 1, which waits for rank 2");
}
