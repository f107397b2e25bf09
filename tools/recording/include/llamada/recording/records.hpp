#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/endpoint_qos.hpp"
#include "llamada/topics/sample.hpp"

// What a recording of topics consists of: docs/internals/recording.md has the bytes.
namespace llamada::recording {

constexpr std::size_t magic_size_bytes = 8;
constexpr std::uint32_t format_version = 1;
/// The magic and the version.
constexpr std::size_t file_head_size_bytes = magic_size_bytes + 4;
/// Of each record, before its body.
constexpr std::size_t record_head_size_bytes = 20;

/// The first record. Times of all other records are nanoseconds since then.
struct Start {
  std::int64_t realtime_ns = 0;  ///< since 1970
  std::uint32_t domain = 0;
};

/// A writer, before all that it does. Writers have the numbers 1, 2, 3, ... in the order of their records.
struct Writer {
  std::uint32_t number = 0;
  std::string topic;
  std::string type;
  std::uint64_t type_hash = 0;
  std::string type_description;  ///< Empty: unknown.
  bool keyed = false;
  qos::EndpointQos qos;
  std::uint64_t publisher = 0;  ///< Writers with the same number belong to one publisher.
  std::string participant;      ///< "sensor (pid 17)", for people.
};

/// The writer has changed its policies.
struct QosChange {
  std::uint32_t writer = 0;
  qos::EndpointQos qos;
};

struct Sample {
  std::uint32_t writer = 0;
  std::int64_t received_ns = 0;
  /// The sequence number is that of the recorded writer.
  topics::SampleHeader header;
  std::vector<std::byte> data;
};

/// The writer is gone; no record names it any more.
struct WriterGone {
  std::uint32_t writer = 0;
  std::int64_t seen_ns = 0;
  bool died = false;  ///< Its process has; else the writer was deleted.
};

/// So many samples of the writer were overwritten before the recorder could take them.
struct SamplesLost {
  std::uint32_t writer = 0;
  std::uint64_t count = 0;
};

/// The last record of a recorder that ended in good order.
struct End {
  std::int64_t ended_ns = 0;
};

using Record = std::variant<Start, Writer, QosChange, Sample, WriterGone, SamplesLost, End>;

/// The magic and the version.
std::vector<std::byte> file_head();

/// The record with its head, ready to be written. A sample's data are given apart, and its `data` unused.
std::vector<std::byte> encode(const Record& record);
std::vector<std::byte> encode(const Sample& sample, std::span<const std::byte> data);

/// What precedes a body.
struct RecordHead {
  std::uint64_t size_bytes = 0;  ///< Of the body.
  std::uint32_t kind = 0;
  std::uint32_t crc = 0;  ///< Of the body.
};

/// Errors: parse_error if the checksum of the head is wrong.
Result<RecordHead> decode_head(std::span<const std::byte, record_head_size_bytes> bytes);

/// Anybody may have written the bytes. Errors: parse_error (a wrong checksum, too few or too many bytes, a
/// value out of range), unsupported (a kind that this version does not know), and those of
/// qos::deserialize().
Result<Record> decode(const RecordHead& head, std::span<const std::byte> body);

}  // namespace llamada::recording
