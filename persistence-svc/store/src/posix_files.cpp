#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/store/files.hpp"
#include "llamada/store/segment_store.hpp"

namespace llamada::store {

namespace {

/// A full disk, or quota, is a limit; all else is a fault.
tl::unexpected<Error> file_failure(const std::string& what, int code) {
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    return tl::unexpected<Error>(
        Error(Errc::out_of_resources, system_failure(what, code).value().text(), code));
  return system_failure(what, code);
}

class PosixFile final : public File {
 public:
  PosixFile(FileDescriptor descriptor, std::string name)
      : descriptor_(std::move(descriptor)), name_(std::move(name)) {}

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count =
          pread(descriptor_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return file_failure("reading " + name_, errno);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return file_failure("writing " + name_, errno);
      if (count == 0) return file_failure("writing " + name_, EIO);
      offset += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

  Status sync() override {
    if (fdatasync(descriptor_.get()) != 0) return file_failure("fdatasync of " + name_, errno);
    return {};
  }

  Status allocate(std::uint64_t bytes) override {
    int code = 0;
    do {
      code = fallocate(descriptor_.get(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    } while (code == EINTR);
    // A file system without fallocate: the file is as long, and a full disk shows when it is written.
    if (code == EOPNOTSUPP || code == ENOSYS) return truncate(bytes);
    if (code != 0) return file_failure("allocating " + name_, code);
    return {};
  }

  Status truncate(std::uint64_t bytes) override {
    if (ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) != 0)
      return file_failure("setting the size of " + name_, errno);
    return {};
  }

  Result<std::uint64_t> size() const override {
    struct stat status {};
    if (fstat(descriptor_.get(), &status) != 0) return file_failure("the size of " + name_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  FileDescriptor descriptor_;
  std::string name_;
};

constexpr const char* lock_name = "store";
/// Behind what the store itself writes there.
constexpr off_t holder_offset = 64;

/// The process that has taken the lock last, as it has written there; 0: none has.
int holder_of(int file) {
  std::array<char, 16> text{};
  const ssize_t count = pread(file, text.data(), text.size(), holder_offset);
  int process = 0;
  if (count > 0) std::from_chars(text.data(), text.data() + count, process);
  return process;
}

class PosixFiles final : public Files {
 public:
  PosixFiles(FileDescriptor directory, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)) {}

  Result<std::unique_ptr<File>> open(const std::string& name, Open how) override {
    int flags = O_CLOEXEC;
    if (how == Open::to_read) flags |= O_RDONLY;
    if (how == Open::to_write) flags |= O_RDWR;
    if (how == Open::to_create) flags |= O_RDWR | O_CREAT | O_EXCL;
    const std::string path = name_ + "/" + name;
    FileDescriptor file(openat(directory_.get(), name.c_str(), flags, 0600));
    if (!file && errno == ENOENT) return failure(Errc::not_found, "{} does not exist", path);
    if (!file && errno == EEXIST) return failure(Errc::already_exists, "{} exists", path);
    if (!file) return file_failure("opening " + path, errno);
    return std::make_unique<PosixFile>(std::move(file), path);
  }

  Result<std::vector<std::string>> list() const override {
    std::vector<std::string> names;
    std::error_code code;
    std::filesystem::directory_iterator entries(name_, code);
    while (!code && entries != std::filesystem::directory_iterator()) {
      names.push_back(entries->path().filename().string());
      entries.increment(code);
    }
    if (code) return system_failure("listing " + name_, code.value());
    return names;
  }

  Status remove(const std::string& name) override {
    if (unlinkat(directory_.get(), name.c_str(), 0) != 0 && errno != ENOENT)
      return file_failure("removing " + name_ + "/" + name, errno);
    return {};
  }

  Status sync_directory() override {
    if (fsync(directory_.get()) != 0) return file_failure("fsync of " + name_, errno);
    return {};
  }

  Status lock() override {
    FileDescriptor file(openat(directory_.get(), lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return file_failure("opening " + name_ + "/" + lock_name, errno);
    while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return file_failure("locking " + name_ + "/" + lock_name, errno);
      return failure(Errc::already_exists, "{} is in use by {}; end it, or choose another directory", name_,
                     holder(file.get()));
    }
    // Only for the message above: nothing depends on it.
    const std::string text = fmt::format("{:<15}\n", getpid());
    [[maybe_unused]] const ssize_t told = pwrite(file.get(), text.data(), text.size(), holder_offset);
    lock_ = std::move(file);
    return {};
  }

  std::string name() const override { return name_; }

 private:
  static std::string holder(int file) {
    const int process = holder_of(file);
    return process > 0 ? fmt::format("process {}", process) : std::string("another process");
  }

  FileDescriptor directory_, lock_;
  std::string name_;
};

Status make_directory(const std::string& directory) {
  const std::filesystem::path path(directory);
  std::error_code code;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), code);
  if (code) return system_failure("making " + path.parent_path().string(), code.value());
  if (mkdir(directory.c_str(), 0700) != 0) {
    if (errno == EEXIST) return {};
    return file_failure("making " + directory, errno);
  }
  FileDescriptor parent(
      ::open(path.has_parent_path() ? path.parent_path().c_str() : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || fsync(parent.get()) != 0)
    return file_failure("fsync of the directory above " + directory, errno);
  return {};
}

}  // namespace

std::optional<int> writer_of(const std::string& directory) {
  const FileDescriptor file(::open((directory + "/" + lock_name).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!file || fstat(file.get(), &found) != 0) return std::nullopt;
  const int process = holder_of(file.get());
  // "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"
  std::ifstream locks("/proc/locks");
  const std::string of_file = fmt::format(":{} ", found.st_ino);
  const std::string of_process = fmt::format(" {} ", process);
  for (std::string line; std::getline(locks, line);)
    if (line.find(" FLOCK ") != line.npos && line.find(of_file) != line.npos &&
        line.find(of_process) != line.npos)
      return process;
  return std::nullopt;
}

Result<std::unique_ptr<Files>> open_files(const std::string& directory, bool create) {
  std::string name = directory;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  if (create)
    if (auto made = make_directory(name); !made) return propagate(made);
  FileDescriptor opened(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened && errno == ENOENT)
    return failure(Errc::not_found, "there is no store in {}: no such directory", name);
  if (!opened) return system_failure("opening " + name);
  return std::make_unique<PosixFiles>(std::move(opened), name);
}

}  // namespace llamada::store
