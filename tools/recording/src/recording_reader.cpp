#include "llamada/recording/recording_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace llamada::recording {
namespace {

/// No record makes more room at once than this, whatever size it claims.
constexpr std::size_t read_step_bytes = 1 << 20;

}  // namespace

Result<std::unique_ptr<RecordingReader>> RecordingReader::open(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return failure(Errc::not_found, "{}: there is no such file", path);
  if (error) return system_failure(path, error.value());
  if (status.type() != std::filesystem::file_type::regular)
    return failure(Errc::invalid_argument, "{}: this is not a regular file, so it is not a recording", path);
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) return system_failure("open " + path);
  return open(std::move(file), path);
}

Result<std::unique_ptr<RecordingReader>> RecordingReader::open(std::unique_ptr<std::istream> bytes,
                                                               std::string name) {
  std::unique_ptr<RecordingReader> reader(new RecordingReader(std::move(bytes), std::move(name)));
  if (auto status = reader->read_file_head(); !status) return propagate(status);
  return reader;
}

std::size_t RecordingReader::read(std::span<std::byte> into) {
  bytes_->read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
  return static_cast<std::size_t>(bytes_->gcount());
}

Status RecordingReader::read_file_head() {
  const auto expected = file_head();
  std::vector<std::byte> found(expected.size());
  found.resize(read(found));
  const auto is_same_until = [&](std::size_t end) {
    return found.size() >= end &&
           std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(end), expected.begin());
  };
  if (!is_same_until(magic_size_bytes))
    return failure(Errc::parse_error, "{}: this is not a recording of `llamada record`", name_);
  if (!is_same_until(expected.size()))
    return failure(Errc::unsupported,
                   "{}: the format of this recording is not version {}; replay it with the release "
                   "that recorded it",
                   name_, format_version);
  offset_bytes_ = expected.size();
  return {};
}

Result<std::vector<std::byte>> RecordingReader::read_body(std::uint64_t size_bytes) {
  std::vector<std::byte> body;
  while (body.size() < size_bytes) {
    const std::size_t before = body.size();
    const std::size_t step = std::min<std::uint64_t>(std::max(read_step_bytes, before), size_bytes - before);
    body.resize(before + step);
    const std::size_t count = read(std::span(body).subspan(before));
    if (count < step)
      return failure(Errc::parse_error, "it is cut off after {} of {} bytes",
                     record_head_size_bytes + before + count,
                     // Saturates: the size may be anything.
                     size_bytes > UINT64_MAX - record_head_size_bytes ? UINT64_MAX
                                                                      : size_bytes + record_head_size_bytes);
  }
  return body;
}

Result<std::optional<Record>> RecordingReader::next() {
  const auto refuse = [this](const Error& error) {
    return failure(error.code(), "{}: the record at byte {} is damaged: {}", name_, offset_bytes_,
                   error.text());
  };
  std::array<std::byte, record_head_size_bytes> head_bytes;
  const std::size_t head_size_bytes = read(head_bytes);
  if (bytes_->bad()) return system_failure("read " + name_);
  if (head_size_bytes == 0) return std::nullopt;
  if (head_size_bytes < head_bytes.size())
    return refuse(Error(Errc::parse_error, fmt::format("it is cut off within its head, after {} of {} bytes",
                                                       head_size_bytes, head_bytes.size())));
  const auto head = decode_head(head_bytes);
  if (!head) return refuse(head.error());
  auto body = read_body(head->size_bytes);
  if (bytes_->bad()) return system_failure("read " + name_);
  if (!body) return refuse(body.error());
  auto record = decode(*head, *body);
  if (!record) return refuse(record.error());
  if (auto status = check_order(*record); !status) return refuse(status.error());
  offset_bytes_ += record_head_size_bytes + head->size_bytes;
  return std::move(*record);
}

Status RecordingReader::check_writer(std::uint32_t number, const char* what) const {
  if (number == 0 || number > writers_.size() || !writers_[number - 1])
    return failure(Errc::parse_error, "{} writer {}, which the recording does not describe before this place",
                   what, number);
  return {};
}

Status RecordingReader::check_order(const Record& record) {
  if (has_ended_) return failure(Errc::parse_error, "it follows the end of the recording");
  const bool is_start = std::holds_alternative<Start>(record);
  if (is_start == has_started_)
    return failure(Errc::parse_error, "{}",
                   is_start ? "it begins the recording a second time" : "the beginning is missing");
  has_started_ = true;
  if (const auto* writer = std::get_if<Writer>(&record)) {
    if (writer->number != writers_.size() + 1)
      return failure(Errc::parse_error, "it describes writer {}, and {} is next", writer->number,
                     writers_.size() + 1);
    writers_.push_back(true);
  } else if (const auto* change = std::get_if<QosChange>(&record)) {
    return check_writer(change->writer, "it changes");
  } else if (const auto* sample = std::get_if<Sample>(&record)) {
    return check_writer(sample->writer, "it is a sample of");
  } else if (const auto* lost = std::get_if<SamplesLost>(&record)) {
    return check_writer(lost->writer, "it counts lost samples of");
  } else if (const auto* gone = std::get_if<WriterGone>(&record)) {
    if (auto status = check_writer(gone->writer, "it ends"); !status) return status;
    writers_[gone->writer - 1] = false;
  }
  has_ended_ = std::holds_alternative<End>(record);
  return {};
}

}  // namespace llamada::recording
