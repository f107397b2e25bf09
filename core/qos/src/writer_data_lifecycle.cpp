#include "llamada/qos/writer_data_lifecycle.hpp"

namespace llamada::qos {

std::string to_string(const WriterDataLifecycle& policy) {
  return fmt::format("autodispose_unregistered_instances {}", policy.autodispose_unregistered_instances);
}

}  // namespace llamada::qos
