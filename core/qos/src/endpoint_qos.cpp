#include "llamada/qos/endpoint_qos.hpp"

#include "llamada/base/bytes.hpp"

namespace llamada::qos {
namespace {

/// Puts the fields of policies: enumerators and booleans as one byte, lists behind their count.
class Writer {
 public:
  template <typename Field>
  void put(const Field& field) {
    if constexpr (std::is_enum_v<Field> || std::same_as<Field, bool>) {
      bytes_.number(static_cast<std::uint8_t>(field));
    } else {
      bytes_.number(field);
    }
  }
  void put(const Duration& field) { bytes_.number(std::int64_t{field.count()}); }
  void put(const std::vector<std::byte>& field) { bytes_.block(field); }
  void put(const std::vector<std::string>& field) {
    bytes_.number(static_cast<std::uint32_t>(field.size()));
    for (const std::string& each : field) bytes_.text(each);
  }

  std::vector<std::byte> take() { return bytes_.take(); }

 private:
  ByteWriter bytes_;
};

/// Reads fields as long as there are enough legal bytes; after that it leaves all fields alone.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return bytes_.ok(); }
  std::size_t left() const { return bytes_.left_bytes(); }

  template <typename Field>
  void get(Field& field) {
    if constexpr (std::same_as<Field, bool>) {
      field = bytes_.boolean();
    } else if constexpr (std::is_enum_v<Field>) {
      const auto kind = static_cast<Field>(bytes_.number<std::uint8_t>());
      require(to_string(kind) != "?");
      if (ok()) field = kind;
    } else {
      field = bytes_.number<Field>();
    }
  }
  void get(Duration& field) { field = Duration(bytes_.number<std::int64_t>()); }
  void get(std::vector<std::byte>& field) {
    const auto value = bytes_.block();
    field.assign(value.begin(), value.end());
  }
  void get(std::vector<std::string>& field) {
    // A name takes at least its length's bytes, so that a wrong count ends soon.
    const auto count = bytes_.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && ok(); ++i) {
      auto name = bytes_.text();
      if (ok()) field.push_back(std::move(name));
    }
  }

  void require(bool condition) { bytes_.require(condition); }

 private:
  ByteReader bytes_;
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
