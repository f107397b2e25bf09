#include "sim_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "llamada/base/crc32c.hpp"

namespace llamada::mpi::sim {
namespace {

struct Header {
  std::uint64_t state;  // of the sender: everything that it was told
  std::uint32_t
      number;  // of the messages from this sender to this receiver with this tag in this communicator
  std::uint32_t words;  // that follow
};

using Payload = std::vector<std::uint32_t>;

Payload make_payload(std::uint64_t state, std::uint32_t number, std::size_t words) {
  Payload payload(sizeof(Header) / 4 + words);
  const Header header{state, number, static_cast<std::uint32_t>(words)};
  std::memcpy(payload.data(), &header, sizeof(header));
  for (std::size_t i = 0; i < words; ++i)
    payload[sizeof(Header) / 4 + i] = static_cast<std::uint32_t>(state + i * 2654435761U);
  return payload;
}

constexpr std::size_t words_max = 1500;

/// One rank of the program. `script` is the same on all ranks, `own` differs; neither depends on the
/// schedule.
class Program {
 public:
  Program(Rank& rank, std::uint64_t seed)
      : rank_(rank), script_(seed), own_(seed * 31 + static_cast<std::uint64_t>(rank.self)) {
    if (!rank.job.options().has_coin) return;
    Random coin(seed * 37);
    coin_rank_ = static_cast<int>(coin.below(static_cast<std::uint64_t>(rank.size)));
    coin_place_ = 1 + coin.below(60);
    coin_changes_what_is_sent_ = coin.chance(1, 3);
  }

  void run() {
    pause();
    const std::uint64_t phases = 2 + script_.below(4);
    for (phase_ = 0; phase_ < static_cast<int>(phases); ++phase_) {
      switch (script_.below(7)) {
        case 0:
        case 1:
          exchange();
          break;
        case 2:
          probe_exchange();
          break;
        case 3:
          cancel_exchange();
          break;
        case 4:
        case 5:
          collectives();
          break;
        default:
          farm();
          break;
      }
      if (script_.chance(1, 2)) barrier();
    }
    barrier();
  }

 private:
  // What the program was told becomes part of its state, and so of all that it sends.
  void told(std::uint64_t value) { state_ = (state_ ^ value) * 0x100000001b3 + 17; }

  void pause() {
    rank_.pause();
    if (++places_ != coin_place_ || rank_.self != coin_rank_ || rank_.coin()) return;
    if (coin_changes_what_is_sent_)
      told(places_);
    else
      own_ = Random(places_);
  }

  int tag(int kind) const { return phase_ * 8 + kind; }
  MPI_Comm communicator(std::size_t index) const { return rank_.communicators[index]; }

  void receive_checked(const Payload& payload, const MPI_Status& status, std::size_t comm) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Header header{};
    std::memcpy(&header, payload.data(), sizeof(header));
    const Payload expected = make_payload(header.state, header.number, header.words);
    if (static_cast<std::size_t>(bytes) != expected.size() * 4 ||
        !std::equal(expected.begin(), expected.end(), payload.begin()))
      throw std::string("a message is damaged");
    auto& next = received_[{status.MPI_SOURCE, comm, status.MPI_TAG}];
    if (header.number != next++)
      throw fmt::format("rank {} has from rank {}, tag {}, message {} where {} was due", rank_.self,
                        status.MPI_SOURCE, status.MPI_TAG, header.number, next - 1);
    log(rank_.history.received[static_cast<std::size_t>(status.MPI_SOURCE)], comm, status.MPI_TAG, payload,
        expected.size());
    told(header.state);
    told(static_cast<std::uint64_t>(status.MPI_SOURCE) << 32 | static_cast<std::uint32_t>(status.MPI_TAG));
  }

  void log(std::vector<std::uint64_t>& history, std::size_t comm, int tag, const Payload& payload,
           std::size_t words) {
    const std::uint64_t digest = crc32c(std::as_bytes(std::span(payload.data(), words)));
    history.push_back(static_cast<std::uint64_t>(comm) << 56 | static_cast<std::uint64_t>(tag) << 32 |
                      digest);
  }

