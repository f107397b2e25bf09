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

template <typename Held>
std::size_t size_of(const Held& held) {
  const auto* output = std::get_if<control::Output>(&held);
  return output ? output->bytes.size() : 0;
}

}  // namespace

Result<std::unique_ptr<JobRecorder>> JobRecorder::begin(EventLoop& loop, std::unique_ptr<store::Store> store,
                                                        const control::Start& job, const JobPast* past,
                                                        Actions actions) {
  auto streams = JobStreams::open(std::move(store));
  if (!streams) return propagate(streams);
  std::unique_ptr<JobRecorder> recorder(new JobRecorder(loop, std::move(*streams), std::move(actions)));
  if (auto status = recorder->open(job, past); !status) return propagate(status);
  auto sync = StoreSync::begin(loop, recorder->streams_->store(),
                               [self = recorder.get()](store::BatchNumber batch, const Status& status) {
                                 self->synced(batch, status);
                               });
  if (!sync) return propagate(sync);
  recorder->sync_ = std::move(*sync);
  return recorder;
}

JobRecorder::JobRecorder(EventLoop& loop, std::unique_ptr<JobStreams> streams, Actions actions)
    : loop_(loop), streams_(std::move(streams)), shortening_(*streams_), actions_(std::move(actions)) {}

JobRecorder::~JobRecorder() { loop_.cancel(timer_); }

Status JobRecorder::open(const control::Start& job, const JobPast* past) {
  if (past) {
    // Their numbers would make them a part of the next cut.
    for (const char* name : {job_stream::outcomes, job_stream::ledger, job_stream::output, job_stream::input,
                             job_stream::process, job_stream::checkpoint, job_stream::numbers})
      if (auto status = streams_->drop_behind(name, past->last_cut); !status) return status;
    if (auto status = shortening_.go_on(*past); !status) return status;
    for (std::uint32_t rank = 0; rank < past->ranks.size(); ++rank)
      for (std::uint8_t stream = 1; stream <= 2; ++stream)
        if (const std::uint64_t given = past->ranks[rank].given(stream - 1); given > 0)
          in_store_[output_group(rank, stream)] = given_[output_group(rank, stream)] = given;
    shown_ = past->confirmed;
    numbers_.in_store = past->numbers;
  }
  if (auto status = streams_->append(job_stream::plan, 0, {}, control::encode(job)); !status) return status;
  if (const auto last = streams_->last(job_stream::plan); last > 1)
    if (auto status = streams_->drop_below(job_stream::plan, last); !status) return status;
  auto batch = streams_->store().write();
  if (!batch) return propagate(batch);
  return streams_->store().sync(*batch);
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
    auto appended = streams_->append(stream_of(piece.journal), piece.rank + std::uint64_t{1}, head.written(),
                                     body.written());
    if (!appended) return appended;
    shortening_.has(piece);
  }
  return {};
}

/// With its place, since what was not shown is written again by ranks that begin again.
Status JobRecorder::append_output(const control::Output& output) {
  const std::uint64_t group = output_group(output.rank, output.stream);
  std::uint64_t& written = in_store_[group];
  const std::uint64_t first = written;
  ByteWriter head;
  head.number(first);
  written += output.bytes.size();
  auto appended = streams_->append(job_stream::output, group, head.written(), bytes_of(output.bytes));
  if (appended) shortening_.has_output(group, {first, written});
  return appended;
}

Status JobRecorder::append_numbers() {
  if (numbers_.asked == numbers_.in_store) return {};
  numbers_.in_store = numbers_.asked;
  auto appended = streams_->append(job_stream::numbers, 0, {}, bytes_of(numbers_.in_store));
  if (appended) numbers_.newest = streams_->last(job_stream::numbers);
  return appended;
}

/// The cut is whole with this item. Only the last one of all cuts is kept, and the last numbers.
Status JobRecorder::end_cut() {
  if (auto status = streams_->append(job_stream::cuts, 0, {}, bytes_of(shown_)); !status) return status;
  shortening_.has_cut(shown_);
  has_news_ = false;
  if (const auto newest = std::exchange(numbers_.newest, 0); newest != 0)
    if (auto status = streams_->drop_below(job_stream::numbers, newest); !status) return status;
  return streams_->drop_below(job_stream::cuts, streams_->last(job_stream::cuts));
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

void JobRecorder::numbers(const SharedNumbers& numbers) { numbers_.asked = numbers; }

void JobRecorder::take(const std::vector<JournalPiece>& pieces) {
  if (!std::exchange(is_asking_, false) || has_ended_) return;
  std::deque<Held> held = std::exchange(asked_, {});
  const bool has_output = std::ranges::any_of(
      held, [](const Held& each) { return std::holds_alternative<control::Output>(each); });
  const bool has_numbers = numbers_.asked != numbers_.in_store;
  if (pieces.empty() && !has_output && !has_news_ && !has_numbers) {
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
  if (status) status = append_numbers();
  if (status) status = shortening_.shorten();
  if (status) status = end_cut();
  Result<store::BatchNumber> batch = status ? streams_->store().write() : propagate(status);
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
      if (!output->bytes.empty()) given_[output_group(output->rank, output->stream)] += output->bytes.size();
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
  if (!has_ended_) keep(streams_->append(job_stream::input, 0, {}, bytes_of(bytes)));
}

void JobRecorder::process(std::uint32_t rank, std::int32_t pid, std::string_view host) {
  if (has_ended_) return;
  const std::string text = fmt::format("{} {}", pid, host);
  keep(streams_->append(job_stream::process, rank + std::uint64_t{1}, {}, bytes_of(text)));
}

void JobRecorder::code(std::string_view line) {
  if (!has_ended_) keep(streams_->append(job_stream::code, 0, {}, bytes_of(line)));
}

void JobRecorder::written(std::uint32_t rank, const WrittenOutput& written) {
  for (std::uint8_t stream = 1; stream <= 2; ++stream)
    written_at_checkpoint_[output_group(rank, stream)] = written[stream - 1];
}

void JobRecorder::checkpoint(std::uint32_t number) {
  if (has_ended_) return;
  const auto appended =
      streams_->append(job_stream::checkpoint, number, {}, bytes_of(written_at_checkpoint_));
  if (appended) shortening_.has_checkpoint(number, written_at_checkpoint_);
  keep(appended);
}

void JobRecorder::shown(const control::OutputShown& message) {
  const std::uint64_t group = output_group(message.rank, message.stream);
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
  auto batch = streams_->store().write();
  if (!batch) return propagate(batch);
  if (auto synced = streams_->store().sync(*batch); !synced) return propagate(synced);
  for (Written& written : std::exchange(written_, {})) give(std::move(written.held));
  return Left{streams_->release(), std::move(given_)};
}

void JobRecorder::end(const std::string& why) {
  if (has_ended_) return;
  sync_.reset();
  Status status = streams_->append(job_stream::end, 0, {}, bytes_of(why));
  Result<store::BatchNumber> batch = status ? streams_->store().write() : propagate(status);
  status = batch ? streams_->store().sync(*batch) : propagate(batch);
  if (!status) return failed(status.error().text());
  has_ended_ = true;
  give_all();
}

}  // namespace llamada::launcher
