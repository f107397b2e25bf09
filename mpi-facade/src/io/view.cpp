#include "io/view.hpp"

#include <algorithm>

#include "llamada/base/check.hpp"

namespace llamada::mpi::io {
namespace {

/// The last run that begins at byte `within` of the packed stream of an element, or before.
std::size_t run_at(const Datatype::Layout& layout, std::size_t within) {
  const auto behind =
      std::upper_bound(layout.runs.begin(), layout.runs.end(), within,
                       [](std::size_t position, const Run& run) { return position < run.packed; });
  return static_cast<std::size_t>(behind - layout.runs.begin()) - 1;
}

/// How many bytes of an element's data lie below `offset`.
std::size_t bytes_below(const Datatype::Layout& layout, std::ptrdiff_t offset) {
  std::size_t bytes = 0;
  for (const Run& run : layout.runs) {
    if (run.offset >= offset) continue;
    if (run.stride <= 0 || run.count == 1) {
      bytes += std::min(run.length, static_cast<std::size_t>(offset - run.offset)) * run.count;
      continue;
    }
    const std::ptrdiff_t reach = offset - run.offset;
    const std::size_t whole = std::min(run.count, static_cast<std::size_t>(reach / run.stride));
    bytes += whole * run.length;
    if (whole < run.count)
      bytes += std::min(run.length,
                        static_cast<std::size_t>(reach) - whole * static_cast<std::size_t>(run.stride));
  }
  return bytes;
}

/// Whether each byte of the data lies behind the one before it, in one element and from one to the next.
bool goes_forward(const Datatype& type) {
  std::ptrdiff_t end = 0;
  for (const Run& run : type.layout().runs) {
    if (run.offset < end) return false;
    const auto length = static_cast<std::ptrdiff_t>(run.length);
    if (run.count > 1 && run.stride < length) return false;
    end = run.offset + run.stride * static_cast<std::ptrdiff_t>(run.count - 1) + length;
  }
  return type.layout().runs.empty() || end - type.layout().runs[0].offset <= type.extent();
}

}  // namespace

View::View(std::uint64_t displacement, std::size_t etype_bytes, Reference<Datatype> file_type)
    : displacement_(displacement), etype_bytes_(etype_bytes) {
  if (file_type->is_contiguous() && file_type->size() > 0 && file_type->true_lower_bound() == 0) return;
  file_type_ = std::move(file_type);
  ordered_ = goes_forward(*file_type_);
}

std::uint64_t View::file_offset(std::uint64_t position) const {
  if (!file_type_) return displacement_ + position;
  LLAMADA_CHECK(file_type_->size() > 0);
  const Datatype::Layout& layout = file_type_->layout();
  const std::size_t within = position % layout.size;
  const Run& run = layout.runs[run_at(layout, within)];
  const std::size_t in_run = within - run.packed;
  const std::uint64_t tile = position / layout.size * static_cast<std::uint64_t>(file_type_->extent());
  const std::ptrdiff_t block = run.offset + static_cast<std::ptrdiff_t>(in_run / run.length) * run.stride;
  return displacement_ + tile + static_cast<std::uint64_t>(block) + in_run % run.length;
}

std::uint64_t View::bytes_before(std::uint64_t file_offset) const {
  if (file_offset <= displacement_) return 0;
  const std::uint64_t reach = file_offset - displacement_;
  if (!file_type_) return reach;
  if (is_empty()) return 0;
  const auto extent = static_cast<std::uint64_t>(file_type_->extent());
  if (extent == 0) return bytes_below(file_type_->layout(), static_cast<std::ptrdiff_t>(reach));
  // Data may lie beyond the extent: then later tiles begin before earlier ones end.
  const auto overhang = static_cast<std::uint64_t>(
      std::max<std::ptrdiff_t>(0, file_type_->layout().true_upper_bound - file_type_->extent()));
  std::uint64_t tile = reach > overhang ? (reach - overhang) / extent : 0;
  std::uint64_t bytes = tile * file_type_->size();
  for (; tile * extent < reach; ++tile)
    bytes += bytes_below(file_type_->layout(), static_cast<std::ptrdiff_t>(reach - tile * extent));
  return bytes;
}

RunCursor::RunCursor(const View& view, std::uint64_t position, std::uint64_t bytes)
    : view_(view), left_(bytes) {
  if (view.is_empty() || bytes == 0) {
    left_ = 0;
    return;
  }
  if (!view.file_type_) {
    current_ = FileRun{view.displacement_ + position, static_cast<std::size_t>(bytes)};
    left_ = 0;
    return;
  }
  const Datatype::Layout& layout = view.file_type_->layout();
  const std::size_t within = position % layout.size;
  tile_ = position / layout.size;
  run_ = run_at(layout, within);
  const std::size_t in_run = within - layout.runs[run_].packed;
  repetition_ = in_run / layout.runs[run_].length;
  within_ = in_run % layout.runs[run_].length;
  find_next();
}

FileRun RunCursor::block() const {
  const Run& run = view_.file_type_->layout().runs[run_];
  const std::ptrdiff_t in_tile = run.offset + static_cast<std::ptrdiff_t>(repetition_) * run.stride;
  const auto extent = static_cast<std::uint64_t>(view_.file_type_->extent());
  const std::uint64_t offset =
      view_.displacement_ + tile_ * extent + static_cast<std::uint64_t>(in_tile) + within_;
  return {offset, static_cast<std::size_t>(std::min<std::uint64_t>(run.length - within_, left_))};
}

void RunCursor::next_block() {
  const Datatype::Layout& layout = view_.file_type_->layout();
  within_ = 0;
  if (++repetition_ < layout.runs[run_].count) return;
  repetition_ = 0;
  if (++run_ < layout.runs.size()) return;
  run_ = 0;
  ++tile_;
}

void RunCursor::find_next() {
  current_.reset();
  while (left_ > 0) {
    const FileRun next = block();
    if (current_ && next.offset != current_->end()) return;
    if (current_)
      current_->length += next.length;
    else
      current_ = next;
    left_ -= next.length;
    next_block();
  }
}

void RunCursor::advance(std::size_t bytes) {
  LLAMADA_CHECK(current_ && bytes <= current_->length);
  current_->offset += bytes;
  current_->length -= bytes;
  if (current_->length == 0) find_next();
}

}  // namespace llamada::mpi::io
