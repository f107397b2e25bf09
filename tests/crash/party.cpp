#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <set>
#include <vector>

#include "llamada/base/crash_point.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/topics/participant.hpp"
#include "participants.hpp"

namespace llamada::crash {
namespace {

using namespace topics;
using namespace std::chrono_literals;

/// Longer than any test may take: nobody is woken by it.
constexpr auto for_ever = 600s;
/// Samples that a reader holds in their writers' memory.
constexpr std::size_t held_max = 8;
/// So many samples may be on the way: writers sleep now and then, and readers wake them.
constexpr std::int32_t window = 64;

/// Large samples that nobody holds, each written once the one before was let go of: they share their room.
bool is_alone(std::uint64_t number) { return number >= samples_each / 4 && number < samples_each / 4 + 6; }

/// What a writer's nth sample contains: whose it is, its number, and more, of many sizes.
std::vector<std::byte> payload_of(std::uint32_t writer, std::uint64_t number) {
  constexpr std::array<std::size_t, 5> sizes{16, 24, 48, 200, 3000};
  std::vector<std::byte> payload(is_alone(number) ? 70000 : sizes[number % sizes.size()]);
  for (std::size_t i = 16; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(number * 31 + i);
  const std::uint64_t front[] = {writer, number};
  std::memcpy(payload.data(), front, sizeof front);
  return payload;
}

class Party {
 public:
  Party(Kind kind, std::uint32_t party, const std::string& socket_name, PartyBoard& board)
      : kind_(kind), party_(party), board_(board) {
    board.pids[party] = static_cast<std::uint32_t>(::getpid());
    llamanet::ApplicationOptions options;
    options.socket_name = socket_name;
    options.arena.log_count_max = 32;
    options.arena.cursor_count_max = 32;
    options.arena.endpoint_count_max = 16;
    options.arena.extent_bytes = 64 << 10;
    auto transport = llamanet::LlamanetTransport::open(options);
    if (!transport) fail("{}", transport.error().text());
    transport_ = std::move(*transport);
    participant_ = std::make_unique<Participant>(*transport_, clock_);
  }

 protected:
  template <typename... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    const auto text = fmt::format(format, std::forward<Arguments>(arguments)...);
    std::snprintf(board_.error[party_], sizeof(board_.error[party_]), "party %u: %s", party_, text.c_str());
    ::_exit(1);
  }

  /// Polls and sleeps until it holds; it is not asked again then.
  template <typename Condition>
  void wait_until(Condition condition) {
    bool holds = false;
    const auto look = [&] {
      if (auto polled = participant_->poll(); !polled) fail("{}", polled.error().text());
      return holds = holds || condition();
    };
    while (!look())
      if (auto waited = participant_->wait(look, for_ever); !waited) fail("{}", waited.error().text());
  }

  void report_points() {
    std::string text;
    for (auto name : crash_points_passed()) text += fmt::format("{} {}\n", name, crash_point_passes(name));
    std::snprintf(board_.points[party_], sizeof(board_.points[party_]), "%s", text.c_str());
  }

  EndpointSpec spec() const {
    const auto history = kind_ == Kind::keep_all ? qos::HistoryKind::keep_all : qos::HistoryKind::keep_last;
    if (is_writer(party_)) {
      qos::DataWriterQos qos;
      qos.history.kind = history;
      qos.send_window = {window, window};
      return {"killed", "bytes", 7, true, qos::endpoint_qos(qos, {}), 0};
    }
    qos::DataReaderQos qos;
    qos.reliability.kind = qos::ReliabilityKind::reliable;
    qos.history.kind = history;
    return {"killed", "bytes", 7, true, qos::endpoint_qos(qos, {}), 0};
  }

  const Kind kind_;
  const std::uint32_t party_;
  PartyBoard& board_;
  SystemClock clock_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Participant> participant_;
};

class WritingParty final : Party, WriterEvents {
 public:
  using Party::Party;

  void run() {
    auto made = participant_->create_writer(spec(), *this);
    if (!made) fail("{}", made.error().text());
    endpoint_ = std::move(*made);
    wait_until([&] { return all_readers_are_there(); });
    for (std::uint64_t number = 1; number <= samples_each; ++number) {
      if (number == samples_each / 2) change_something();
      if (is_alone(number)) wait_until([&] { return endpoint_->all_acknowledged(); });
      write(number);
    }
    wait_until([&] { return endpoint_->all_acknowledged(); });
    endpoint_.reset();
    participant_.reset();
    transport_.reset();
    report_points();
  }

 private:
  /// All that live, and they know it, too: what is VOLATILE begins with the match.
  bool all_readers_are_there() const {
    for (std::uint32_t reader = writer_count; reader < party_count; ++reader)
      if (board_.victim_is_dead.load() != reader + 1 &&
          (!matched_.contains(board_.pids[reader]) || board_.readers[reader].matched[party_] == 0))
        return false;
    return true;
  }

  /// Another writer comes and goes, and the QoS changes.
  void change_something() {
    auto other = spec();
    other.topic = fmt::format("aside-{}", party_);
    auto made = participant_->create_writer(other, *this);
    if (!made) fail("{}", made.error().text());
    if (auto published = (*made)->publish(payload_of(party_, 1), {}); !published)
      fail("{}", published.error().text());
    made->reset();
    auto qos = spec().qos;
    qos.datawriter.transport_priority.value = 7;
    if (auto set = endpoint_->set_qos(qos); !set) fail("{}", set.error().text());
  }

