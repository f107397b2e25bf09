#include "job_recorder.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "llamada/base/bytes.hpp"

namespace llamada::launcher {
namespace {

/// How often what ranks have recorded is kept though nothing waits for it.
constexpr std::chrono::seconds cut_interval{1};

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::uint64_t group_of(std::uint32_t rank, std::uint8_t stream) { return 2 * std::uint64_t{rank} + stream; }

template <typename Held>
std::size_t size_of(const Held& held) {
  const auto* output = std::get_if<control::Output>(&held);
  return output ? output->bytes.size() : 0;
}

}  // namespace

Result<std::unique_ptr<JobRecorder>> JobRecorder::begin(EventLoop& loop, std::unique_ptr<store::Store> store,
                                                        const control::Start& job, const JobPast* past,
                                                        Actions actions) {
  std::unique_ptr<JobRecorder> recorder(new JobRecorder(loop, std::move(store), std::move(actions)));
  if (auto status = recorder->open(job, past); !status) return propagate(status);
  auto sync = StoreSync::begin(loop, *recorder->store_,
                               [self = recorder.get()](store::BatchNumber batch, const Status& status) {
                                 self->synced(batch, status);
                               });
  if (!sync) return propagate(sync);
  recorder->sync_ = std::move(*sync);
  return recorder;
}

JobRecorder::JobRecorder(EventLoop& loop, std::unique_ptr<store::Store> store, Actions actions)
    : loop_(loop), store_(std::move(store)), actions_(std::move(actions)) {}

JobRecorder::~JobRecorder() { loop_.cancel(timer_); }

Status JobRecorder::open(const control::Start& job, const JobPast* past) {
  for (const auto& [stream, name] :
       {std::pair(&plan_, job_stream::plan), std::pair(&cuts_, job_stream::cuts),
        std::pair(&outcomes_, job_stream::outcomes), std::pair(&ledger_, job_stream::ledger),
        std::pair(&output_, job_stream::output), std::pair(&input_, job_stream::input),
        std::pair(&process_, job_stream::process), std::pair(&code_, job_stream::code),
        std::pair(&checkpoint_, job_stream::checkpoint), std::pair(&end_, job_stream::end)})
    if (auto status = open_stream(*stream, name); !status) return status;
  if (past) {
    // Their numbers would make them a part of the next cut.
    for (const Stream* stream : {&outcomes_, &ledger_, &output_, &input_, &process_, &checkpoint_})
      if (auto status = drop_behind(*stream, past->last_cut); !status) return status;
    for (std::uint32_t rank = 0; rank < past->ranks.size(); ++rank)
      for (std::uint8_t stream = 1; stream <= 2; ++stream)
        if (const std::size_t given = past->ranks[rank].shown[stream - 1].size(); given > 0)
          in_store_[group_of(rank, stream)] = given_[group_of(rank, stream)] = given;
    shown_ = past->confirmed;
  }
  if (auto status = append(plan_, 0, {}, control::encode(job)); !status) return status;
  if (plan_.last > 1)
    if (auto status = store_->drop_below(plan_.id, plan_.last); !status) return status;
  auto batch = store_->write();
  if (!batch) return propagate(batch);
  return store_->sync(*batch);
}

Status JobRecorder::open_stream(Stream& stream, const char* name) {
  auto id = store_->stream(name, {});
  if (!id) return propagate(id);
  stream.id = *id;
  for (const store::StreamInfo& info : store_->streams())
    if (info.id == *id) stream.last = info.last;
  return {};
}

/// What had been written of a cut that never became whole.
Status JobRecorder::drop_behind(const Stream& stream, std::uint64_t last_cut) {
  std::vector<std::uint64_t> numbers;
  auto read = store_->read(stream.id, 0, [&](const store::Item& item) {
    if (static_cast<std::uint64_t>(item.time_ns) > last_cut) numbers.push_back(item.number);
    return true;
  });
  if (!read && read.error().code() != Errc::not_found) return read;
  for (const std::uint64_t number : numbers)
    if (auto dropped = change([&] { return store_->drop(stream.id, number); }); !dropped) return dropped;
  return {};
}

/// A step that the open batch has no room for is taken in the next one.
Status JobRecorder::change(const std::function<Status()>& step) {
  Status status = step();
  if (status || status.error().code() != Errc::would_block) return status;
  if (auto written = store_->write(); !written) return propagate(written);
  return step();
}

Status JobRecorder::append(Stream& stream, std::uint64_t group, std::span<const std::byte> head,
                           std::span<const std::byte> body) {
  store::Item item;
  item.stream = stream.id;
  item.number = stream.last + 1;
  item.group = group;
  item.time_ns = static_cast<std::int64_t>(cuts_.last + 1);
  item.head = head;
  item.body = body;
  auto status = change([&] { return store_->append(item); });
  if (status) ++stream.last;
  return status;
}

Status JobRecorder::append_pieces(const std::vector<JournalPiece>& pieces) {
  for (const JournalPiece& piece : pieces) {
    ByteWriter head, body;
    head.number(piece.first);
    for (const log::JournalEntry& entry : piece.entries) {
      body.number(entry.head);
      body.number(entry.count);
      body.number(entry.value);
    }
    Stream& stream = piece.journal == RankJournal::outcomes ? outcomes_ : ledger_;
    if (auto status = append(stream, piece.rank + std::uint64_t{1}, head.written(), body.written()); !status)
      return status;
  }
  return {};
}

/// With its place, since what was not shown is written again by ranks that begin again.
Status JobRecorder::append_output(const control::Output& output) {
  const std::uint64_t group = group_of(output.rank, output.stream);
  std::uint64_t& written = in_store_[group];
  ByteWriter head;
  head.number(written);
  written += output.bytes.size();
  return append(output_, group, head.written(), bytes_of(output.bytes));
}

/// The cut is whole with this item. Only the last one of all cuts is kept.
Status JobRecorder::end_cut() {
  ByteWriter body;
  for (const auto& [group, size_bytes] : shown_) {
    body.number(group);
    body.number(size_bytes);
  }
  if (auto status = append(cuts_, 0, {}, body.written()); !status) return status;
  has_news_ = false;
  return change([&] { return store_->drop_below(cuts_.id, cuts_.last); });
}

void JobRecorder::hold(control::Output output) {
  if (has_ended_) return actions_.show(std::move(output));
  held_bytes_ += output.bytes.size();
  held_.emplace_back(std::move(output));
  ask_if_needed();
}

void JobRecorder::hold(std::uint64_t question) {
  if (has_ended_) return actions_.go_on(question);
  held_.emplace_back(question);
  ask_if_needed();
}

/// One cut at a time, so that what comes meanwhile shares the next one.
void JobRecorder::ask_if_needed() {
  if (!held_.empty() && written_.empty()) ask();
}

void JobRecorder::ask() {
  if (is_asking_ || has_ended_) return;
  is_asking_ = true;
  // What comes from now on may follow from what is recorded behind this cut.
  asked_ = std::exchange(held_, {});
  actions_.make_cut();
}

void JobRecorder::tick() {
  timer_ = loop_.after(cut_interval, [this] {
    if (has_ended_) return;
    if (written_.empty()) ask();
    tick();
  });
}

void JobRecorder::take(const std::vector<JournalPiece>& pieces) {
  if (!std::exchange(is_asking_, false) || has_ended_) return;
  std::deque<Held> held = std::exchange(asked_, {});
  const bool has_output = std::ranges::any_of(
      held, [](const Held& each) { return std::holds_alternative<control::Output>(each); });
  if (pieces.empty() && !has_output && !has_news_) {
    if (written_.empty())
      give(std::move(held));
    else
      std::ranges::move(held, std::back_inserter(written_.back().held));
    return ask_if_needed();
  }
  Status status = append_pieces(pieces);
  for (const Held& each : held)
    if (const auto* output = std::get_if<control::Output>(&each); output && status)
      status = append_output(*output);
  if (status) status = end_cut();
  Result<store::BatchNumber> batch = status ? store_->write() : propagate(status);
  written_.push_back({batch ? *batch : 0, std::move(held)});
  if (!batch) return failed(batch.error().text());
  sync_->ask(*batch);
}

void JobRecorder::synced(store::BatchNumber batch, const Status& status) {
  if (has_ended_) return;
  if (!status) return failed(status.error().text());
  while (!written_.empty() && written_.front().batch <= batch) {
    std::deque<Held> held = std::move(written_.front().held);
    written_.pop_front();
    give(std::move(held));
  }
  ask_if_needed();
}

void JobRecorder::give(std::deque<Held> held) {
  for (Held& each : held) {
    held_bytes_ -= size_of(each);
    if (auto* output = std::get_if<control::Output>(&each)) {
      if (!output->bytes.empty()) given_[group_of(output->rank, output->stream)] += output->bytes.size();
      actions_.show(std::move(*output));
    } else {
      actions_.go_on(std::get<std::uint64_t>(each));
    }
  }
}

void JobRecorder::give_all() {
  for (Written& written : std::exchange(written_, {})) give(std::move(written.held));
  give(std::exchange(asked_, {}));
  give(std::exchange(held_, {}));
}

void JobRecorder::failed(const std::string& why) {
  if (std::exchange(has_ended_, true)) return;
  sync_.reset();
  actions_.fail(why);
  give_all();
}

void JobRecorder::keep(Status status) {
  has_news_ = true;
  if (!status) failed(status.error().text());
}

void JobRecorder::input(std::string_view bytes) {
  if (!has_ended_) keep(append(input_, 0, {}, bytes_of(bytes)));
}

void JobRecorder::process(std::uint32_t rank, std::int32_t pid, std::string_view host) {
  if (has_ended_) return;
  const std::string text = fmt::format("{} {}", pid, host);
  keep(append(process_, rank + std::uint64_t{1}, {}, bytes_of(text)));
}

void JobRecorder::code(std::string_view line) {
  if (!has_ended_) keep(append(code_, 0, {}, bytes_of(line)));
}

void JobRecorder::checkpoint(std::uint32_t number) {
  if (!has_ended_) keep(append(checkpoint_, number, {}, {}));
}

void JobRecorder::shown(const control::OutputShown& message) {
  const std::uint64_t group = group_of(message.rank, message.stream);
  const auto given = given_.find(group);
  if (given == given_.end()) return;
  std::uint64_t& shown = shown_[group];
  shown = std::min(shown + message.size_bytes, given->second);
  has_news_ = true;
}

bool JobRecorder::is_idle() const {
  return has_ended_ || (held_.empty() && asked_.empty() && written_.empty());
}

Result<JobRecorder::Left> JobRecorder::leave() {
  sync_.reset();
  if (std::exchange(has_ended_, true)) return failure(Errc::closed, "the record of the job has ended");
  // Input and the like, which is whole without what ranks record.
  if (has_news_)
    if (auto ended = end_cut(); !ended) return propagate(ended);
  auto batch = store_->write();
  if (!batch) return propagate(batch);
  if (auto synced = store_->sync(*batch); !synced) return propagate(synced);
  for (Written& written : std::exchange(written_, {})) give(std::move(written.held));
  return Left{std::move(store_), std::move(given_)};
}

void JobRecorder::end(const std::string& why) {
  if (has_ended_) return;
  sync_.reset();
  Status status = append(end_, 0, {}, bytes_of(why));
  Result<store::BatchNumber> batch = status ? store_->write() : propagate(status);
  status = batch ? store_->sync(*batch) : propagate(batch);
  if (!status) return failed(status.error().text());
  has_ended_ = true;
  give_all();
}

}  // namespace llamada::launcher
