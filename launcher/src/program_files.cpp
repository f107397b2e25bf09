#include "program_files.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <span>

#include "llamada/base/crc32c.hpp"

namespace llamada::launcher {
namespace {

constexpr std::string_view deleted = " (deleted)";

std::optional<FileIdentity> identity_at(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity::of(found);
}

std::string target_of(const std::string& link) {
  char path[4096];
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

/// The path in a line of /proc/PID/maps that maps code of a file, "" for all others:
/// "begin-end r-xp offset device inode   /path".
std::string code_file_in(const std::string& line) {
  char permissions[5] = {};
  unsigned long inode = 0;
  int path_at = 0;
  if (sscanf(line.c_str(), "%*s %4s %*s %*s %lu %n", permissions, &inode, &path_at) != 2) return {};
  if (permissions[2] != 'x' || inode == 0 || path_at == 0) return {};
  return line.substr(static_cast<std::size_t>(path_at));
}

}  // namespace

FileIdentity FileIdentity::of(const struct stat& found) {
  return {found.st_dev, found.st_ino, found.st_size,
          std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
}

MappedCode MappedCode::of(pid_t pid) {
  MappedCode code;
  const std::string process = fmt::format("/proc/{}", pid);
  const std::string program = target_of(process + "/exe");
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::string path = code_file_in(line);
    if (path.empty() || path[0] != '/') continue;
    // The program is reached even if its name is gone; of a library without a name nothing but that is known.
    const bool is_program = path == program;
    const bool is_gone = path.ends_with(deleted);
    if (is_gone) path.resize(path.size() - deleted.size());
    if (code.files_.contains(path)) continue;
    auto identity = is_program ? identity_at(process + "/exe") : identity_at(process + "/root" + path);
    if (!identity && !is_gone) identity = identity_at(path);
    if (is_gone && !is_program) identity = FileIdentity{};
    if (identity) code.files_.emplace(std::move(path), *identity);
  }
  return code;
}

void MappedCode::add(const MappedCode& later) { files_.insert(later.files_.begin(), later.files_.end()); }

std::optional<std::string> MappedCode::changed_in(const MappedCode& other) const {
  for (const auto& [path, identity] : files_) {
    const auto found = other.files_.find(path);
    if (found != other.files_.end() && found->second != identity) return path;
  }
  return std::nullopt;
}

std::vector<std::string> MappedCode::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, identity] : files_) paths.push_back(path);
  return paths;
}

std::optional<std::string> describe_code(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<char> part(1 << 20);
  std::uint32_t crc = 0;
  std::uint64_t size_bytes = 0;
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
    const auto count = static_cast<std::size_t>(file.gcount());
    crc = crc32c(std::as_bytes(std::span(part.data(), count)), crc);
    size_bytes += count;
  }
  return fmt::format("{}\t{} {:08x}", path, size_bytes, crc);
}

std::string describe_processor() {
  utsname system{};
  uname(&system);
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(':'); colon != line.npos)
        return fmt::format("{}{}", system.machine, line.substr(colon + 1));
  return system.machine;
}

KeptProgram KeptProgram::open(const std::string& path) {
  KeptProgram program;
  program.path_ = path;
  program.file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!program.file_ || fstat(program.file_.get(), &found) != 0) return program;
  program.identity_ = FileIdentity::of(found);
  char magic[SELFMAG] = {};
  program.is_elf_ =
      pread(program.file_.get(), magic, SELFMAG, 0) == SELFMAG && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
  return program;
}

bool KeptProgram::is_unchanged() const {
  struct stat found {};
  return fstat(file_.get(), &found) == 0 && FileIdentity::of(found) == identity_;
}

Result<std::string> KeptProgram::path_to_execute() const {
  if (!file_ || identity_at(path_) == identity_) return path_;
  constexpr std::string_view folder = "/proc/self/fd";
  const std::string number = std::to_string(file_.get());
  if (!is_elf_ || !is_unchanged() || path_.size() < folder.size() + 1 + number.size())
    return failure(Errc::not_found,
                   "{} has changed on disk since the job began, but a replacement must run its predecessor's "
                   "program; build under another name, or wait until the job is over",
                   path_);
  return std::string(folder) + std::string(path_.size() - folder.size() - number.size(), '/') + number;
}

}  // namespace llamada::launcher
