#include "llamada/recording/recording_writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace llamada::recording {
namespace {

constexpr std::size_t pending_max_bytes = 1 << 20;

}  // namespace

Result<RecordingWriter> RecordingWriter::create(const std::string& path, const Start& start) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return system_failure("create " + path);
  RecordingWriter writer(std::move(file), path);
  writer.pending_ = file_head();
  if (auto status = writer.add(Record(start)); !status) return propagate(status);
  if (auto status = writer.flush(); !status) return propagate(status);
  return writer;
}

Status RecordingWriter::add(const Record& record) { return append(encode(record)); }

Status RecordingWriter::add(const Sample& sample, std::span<const std::byte> data) {
  return append(encode(sample, data));
}

Status RecordingWriter::append(std::vector<std::byte> record) {
  pending_.insert(pending_.end(), record.begin(), record.end());
  return pending_.size() < pending_max_bytes ? Status() : flush();
}

Status RecordingWriter::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("write " + path_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status RecordingWriter::flush() {
  Status written = write_all(pending_);
  if (written) {
    written_bytes_ += pending_.size();
  } else if (::ftruncate(file_.get(), static_cast<off_t>(written_bytes_)) != 0) {
    // It is no file that could be cut; its reader finds the place.
  }
  pending_.clear();
  return written;
}

Status RecordingWriter::end(const End& end) {
  if (auto status = add(Record(end)); !status) return status;
  if (auto status = flush(); !status) return status;
  if (::close(file_.release()) != 0) return system_failure("close " + path_);
  return {};
}

}  // namespace llamada::recording
