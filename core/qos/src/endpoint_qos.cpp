#include "llamada/qos/endpoint_qos.hpp"

namespace llamada::qos {
namespace {

class Writer {
 public:
  template <typename Field>
  void put(const Field& field) {
    if constexpr (std::is_enum_v<Field> || std::same_as<Field, bool>) {
      put_number(static_cast<std::uint8_t>(field));
    } else {
      put_number(field);
    }
  }
  void put(const Duration& field) { put_number(std::int64_t{field.count()}); }
  void put(const std::vector<std::byte>& field) {
    put_number(static_cast<std::uint32_t>(field.size()));
    bytes_.insert(bytes_.end(), field.begin(), field.end());
  }
  void put(const std::vector<std::string>& field) {
    put_number(static_cast<std::uint32_t>(field.size()));
    for (const std::string& each : field) {
      put_number(static_cast<std::uint32_t>(each.size()));
      for (char character : each) bytes_.push_back(static_cast<std::byte>(character));
    }
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <typename Number>
  void put_number(Number number) {
    const auto bits = static_cast<std::make_unsigned_t<Number>>(number);
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      bytes_.push_back(static_cast<std::byte>((bits >> 8 * i) & 0xff));
  }

  std::vector<std::byte> bytes_;
};

/// Reads fields as long as there are enough legal bytes; after that it leaves all fields alone.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size(); }

  template <typename Field>
  void get(Field& field) {
    if constexpr (std::same_as<Field, bool>) {
      const auto byte = number<std::uint8_t>();
      require(byte <= 1);
      field = byte == 1;
    } else if constexpr (std::is_enum_v<Field>) {
      const auto kind = static_cast<Field>(number<std::uint8_t>());
      require(to_string(kind) != "?");
      if (ok_) field = kind;
    } else {
      field = number<Field>();
    }
  }
  void get(Duration& field) { field = Duration(number<std::int64_t>()); }
  void get(std::vector<std::byte>& field) {
    const auto value = take(number<std::uint32_t>());
    field.assign(value.begin(), value.end());
  }
  void get(std::vector<std::string>& field) {
    // A name takes at least its length's bytes, so that a wrong count ends soon.
    const auto count = number<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && ok_; ++i) {
      const auto name = take(number<std::uint32_t>());
      if (ok_) field.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
    }
  }

  void require(bool condition) { ok_ = ok_ && condition; }

 private:
  std::span<const std::byte> take(std::size_t size) {
    require(size <= bytes_.size());
    if (!ok_) return {};
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  template <typename Number>
  Number number() {
    std::make_unsigned_t<Number> bits = 0;
    const auto taken = take(sizeof(Number));
    for (std::size_t i = 0; i < taken.size(); ++i)
      bits =
          static_cast<std::make_unsigned_t<Number>>(bits | std::to_integer<std::uint64_t>(taken[i]) << 8 * i);
    return static_cast<Number>(bits);
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

/// One function names all that is carried, for writing and for reading alike, so that the two cannot
/// disagree.
template <typename Qos, typename Visitor>
void each_carried_policy(Qos& qos, Visitor&& visit) {
  if (qos.writer) {
    each_policy(qos.datawriter, visit);
    each_policy(qos.publisher, visit);
  } else {
    each_policy(qos.datareader, visit);
    each_policy(qos.subscriber, visit);
  }
  visit(PolicyId::topic_data, qos.topic_data);
}

}  // namespace

EndpointQos endpoint_qos(const DataWriterQos& writer, const PublisherQos& publisher,
                         const TopicData& topic_data) {
  EndpointQos qos;
  qos.writer = true;
  qos.datawriter = writer;
  qos.publisher = publisher;
  qos.topic_data = topic_data;
  return qos;
}

EndpointQos endpoint_qos(const DataReaderQos& reader, const SubscriberQos& subscriber,
                         const TopicData& topic_data) {
  EndpointQos qos;
  qos.datareader = reader;
  qos.subscriber = subscriber;
  qos.topic_data = topic_data;
  return qos;
}

const Partition& partition_of(const EndpointQos& qos) {
  return qos.writer ? qos.publisher.partition : qos.subscriber.partition;
}

Status check_consistent(const EndpointQos& qos) {
  if (auto status = check_consistent(qos.topic_data); !status) return status;
  if (auto status = qos.writer ? check_consistent(qos.datawriter) : check_consistent(qos.datareader);
      !status) {
    return status;
  }
  return qos.writer ? check_consistent(qos.publisher) : check_consistent(qos.subscriber);
}

Status check_changeable(const EndpointQos& old_qos, const EndpointQos& new_qos) {
  if (old_qos.writer != new_qos.writer) {
    return failure(Errc::incompatible, "a writer cannot become a reader, nor a reader a writer");
  }
  if (old_qos.writer) {
    auto status = check_changeable(old_qos.datawriter, new_qos.datawriter);
    return status ? check_changeable(old_qos.publisher, new_qos.publisher) : status;
  }
  auto status = check_changeable(old_qos.datareader, new_qos.datareader);
  return status ? check_changeable(old_qos.subscriber, new_qos.subscriber) : status;
}

std::vector<Incompatibility> incompatibilities(const EndpointQos& writer, const EndpointQos& reader) {
  return incompatibilities(writer.datawriter, writer.publisher, reader.datareader, reader.subscriber);
}

std::vector<std::byte> serialize(const EndpointQos& qos) {
  Writer writer;
  writer.put(endpoint_qos_version);
  writer.put(static_cast<std::uint8_t>(qos.writer ? 'W' : 'R'));
  each_carried_policy(qos, [&writer](PolicyId, const auto& policy) {
    each_field(policy, [&writer](std::string_view, const auto& field) { writer.put(field); });
  });
  return writer.take();
}

Result<EndpointQos> deserialize(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  std::uint8_t version = 0;
  reader.get(version);
  if (reader.ok() && version != endpoint_qos_version) {
    return failure(Errc::unsupported, "the QoS of an endpoint has version {}; this program knows version {}",
                   version, endpoint_qos_version);
  }
  std::uint8_t kind = 0;
  reader.get(kind);
  reader.require(kind == 'W' || kind == 'R');
  EndpointQos qos;
  qos.writer = kind == 'W';
  PolicyId last = PolicyId::topic_data;
  each_carried_policy(qos, [&](PolicyId id, auto& policy) {
    if (reader.ok()) last = id;
    each_field(policy, [&reader](std::string_view, auto& field) { reader.get(field); });
  });
  if (!reader.ok()) {
    return failure(Errc::parse_error, "the QoS of an endpoint is cut short or not legal at {}",
                   to_string(last));
  }
  if (reader.left() != 0) {
    return failure(Errc::parse_error, "the QoS of an endpoint has {} bytes too many", reader.left());
  }
  if (auto status = check_consistent(qos); !status) return propagate(status);
  return qos;
}

}  // namespace llamada::qos