  Payload next_message(int to, std::size_t comm, int tag) {
    static constexpr std::size_t sizes[] = {0, 0, 1, 5, 8, 30, 200, words_max};
    Payload payload = make_payload(state_, sent_[{to, comm, tag}]++, sizes[own_.below(8)]);
    log(rank_.history.sent[static_cast<std::size_t>(to)], comm, tag, payload, payload.size());
    return payload;
  }

  // A phase's messages: how many from whom to whom, in which communicator. The same on all ranks.
  void plan() {
    const auto size = static_cast<std::size_t>(rank_.size);
    plan_.assign(size * size * 3, 0);
    const std::uint64_t messages = 1 + script_.below(10);
    for (std::uint64_t i = 0; i < messages; ++i) ++plan_[script_.below(plan_.size())];
  }
  int planned(int from, int to, std::size_t comm) const {
    const auto size = static_cast<std::size_t>(rank_.size);
    return plan_[(static_cast<std::size_t>(from) * size + static_cast<std::size_t>(to)) * 3 + comm];
  }

  struct Pending {
    MPI_Request request;
    Payload payload;
    std::size_t comm;
    bool receive;
    MPI_Status status{};
  };

  void start_sends(std::vector<Pending>& pending, bool may_block) {
    for (int to = 0; to < rank_.size; ++to) {
      for (std::size_t comm = 0; comm < 3; ++comm) {
        for (int i = 0; i < planned(rank_.self, to, comm); ++i) {
          pending.push_back({MPI_REQUEST_NULL, next_message(to, comm, tag(0)), comm, false});
          auto& send = pending.back();
          const int count = static_cast<int>(send.payload.size());
          pause();
          switch (own_.below(may_block && to != rank_.self ? 5 : 4)) {
            case 0:
              MPI_Issend(send.payload.data(), count, MPI_INT, to, tag(0), communicator(comm), &send.request);
              break;
            case 1:
              MPI_Ibsend(send.payload.data(), count, MPI_INT, to, tag(0), communicator(comm), &send.request);
              break;
            default:
              MPI_Isend(send.payload.data(), count, MPI_INT, to, tag(0), communicator(comm), &send.request);
              break;
          }
        }
      }
    }
  }

  /// Receives of all that is planned for this rank: named or wildcard by communicator.
  void start_receives(std::vector<Pending>& pending) {
    for (std::size_t comm = 0; comm < 3; ++comm) {
      const bool wildcard = own_.chance(1, 2);
      for (int from = 0; from < rank_.size; ++from) {
        for (int i = 0; i < planned(from, rank_.self, comm); ++i) {
          pending.push_back({MPI_REQUEST_NULL, Payload(words_max + 8), comm, true});
          auto& receive = pending.back();
          MPI_Irecv(receive.payload.data(), static_cast<int>(receive.payload.size()), MPI_INT,
                    wildcard ? MPI_ANY_SOURCE : from, tag(0), communicator(comm), &receive.request);
          pause();
        }
      }
    }
  }

  void done(Pending& pending, const MPI_Status& status) {
    pending.status = status;
    if (!pending.receive) return;
    told(static_cast<std::uint64_t>(status.MPI_SOURCE));
    told(pending.payload[0]);
  }

  /// Completes everything in one of the ways that MPI has. Receives match in the order of posting, whichever
  /// is complete first.
  void complete(std::vector<Pending>& pending) {
    complete_somehow(pending);
    for (auto& one : pending)
      if (one.receive) receive_checked(one.payload, one.status, one.comm);
  }

