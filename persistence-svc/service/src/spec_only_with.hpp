#pragma once

#include "llamada/topics/discovery.hpp"

namespace llamada::service {

/// An endpoint of the service that only this other one matches; its policies are to be set.
inline topics::EndpointSpec spec_only_with(const topics::EndpointInfo& other) {
  topics::EndpointSpec spec;
  spec.topic = other.topic;
  spec.type = other.type;
  spec.type_hash = other.type_hash;
  spec.keyed = other.keyed;
  spec.only_with = other.id;
  return spec;
}

}  // namespace llamada::service
