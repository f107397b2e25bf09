#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "llamada/sql/filter.hpp"
#include "llamada/topics/discovery.hpp"
#include "llamada/types/dynamic_value.hpp"
#include "spy.hpp"

namespace llamada::tools {

/// "disposed": a word for what a sample says of its instance.
std::string_view name_of(topics::ChangeKind kind);

/// Prints samples as `llamada spy` was asked to. Each is read by the type that its own writer describes.
class SamplePrinter {
 public:
  explicit SamplePrinter(const SpyOptions& options) : options_(options) {}

  /// A writer of the topic has come.
  void add_writer(const topics::EndpointInfo& writer);
  /// Whether the sample passed the filter and was printed. `participant`: "sensor (pid 17)".
  bool print(const topics::EndpointId& writer, const std::string& participant, const topics::Sample& sample);
  /// Why nothing can be printed: the filter does not fit a writer's type, or its type is unknown. Empty:
  /// fine.
  const std::string& error() const { return error_; }

 private:
  struct Type {
    std::shared_ptr<const types::DynamicDescription> description;  // null: unknown
    std::optional<sql::Filter> filter;
  };

  void print_as_text(const topics::EndpointId& writer, const std::string& participant,
                     const topics::Sample& sample, const types::DynamicValue* value) const;
  void print_as_json(const topics::EndpointId& writer, const std::string& participant,
                     const topics::Sample& sample, const types::DynamicValue* value) const;
  void print_as_csv(const topics::EndpointId& writer, const topics::Sample& sample,
                    const types::DynamicValue& value);
  Type type_of(const topics::EndpointInfo& writer);
  void fail(std::string sentence);

  const SpyOptions& options_;
  std::map<topics::EndpointId, Type> types_;
  std::shared_ptr<const types::DynamicDescription> columns_of_;  // the type of the last line of columns
  std::string error_;
};

}  // namespace llamada::tools