  void complete_somehow(std::vector<Pending>& pending) {
    std::vector<MPI_Request> requests;
    for (auto& one : pending) requests.push_back(one.request);
    const int count = static_cast<int>(requests.size());
    std::vector<MPI_Status> statuses(requests.size());
    std::vector<int> indices(requests.size());
    const std::uint64_t way = own_.below(8);
    for (std::size_t at = 0; at < requests.size();) {
      pause();
      int flag = 0, index = 0, some = 0;
      MPI_Status status;
      switch (way) {
        case 0:
          MPI_Waitall(count, requests.data(), statuses.data());
          for (std::size_t i = 0; i < requests.size(); ++i) done(pending[i], statuses[i]);
          return;
        case 1:
          MPI_Waitany(count, requests.data(), &index, &status);
          told(static_cast<std::uint64_t>(index));
          done(pending[static_cast<std::size_t>(index)], status);
          ++at;
          break;
        case 2:
        case 3:
          (way == 2 ? MPI_Waitsome : MPI_Testsome)(count, requests.data(), &some, indices.data(),
                                                   statuses.data());
          for (int i = 0; i < some; ++i) {
            told(static_cast<std::uint64_t>(indices[static_cast<std::size_t>(i)]));
            done(pending[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])],
                 statuses[static_cast<std::size_t>(i)]);
          }
          at += static_cast<std::size_t>(some);
          break;
        case 4:
          MPI_Testany(count, requests.data(), &index, &flag, &status);
          told(static_cast<std::uint64_t>(flag));
          if (flag) done(pending[static_cast<std::size_t>(index)], status), ++at;
          break;
        case 5:
          MPI_Testall(count, requests.data(), &flag, statuses.data());
          told(static_cast<std::uint64_t>(flag));
          if (!flag) break;
          for (std::size_t i = 0; i < requests.size(); ++i) done(pending[i], statuses[i]);
          return;
        case 6:
          MPI_Request_get_status(requests[at], &flag, &status);
          told(static_cast<std::uint64_t>(flag));
          if (!flag) break;
          MPI_Wait(&requests[at], &status);
          done(pending[at++], status);
          break;
        default:
          MPI_Test(&requests[at], &flag, &status);
          told(static_cast<std::uint64_t>(flag));
          if (flag) done(pending[at++], status);
          break;
      }
    }
  }

  void exchange() {
    plan();
    std::vector<Pending> pending;
    if (own_.chance(1, 2)) {
      start_sends(pending, false);
      start_receives(pending);
    } else {
      start_receives(pending);
      start_sends(pending, true);
    }
    if (own_.chance(1, 4)) told(static_cast<std::uint64_t>(MPI_Wtime() * 1e6));
    complete(pending);
  }

  int planned_for_me(std::size_t comm) const {
    int sum = 0;
    for (int from = 0; from < rank_.size; ++from) sum += planned(from, rank_.self, comm);
    return sum;
  }

  void probe_exchange() {
    plan();
    std::vector<Pending> sends;
    start_sends(sends, false);
    const std::uint64_t way = own_.below(4);
    for (std::size_t comm = 0; comm < 3; ++comm) {
      for (int left = planned_for_me(comm); left > 0;) {
        pause();
        MPI_Status status;
        MPI_Message message = MPI_MESSAGE_NULL;
        int flag = 1;
        switch (way) {
          case 0:
            MPI_Probe(MPI_ANY_SOURCE, tag(0), communicator(comm), &status);
            break;
          case 1:
            MPI_Iprobe(MPI_ANY_SOURCE, tag(0), communicator(comm), &flag, &status);
            break;
          case 2:
            MPI_Mprobe(MPI_ANY_SOURCE, tag(0), communicator(comm), &message, &status);
            break;
          default:
            MPI_Improbe(MPI_ANY_SOURCE, tag(0), communicator(comm), &flag, &message, &status);
            break;
        }
        told(static_cast<std::uint64_t>(flag));
        if (!flag) continue;
        --left;
        int count = 0;
        MPI_Get_count(&status, MPI_INT, &count);
        Payload payload(static_cast<std::size_t>(count) + 1);
        pause();
        if (way >= 2)
          MPI_Mrecv(payload.data(), count, MPI_INT, &message, &status);
        else
          MPI_Recv(payload.data(), count, MPI_INT, status.MPI_SOURCE, tag(0), communicator(comm), &status);
        receive_checked(payload, status, comm);
      }
    }
    complete(sends);
  }

  /// A nonblocking collective of the ranks' states, with what it gives.
  struct Collective {
    enum Kind { allgather, allreduce, bcast, alltoall, barrier, kind_count };
    Kind kind;
    int root;
    std::uint64_t given;
    std::vector<std::uint64_t> out, in;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void start(Collective& one, MPI_Comm comm) {
    for (int to = 0; to < rank_.size; ++to) one.out.push_back(one.given ^ static_cast<std::uint64_t>(to));
    one.in.assign(static_cast<std::size_t>(rank_.size), one.given);
    switch (one.kind) {
      case Collective::allgather:
        MPI_Iallgather(&one.given, 1, MPI_UINT64_T, one.in.data(), 1, MPI_UINT64_T, comm, &one.request);
        break;
      case Collective::allreduce:
        MPI_Iallreduce(&one.given, one.in.data(), 1, MPI_UINT64_T, MPI_BXOR, comm, &one.request);
        break;
      case Collective::bcast:
        MPI_Ibcast(one.in.data(), 1, MPI_UINT64_T, one.root, comm, &one.request);
        break;
      case Collective::alltoall:
        MPI_Ialltoall(one.out.data(), 1, MPI_UINT64_T, one.in.data(), 1, MPI_UINT64_T, comm, &one.request);
        break;
      default:
        MPI_Ibarrier(comm, &one.request);
        break;
    }
  }

  /// What each gave is known from the allgather behind them.
  void check(const Collective& one, const std::vector<std::uint64_t>& given) {
    std::uint64_t together = 0;
    for (std::uint64_t each : given) together ^= each;
    bool good = true;
    switch (one.kind) {
      case Collective::allgather:
        good = one.in == given;
        break;
      case Collective::allreduce:
        good = one.in[0] == together;
        break;
      case Collective::bcast:
        good = one.in[0] == given[static_cast<std::size_t>(one.root)];
        break;
      case Collective::alltoall:
        for (std::size_t from = 0; from < given.size(); ++from)
          good = good && one.in[from] == (given[from] ^ static_cast<std::uint64_t>(rank_.self));
        break;
      default:
        break;
    }
    if (!good) throw std::string("a collective gives something else than was contributed");
    told(one.in[0]);
  }

  /// Several at once, among messages.
  void collectives() {
    plan();
    std::vector<Collective> begun(1 + script_.below(5));
    const std::uint64_t given = state_;
    for (auto& one : begun) {
      one.kind = static_cast<Collective::Kind>(script_.below(Collective::kind_count));
      one.root = static_cast<int>(script_.below(static_cast<std::uint64_t>(rank_.size)));
      one.given = given;
      start(one, communicator(script_.below(3)));
      pause();
    }
    std::vector<Pending> pending;
    start_receives(pending);
    start_sends(pending, false);
    if (own_.chance(1, 2)) complete(pending), pending.clear();
    std::vector<MPI_Request> requests;
    for (auto& one : begun) requests.push_back(one.request);
    for (std::size_t left = requests.size(); left > 0;) {
      pause();
      int index = 0, flag = 1;
      (own_.chance(1, 2)
           ? MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE)
           : MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag,
                         MPI_STATUS_IGNORE));
      told(flag ? static_cast<std::uint64_t>(index) : 1000);
      if (flag) --left;
    }
    complete(pending);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(rank_.size));
    MPI_Allgather(&given, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (const auto& one : begun) check(one, all);
  }

  /// Receives that are often taken back before something has come.
  void cancel_exchange() {
    plan();
    std::vector<Pending> sends;
    start_sends(sends, false);
    for (std::size_t comm = 0; comm < 3; ++comm) {
      std::vector<int> left;
      for (int from = 0; from < rank_.size; ++from) left.push_back(planned(from, rank_.self, comm));
      const bool wildcard = own_.chance(2, 3);
      int tries = 0;
      for (int sum = planned_for_me(comm); sum > 0;) {
        const int from = static_cast<int>(
            std::find_if(left.begin(), left.end(), [](int n) { return n > 0; }) - left.begin());
        Payload payload(words_max + 8);
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(payload.data(), static_cast<int>(payload.size()), MPI_INT, wildcard ? MPI_ANY_SOURCE : from,
                  tag(0), communicator(comm), &request);
        pause();
        int cancelled = 0;
        if (++tries <= 6) MPI_Cancel(&request);
        pause();
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        told(static_cast<std::uint64_t>(cancelled));
        if (cancelled) continue;
        --sum;
        --left[static_cast<std::size_t>(status.MPI_SOURCE)];
        receive_checked(payload, status, comm);
      }
    }
    complete(sends);
  }

  /// Rank 0 gives work to whoever asks; who gets how much depends on the schedule.
  void farm() {
    int jobs = 1 + static_cast<int>(script_.below(8));
    if (rank_.size == 1) return;
    const MPI_Comm comm = communicator(1);
    if (rank_.self != 0) return work(comm);
    for (int workers = rank_.size - 1; workers > 0;) {
      Payload payload(words_max + 8);
      MPI_Status status;
      MPI_Recv(payload.data(), static_cast<int>(payload.size()), MPI_INT, MPI_ANY_SOURCE, tag(1), comm,
               &status);
      receive_checked(payload, status, 1);
      const int order = jobs-- > 0 ? 2 : 3;
      if (order == 3) --workers;
      pause();
      const Payload answer = next_message(status.MPI_SOURCE, 1, tag(order));
      MPI_Send(answer.data(), static_cast<int>(answer.size()), MPI_INT, status.MPI_SOURCE, tag(order), comm);
    }
  }

  void work(MPI_Comm comm) {
    for (;;) {
      pause();
      const Payload question = next_message(0, 1, tag(1));
      const int count = static_cast<int>(question.size());
      (own_.chance(1, 3) ? MPI_Ssend : MPI_Send)(question.data(), count, MPI_INT, 0, tag(1), comm);
      Payload payload(words_max + 8);
      MPI_Status status;
      MPI_Recv(payload.data(), static_cast<int>(payload.size()), MPI_INT, 0, MPI_ANY_TAG, comm, &status);
      receive_checked(payload, status, 1);
      if (status.MPI_TAG == tag(3)) return;
    }
  }

  void barrier() {
    for (int distance = 1; distance < rank_.size; distance *= 2) {
      const int to = (rank_.self + distance) % rank_.size,
                from = (rank_.self - distance + rank_.size) % rank_.size;
      const Payload out = next_message(to, 2, 1000);
      Payload in(words_max + 8);
      MPI_Status status;
      pause();
      MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_INT, to, 1000, in.data(),
                   static_cast<int>(in.size()), MPI_INT, from, 1000, communicator(2), &status);
      receive_checked(in, status, 2);
    }
  }

  using Key = std::tuple<int, std::size_t, int>;
  Rank& rank_;
  Random script_;
  Random own_;
  int phase_ = 0;
  std::uint64_t state_ = 1;
  // Where a replacement goes another way than the first life of the rank, if there is a coin.
  std::uint64_t places_ = 0;
  std::uint64_t coin_place_ = 0;
  int coin_rank_ = -1;
  bool coin_changes_what_is_sent_ = false;
  std::vector<int> plan_;
  std::map<Key, std::uint32_t> sent_;
  std::map<Key, std::uint32_t> received_;
};

}  // namespace

void run_program(Rank& rank, std::uint64_t seed) {
  std::vector<std::byte> buffer(1 << 16);
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  Program(rank, seed).run();
}

}  // namespace llamada::mpi::sim
