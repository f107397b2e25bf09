#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace llamada::tools {

/// `llamada persist`: looks at a store of llamada-persistd, also while the service uses it.
struct PersistRequest {
  std::string store;                    ///< The directory.
  std::string copy;                     ///< With copy: the directory of the copy.
  std::string kind;                     ///< With copy: the kind of store that it gets; empty: the same.
  std::string topic;                    ///< With show and drop.
  std::optional<std::uint32_t> domain;  ///< With show and drop: without it all.
  std::uint64_t count = 0;              ///< With show: the newest so many; 0: all.
  bool as_json = false;
};

/// Lists the topics. The exit code.
int list_kept_topics(const PersistRequest& request);
/// Shows the samples of a topic. The exit code; 2 if there is no such topic.
int show_kept_topic(const PersistRequest& request);
/// Reads everything. The exit code; 1 if something is damaged.
int check_kept_topics(const PersistRequest& request);
/// Removes a topic, while no service runs. The exit code; 2 if there is no such topic.
int drop_kept_topic(const PersistRequest& request);

/// Copies everything into a new store. The exit code; 1 if something is damaged.
int copy_kept_topics(const PersistRequest& request);

}  // namespace llamada::tools
