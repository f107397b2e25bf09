#pragma once

#include <string>
#include <string_view>

#include "element.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/rank_replacement.hpp"
#include "llamada/qos/tuning.hpp"
#include "llamada/qos_xml/qos_provider.hpp"

namespace llamada::qos::xml {

/// Puts what stands in an element over the policies of an entity, value by value: what does not stand there
/// stays. Each policy is checked by itself; how they fit each other is the caller's to check. Notes where
/// each value stands, below `entity`, and what is ignored.
struct PolicyReader {
  std::string_view entity;  ///< "datawriter_qos"
  Origins& origins;
  Warnings& warnings;
  Tuning* tuning = nullptr;     ///< Gets what PROPERTY elements set of it; null: they are only checked.
  std::string* name = nullptr;  ///< Gets the entity's name, as other vendors give it one; null: only checked.

  Status read(const Element& element, DomainParticipantQos& qos);
  Status read(const Element& element, PublisherQos& qos);
  Status read(const Element& element, SubscriberQos& qos);
  Status read(const Element& element, TopicQos& qos);
  Status read(const Element& element, DataWriterQos& qos);
  Status read(const Element& element, DataReaderQos& qos);
  Status read(const Element& element, RankReplacement& policy);
};

}  // namespace llamada::qos::xml
