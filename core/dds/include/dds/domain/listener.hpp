#pragma once

#include "dds/pub/pub.hpp"
#include "dds/sub/sub.hpp"
#include "dds/topic/topic.hpp"

namespace dds::domain {

/// Hears of all entities of a participant, except those that read the built-in topics (DDS 1.4, 2.2.2.2.3;
/// ISO C++ PSM, 7.5.10).
class DomainParticipantListener : public virtual topic::AnyTopicListener,
                                  public virtual pub::PublisherListener,
                                  public virtual sub::SubscriberListener {};
/// A DomainParticipantListener with methods that do nothing.
class NoOpDomainParticipantListener : public virtual DomainParticipantListener,
                                      public virtual topic::NoOpAnyTopicListener,
                                      public virtual pub::NoOpPublisherListener,
                                      public virtual sub::NoOpSubscriberListener {};

}  // namespace dds::domain
