#pragma once

#include "dds/core/ddscore.hpp"
#include "dds/domain/ddsdomain.hpp"
#include "dds/pub/ddspub.hpp"
#include "dds/sub/ddssub.hpp"
#include "dds/topic/ddstopic.hpp"
#include "support.hpp"

namespace dds_test {

struct S {
  std::int32_t k = 0;
  std::int32_t v = 0;
};
LLAMADA_TYPE(S, LLAMADA_KEY(k), v);

/// What the uses are about: one of each entity.
struct Uses {
  dds::domain::DomainParticipant p{0};
  dds::pub::Publisher pub{p};
  dds::sub::Subscriber sub{p};
  dds::topic::Topic<S> t{p, unique("uses")};
  dds::pub::DataWriter<S> w{pub, t, durable(dds::pub::qos::DataWriterQos())};
  dds::sub::DataReader<S> r{sub, t, durable(dds::sub::qos::DataReaderQos())};
};

}  // namespace dds_test
