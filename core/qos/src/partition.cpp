#include "llamada/qos/partition.hpp"

#include <algorithm>

#include "llamada/qos/name_pattern.hpp"

namespace llamada::qos {
namespace {

bool fits(const std::string& pattern, const std::string& name) {
  return is_name_pattern(pattern) && fits_name_pattern(pattern, name);
}

bool names_match(const std::string& left, const std::string& right) {
  if (is_name_pattern(left) && is_name_pattern(right)) return false;
  return left == right || fits(left, right) || fits(right, left);
}

/// The names, of which there is always one: the default partition's is empty.
std::vector<std::string> names_of(const Partition& policy) {
  return policy.name.empty() ? std::vector<std::string>{""} : policy.name;
}

}  // namespace

Status check_consistent(const Partition& policy) {
  if (policy.name.size() > partition_names_max) {
    return failure(Errc::invalid_argument, "PARTITION: there are {} names; the limit is {}",
                   policy.name.size(), partition_names_max);
  }
  for (const std::string& name : policy.name) {
    if (name.size() > partition_name_length_max) {
      return failure(Errc::invalid_argument, "PARTITION: a name has {} characters; the limit is {}",
                     name.size(), partition_name_length_max);
    }
    if (name.find('\0') != name.npos)
      return failure(Errc::invalid_argument, "PARTITION: a name has a NUL in it");
  }
  return {};
}

bool partitions_match(const Partition& left, const Partition& right) {
  const auto left_names = names_of(left);
  const auto right_names = names_of(right);
  return std::any_of(left_names.begin(), left_names.end(), [&right_names](const std::string& each) {
    return std::any_of(right_names.begin(), right_names.end(),
                       [&each](const std::string& other) { return names_match(each, other); });
  });
}

std::string to_string(const Partition& policy) {
  std::string text;
  for (const std::string& name : names_of(policy))
    text += fmt::format("{}'{}'", text.empty() ? "name " : ", ", name);
  return text;
}

}  // namespace llamada::qos
