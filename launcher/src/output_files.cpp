#include "output_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "output_pattern.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

}  // namespace

OutputFiles::OutputFiles(const Options& options, std::vector<std::string> hosts)
    : options_(options), hosts_(std::move(hosts)) {}

bool OutputFiles::is_shown(int stream) const {
  if (!(stream == 1 ? options_.output_pattern : options_.error_pattern).empty()) return false;
  return options_.output_folder.empty() || options_.output_also_shown;
}

std::string OutputFiles::file_name(std::uint32_t rank, int stream) const {
  const std::string& pattern = stream == 1 ? options_.output_pattern : options_.error_pattern;
  if (!pattern.empty())
    return fill_pattern(pattern, std::to_string(rank), rank < hosts_.size() ? hosts_[rank] : std::string());
  if (options_.output_folder.empty()) return {};
  const std::size_t digits = std::to_string(options_.rank_count - 1).size();
  return fmt::format("{}/1/rank.{:0{}}/{}", options_.output_folder, rank, digits,
                     stream == 1 ? "stdout" : "stderr");
}

Status OutputFiles::add_ranks(std::uint32_t first, std::uint32_t count,
                              const std::vector<std::string>& hosts) {
  if (!hosts.empty()) hosts_.resize(first);
  hosts_.insert(hosts_.end(), hosts.begin(), hosts.end());
  return open_for(first, count);
}

/// What was shown of the stream that has this file alone.
std::optional<std::uint64_t> OutputFiles::kept_size(const std::string& name) const {
  std::optional<std::uint64_t> size;
  for (std::uint32_t rank = 0; rank < options_.rank_count; ++rank)
    for (const int stream : {1, 2}) {
      if (file_name(rank, stream) != name) continue;
      if (size) return std::nullopt;
      const auto kept = kept_->find(2 * std::uint64_t{rank} + static_cast<std::uint64_t>(stream));
      size = kept == kept_->end() ? 0 : kept->second;
    }
  return size;
}

Status OutputFiles::open_for(std::uint32_t first, std::uint32_t count) {
  if (options_.output_pattern.empty() && options_.error_pattern.empty() && options_.output_folder.empty())
    return {};
  for (std::uint32_t rank = first; rank < first + count; ++rank)
    for (const int stream : {1, 2}) {
      const std::string name = file_name(rank, stream);
      if (name.empty() || files_.contains(name)) continue;
      std::error_code ignored;
      if (const fs::path folder = fs::path(name).parent_path(); !folder.empty())
        fs::create_directories(folder, ignored);
      const int anew = kept_ ? 0 : O_TRUNC;
      FileDescriptor file(open(name.c_str(), O_WRONLY | O_CREAT | anew | O_APPEND | O_CLOEXEC, 0666));
      const auto kept = file && kept_ ? kept_size(name) : std::nullopt;
      if (kept && ftruncate(file.get(), static_cast<off_t>(*kept)) != 0) file.reset();
      if (!file) return system_failure(fmt::format("cannot write the output file {}", name));
      files_.emplace(name, std::move(file));
    }
  return {};
}

Status OutputFiles::write(std::uint32_t rank, int stream, std::string_view bytes) {
  const auto file = files_.find(file_name(rank, stream));
  if (file == files_.end()) return {};
  while (!bytes.empty()) {
    const ssize_t count = ::write(file->second.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(fmt::format("cannot write the output file {}", file->first));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace llamada::launcher
