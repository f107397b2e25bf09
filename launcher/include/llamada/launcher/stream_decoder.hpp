#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// Puts a stream of bytes together to messages of the variant Message. There is one for each stream of
/// docs/internals/job-control.md.
template <typename Message>
class StreamDecoder {
 public:
  void append(std::span<const std::byte> bytes) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  /// The next whole message, nothing if there is none yet. Errc::parse_error once the stream is not
  /// well-formed; it is of no use from then on.
  Result<std::optional<Message>> next();
  /// What no message was made of so far.
  std::vector<std::byte> rest() const {
    return {buffer_.begin() + static_cast<std::ptrdiff_t>(at_), buffer_.end()};
  }

 private:
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;
};

}  // namespace llamada::launcher
