#include "sample_printer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "domain.hpp"
#include "hex_dump.hpp"
#include "json_text.hpp"
#include "show_value.hpp"

namespace llamada::tools {

using nlohmann::ordered_json;

namespace {

/// Of each sequence, array and map, as text.
constexpr std::size_t elements_shown_max = 16;
/// Of each sequence, array and map, as JSON and CSV.
constexpr std::size_t elements_written_max = 1 << 20;

/// "2026-11-21 21:50:01.123456789", in UTC.
std::string time_of(std::int64_t since_1970_ns) {
  const std::time_t seconds = since_1970_ns / 1'000'000'000;
  return fmt::format("{:%F %T}.{:09}", fmt::gmtime(seconds), since_1970_ns % 1'000'000'000);
}

}  // namespace

std::string_view name_of(topics::ChangeKind kind) {
  switch (kind) {
    case topics::ChangeKind::alive:
      return "alive";
    case topics::ChangeKind::disposed:
      return "disposed";
    case topics::ChangeKind::unregistered:
      return "unregistered";
    case topics::ChangeKind::disposed_unregistered:
      return "disposed_unregistered";
    case topics::ChangeKind::coherent_end:
      return "coherent_end";
  }
  return "?";
}

void SamplePrinter::fail(std::string sentence) {
  if (error_.empty()) error_ = std::move(sentence);
}

SamplePrinter::Type SamplePrinter::type_of(const topics::EndpointInfo& writer) {
  const bool needs_type = !options_.where.empty() || options_.as_csv;
  if (writer.type_description.empty()) {
    if (needs_type)
      fail(
          fmt::format("writer {} does not describe its type '{}' (an older release, or more than 64 KiB of "
                      "description): llamada can show only its bytes, without --where and --csv",
                      to_string(writer.id), writer.type));
    return {};
  }
  auto parsed = types::DynamicDescription::parse(writer.type_description);
  if (!parsed) {
    fmt::print(stderr, "llamada: writer {}: {}; only the bytes are shown\n", to_string(writer.id),
               parsed.error().text());
    if (needs_type) fail("--where and --csv need a type that can be read");
    return {};
  }
  Type type{std::move(*parsed), std::nullopt};
  if (options_.where.empty()) return type;
  auto filter = sql::Filter::parse(options_.where, {}, *type.description);
  if (!filter)
    fail(fmt::format("--where: {}", filter.error().text()));
  else
    type.filter = std::move(*filter);
  return type;
}

void SamplePrinter::add_writer(const topics::EndpointInfo& writer) {
  if (!types_.contains(writer.id)) types_.emplace(writer.id, type_of(writer));
}

bool SamplePrinter::print(const topics::EndpointId& writer, const std::string& participant,
                          const topics::Sample& sample) {
  if (!error_.empty()) return false;
  const auto found = types_.find(writer);
  const bool has_type = found != types_.end() && found->second.description != nullptr;
  const bool has_data = sample.header().kind != topics::ChangeKind::coherent_end;
  std::optional<types::DynamicValue> value;
  if (has_type && has_data && !options_.as_bytes) {
    if (const auto& filter = found->second.filter) {
      const auto passes = filter->matches(sample.data());
      if (passes && !*passes) return false;
    }
    auto decoded =
        types::decode(found->second.description->type(), sample.data(),
                      options_.as_json || options_.as_csv ? elements_written_max : elements_shown_max);
    if (decoded)
      value = std::move(*decoded);
    else
      fmt::print(stderr, "llamada: sample {} of writer {} is not a {}: {}\n", sample.header().sequence_number,
                 to_string(writer), found->second.description->name(), decoded.error().text());
  }
  if (!value && (options_.as_csv || !options_.where.empty())) return false;
  const types::DynamicValue* shown = value ? &*value : nullptr;
  if (options_.as_csv) {
    if (std::exchange(columns_of_, found->second.description) != found->second.description)
      fmt::print("time,writer,sequence_number,kind,{}\n",
                 fmt::join(csv_columns(found->second.description->type()), ","));
    print_as_csv(writer, sample, *shown);
  } else if (options_.as_json) {
    print_as_json(writer, participant, sample, shown);
  } else {
    print_as_text(writer, participant, sample, shown);
  }
  return true;
}

void SamplePrinter::print_as_csv(const topics::EndpointId& writer, const topics::Sample& sample,
                                 const types::DynamicValue& value) {
  const topics::SampleHeader& header = sample.header();
  fmt::print("{},{},{},{},{}\n", time_of(header.source_timestamp_ns), to_string(writer),
             header.sequence_number, name_of(header.kind), fmt::join(csv_cells(value), ","));
}

void SamplePrinter::print_as_text(const topics::EndpointId& writer, const std::string& participant,
                                  const topics::Sample& sample, const types::DynamicValue* value) const {
  const topics::SampleHeader& header = sample.header();
  fmt::print("#{} {} from writer {} of {}  {}", header.sequence_number, time_of(header.source_timestamp_ns),
             to_string(writer), participant, name_of(header.kind));
  if (header.instance != 0) fmt::print("  instance {:016x}", header.instance);
  if (header.coherent_set != 0) fmt::print("  set {}", header.coherent_set);
  fmt::print("  {} bytes\n{}", sample.data().size(),
             value != nullptr ? to_lines(*value) : hex_dump(sample.data(), options_.shown_bytes_max));
}

void SamplePrinter::print_as_json(const topics::EndpointId& writer, const std::string& participant,
                                  const topics::Sample& sample, const types::DynamicValue* value) const {
  const topics::SampleHeader& header = sample.header();
  ordered_json line{{"topic", options_.topic},
                    {"writer", to_string(writer)},
                    {"participant", participant},
                    {"sequence_number", header.sequence_number},
                    {"source_timestamp_ns", header.source_timestamp_ns},
                    {"kind", name_of(header.kind)},
                    {"instance", fmt::format("{:016x}", header.instance)},
                    {"coherent_set", header.coherent_set},
                    {"size_bytes", sample.data().size()}};
  if (value != nullptr) line["fields"] = to_json(*value);
  if (value == nullptr || options_.as_bytes) line["data"] = hex_digits(sample.data());
  fmt::print("{}\n", dump(line, -1));
}

}  // namespace llamada::tools
