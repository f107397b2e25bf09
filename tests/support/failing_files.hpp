#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "llamada/store/files.hpp"

namespace llamada::test {

/// What a FailingFiles is to let fail, and what it has seen. Outlives the files.
struct Failures {
  int syncs = 0, writes = 0, allocations = 0;            ///< So many of the next calls fail.
  std::map<std::string, int> syncs_of, failed_syncs_of;  ///< By file.
  std::map<std::string, int> writes_of;                  ///< Since the last sync of the file,
  std::map<std::string, int> written_before_sync_of;     ///< and before it.
  std::string of;                                        ///< Only syncs of files whose names end so fail.
  std::function<void()> on_failed_sync;                  ///< As a kernel that forgets.
};

/// Real files, some of whose calls fail without having done anything.
class FailingFiles final : public store::Files {
 public:
  FailingFiles(std::unique_ptr<Files> files, Failures& failures)
      : files_(std::move(files)), failures_(failures) {}

  Result<std::unique_ptr<store::File>> open(const std::string& name, Open how) override {
    auto file = files_->open(name, how);
    if (!file) return file;
    return std::make_unique<FailingFile>(std::move(*file), name, failures_);
  }
  Result<std::vector<std::string>> list() const override { return files_->list(); }
  Status remove(const std::string& name) override { return files_->remove(name); }
  Status sync_directory() override { return files_->sync_directory(); }
  Status lock() override { return files_->lock(); }
  std::string name() const override { return files_->name(); }

 private:
  class FailingFile final : public store::File {
   public:
    FailingFile(std::unique_ptr<File> file, std::string name, Failures& failures)
        : file_(std::move(file)), name_(std::move(name)), failures_(failures) {}

    Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
      return file_->read(offset, into);
    }
    Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      if (failures_.writes > 0 && failures_.writes-- > 0)
        return failure(Errc::system, "writing {}: EIO", name_);
      ++failures_.writes_of[name_];
      return file_->write(offset, bytes);
    }
    Status sync() override {
      ++failures_.syncs_of[name_];
      failures_.written_before_sync_of[name_] = std::exchange(failures_.writes_of[name_], 0);
      if (failures_.syncs == 0 || !name_.ends_with(failures_.of)) return file_->sync();
      --failures_.syncs;
      if (failures_.on_failed_sync) failures_.on_failed_sync();
      ++failures_.failed_syncs_of[name_];
      return failure(Errc::system, "fdatasync of {}: EIO", name_);
    }
    Status allocate(std::uint64_t bytes) override {
      if (failures_.allocations == 0) return file_->allocate(bytes);
      --failures_.allocations;
      return failure(Errc::out_of_resources, "allocating {}: no space", name_);
    }
    Status truncate(std::uint64_t bytes) override { return file_->truncate(bytes); }
    Result<std::uint64_t> size() const override { return file_->size(); }

   private:
    std::unique_ptr<File> file_;
    std::string name_;
    Failures& failures_;
  };

  std::unique_ptr<Files> files_;
  Failures& failures_;
};

}  // namespace llamada::test