  void write(std::uint64_t number) {
    const auto payload = payload_of(party_, number);
    SampleHeader header;
    header.instance = party_;
    header.source_timestamp_ns = static_cast<std::int64_t>(number);
    wait_until([&] {
      auto published = number % 3 == 0 ? publish_loan(payload, header) : endpoint_->publish(payload, header);
      if (!published && published.error().code() != Errc::would_block)
        fail("sample {}: {}", number, published.error().text());
      if (published && *published != number) fail("sample {} is number {}", number, *published);
      return published.has_value();
    });
  }

  Result<std::uint64_t> publish_loan(const std::vector<std::byte>& payload, const SampleHeader& header) {
    auto loan = endpoint_->loan(payload.size());
    if (!loan) return propagate(loan);
    std::copy(payload.begin(), payload.end(), loan->data().begin());
    return endpoint_->publish(std::move(*loan), header);
  }

  void on_matched(const EndpointInfo& reader) override { matched_.insert(reader.pid); }
  void on_qos_changed(const EndpointInfo&) override {}
  void on_unmatched(const EndpointId&, bool) override {}
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>&) override {
    fail("a reader does not fit");
  }
  void on_liveliness_lost() override {}

  std::unique_ptr<WriterEndpoint> endpoint_;
  std::set<std::uint32_t> matched_;  // by process
};

class ReadingParty final : Party, ReaderEvents {
 public:
  using Party::Party;

  void run() {
    auto made = participant_->create_reader(spec(), *this);
    if (!made) fail("{}", made.error().text());
    endpoint_ = std::move(*made);
    wait_until([&] {
      if (offers_ > samples_each && !changed_) change_something();
      return all_over();
    });
    held_.clear();
    endpoint_.reset();
    participant_.reset();
    transport_.reset();
    report_points();
  }

 private:
  void change_something() {
    changed_ = true;
    auto qos = spec().qos;
    qos.datareader.user_data.value = {std::byte{7}};
    if (auto set = endpoint_->set_qos(qos); !set) fail("{}", set.error().text());
  }

  PartyBoard::Reader& notes() { return board_.readers[party_]; }

  /// Both writers have left or died; one that died before it was matched will never come.
  bool all_over() {
    if (over_ == writer_count) return true;
    const std::uint32_t victim = board_.victim_is_dead.load() - 1;
    return victim < writer_count && over_ == matched_ && notes().died[1 - victim] != 0;
  }

  bool on_sample(const EndpointId& id, Sample&& sample) override {
    if (++offers_ % 50 == 0) return false;  // no room this time
    if (sample.data().size() < 16) fail("a sample of {} bytes", sample.data().size());
    std::uint64_t front[2];
    std::memcpy(front, sample.data().data(), sizeof front);
    const auto [writer, number] = front;
    if (writer >= writer_count) fail("a sample of writer {}", writer);
    if (!std::ranges::equal(sample.data(), payload_of(static_cast<std::uint32_t>(writer), number)))
      fail("sample {} of writer {} is not what was written", number, writer);
    const auto before = notes().last[writer].load();
    const bool follows = kind_ == Kind::keep_all ? number == before + 1 : number > before;
    if (!follows || sample.header().sequence_number != number || sample.header().instance != writer)
      fail("after sample {} of writer {} comes {}", before, writer, number);
    writer_of_[id] = static_cast<std::uint32_t>(writer);
    notes().last[writer] = number;
    if (is_alone(number)) {
      held_.clear();
    } else {
      held_.push_back(std::move(sample));
      if (held_.size() > held_max) held_.pop_front();
    }
    return true;
  }
  void on_matched(const EndpointInfo& writer) override {
    ++matched_;
    for (std::uint32_t party = 0; party < writer_count; ++party)
      if (board_.pids[party] == writer.pid) notes().matched[party] = 1;
    transport_->wake_all();  // who waits for the note
  }
  void on_qos_changed(const EndpointInfo&) override {}
  void on_unmatched(const EndpointId& id, bool died) override {
    ++over_;
    if (const auto found = writer_of_.find(id); found != writer_of_.end())
      notes().died[found->second] = died ? 1 : 2;
    held_.clear();  // so that the other's chunks can be let go of, too
  }
  void on_liveliness_changed(const EndpointId&, bool) override {}
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>&) override {
    fail("a writer does not fit");
  }
  void on_samples_lost(const EndpointId&, std::uint64_t count) override {
    if (kind_ == Kind::keep_all) fail("{} samples are lost", count);
  }

  std::unique_ptr<ReaderEndpoint> endpoint_;
  std::deque<Sample> held_;
  std::map<EndpointId, std::uint32_t> writer_of_;
  std::uint32_t matched_ = 0, over_ = 0;
  std::uint64_t offers_ = 0;
  bool changed_ = false;
};

}  // namespace

void run_party(Kind kind, std::uint32_t party, const std::string& socket_name, PartyBoard& board) {
  if (is_writer(party))
    WritingParty(kind, party, socket_name, board).run();
  else
    ReadingParty(kind, party, socket_name, board).run();
  ::_exit(0);
}

}  // namespace llamada::crash
