#include <dds/dds.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "script.hpp"

namespace llamada::interop {
namespace {

// What Cyclone DDS's compiler of IDL would write for `struct Cell { @key long key; long value; }`.
constexpr std::uint32_t number_operation =
    std::uint32_t{DDS_OP_ADR} | std::uint32_t{DDS_OP_TYPE_4BY} | DDS_OP_FLAG_SGN;
constexpr std::uint32_t operations[] = {number_operation | DDS_OP_FLAG_KEY | DDS_OP_FLAG_MU,
                                        offsetof(Cell, key),
                                        number_operation,
                                        offsetof(Cell, value),
                                        DDS_OP_RTS,
                                        DDS_OP_KOF | 1,
                                        0};
constexpr dds_key_descriptor_t key_descriptors[] = {{"key", 5, 0}};
constexpr dds_topic_descriptor_t descriptor = {sizeof(Cell),
                                               alignof(Cell),
                                               DDS_TOPIC_FIXED_SIZE | DDS_TOPIC_FIXED_KEY,
                                               1,
                                               "interop::Cell",
                                               key_descriptors,
                                               3,
                                               operations,
                                               "",
                                               {},
                                               {},
                                               0};

/// This machine only: nothing goes to a network.
constexpr const char* configuration_xml =
    "<General><Interfaces><NetworkInterface name='lo' multicast='false'/></Interfaces></General>";
constexpr dds_domainid_t domain = 217;

dds_entity_t checked(dds_return_t code, std::string_view what) {
  if (code < 0) throw std::runtime_error(fmt::format("Cyclone DDS: {}: {}", what, dds_strretcode(-code)));
  return code;
}

class Qos {
 public:
  explicit Qos(const Configuration& configuration) : qos_(dds_create_qos()) {
    dds_qset_history(qos_, configuration.keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST,
                     configuration.depth);
    dds_qset_ownership(qos_, configuration.exclusive ? DDS_OWNERSHIP_EXCLUSIVE : DDS_OWNERSHIP_SHARED);
    dds_qset_destination_order(qos_, configuration.by_source ? DDS_DESTINATIONORDER_BY_SOURCE_TIMESTAMP
                                                             : DDS_DESTINATIONORDER_BY_RECEPTION_TIMESTAMP);
  }
  ~Qos() { dds_delete_qos(qos_); }
  Qos(const Qos&) = delete;

  dds_qos_t* of_writer(const Configuration& configuration, std::size_t writer) {
    dds_qset_reliability(qos_, DDS_RELIABILITY_RELIABLE, DDS_MSECS(100));
    if (configuration.exclusive) dds_qset_ownership_strength(qos_, static_cast<std::int32_t>(writer));
    dds_qset_writer_data_lifecycle(qos_, configuration.autodispose);
    return qos_;
  }
  dds_qos_t* of_reader(const Configuration& configuration) {
    dds_qset_reliability(qos_,
                         configuration.reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
                         DDS_MSECS(100));
    dds_qset_reader_data_lifecycle(qos_, configuration.purge_nowriter ? 0 : DDS_INFINITY,
                                   configuration.purge_disposed ? 0 : DDS_INFINITY);
    dds_qset_resource_limits(qos_, configuration.max_samples, configuration.max_instances,
                             configuration.max_samples_per_instance);
    return qos_;
  }

 private:
  dds_qos_t* qos_;
};

/// A domain of this process, as long as it lives.
class Domain {
 public:
  Domain() : entity_(checked(dds_create_domain(domain, configuration_xml), "create_domain")) {}
  ~Domain() { dds_delete(entity_); }
  Domain(const Domain&) = delete;

 private:
  dds_entity_t entity_;
};

class Run {
 public:
  explicit Run(const Script& script) {
    static const Domain only;
    const Configuration& configuration = script.configuration;
    purges_ = configuration.purge_disposed || configuration.purge_nowriter;
    participant_ = checked(dds_create_participant(domain, nullptr, nullptr), "create_participant");
    const std::string name = fmt::format("cells_{}", script.seed);
    const dds_entity_t topic =
        checked(dds_create_topic(participant_, &descriptor, name.c_str(), nullptr, nullptr), "create_topic");
    reader_ =
        checked(dds_create_reader(participant_, topic, Qos(configuration).of_reader(configuration), nullptr),
                "reader");
    for (std::size_t i = 0; i < writers_.size(); i++)
      writers_[i] = checked(
          dds_create_writer(participant_, topic, Qos(configuration).of_writer(configuration, i), nullptr),
          "writer");
  }
  ~Run() { dds_delete(participant_); }
  Run(const Run&) = delete;

  std::vector<Seen> look(const Step& step) {
    constexpr std::size_t room = 256;
    std::array<Cell, room> cells;
    std::array<void*, room> places;
    std::array<dds_sample_info_t, room> infos;
    for (std::size_t i = 0; i < room; i++) places[i] = &cells[i];
    const auto most = static_cast<std::uint32_t>(step.max_samples < 0 ? room : step.max_samples);
    const std::uint32_t mask = step.sample_states | step.view_states << 2 | step.instance_states << 4;
    const bool takes = step.action == Action::take;
    dds_return_t count = 0;
    if (step.of_instance) {
      const dds_instance_handle_t instance = dds_lookup_instance(reader_, &step.cell);
      if (instance == DDS_HANDLE_NIL) return {};
      const auto call = takes ? dds_take_instance_mask : dds_read_instance_mask;
      count = call(reader_, places.data(), infos.data(), most, most, instance, mask);
      // The reader has forgotten the instance, which another knows.
      if (count == DDS_RETCODE_BAD_PARAMETER || count == DDS_RETCODE_PRECONDITION_NOT_MET) return {};
    } else {
      count = (takes ? dds_take_mask : dds_read_mask)(reader_, places.data(), infos.data(), most, most, mask);
    }
    checked(count, to_string(step));
    std::vector<Seen> seen;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); i++)
      seen.push_back(seen_of(cells[i], infos[i]));
    return seen;
  }

  void write(const Step& step) {
    const dds_entity_t writer = writers_[step.writer];
    dds_instance_handle_t instance = DDS_HANDLE_NIL;
    const dds_return_t code =
        step.action == Action::register_ ? dds_register_instance(writer, &instance, &step.cell)
        : step.action == Action::write   ? dds_write_ts(writer, &step.cell, step.timestamp_ns)
        : step.action == Action::dispose ? dds_dispose_ts(writer, &step.cell, step.timestamp_ns)
                                         : dds_unregister_instance_ts(writer, &step.cell, step.timestamp_ns);
    checked(code, to_string(step));
    // A thread of Cyclone DDS purges.
    if (purges_ && step.action != Action::write) dds_sleepfor(DDS_MSECS(3));
  }

 private:
  static Seen seen_of(const Cell& cell, const dds_sample_info_t& info) {
    return {cell,
            info.valid_data,
            info.sample_state,
            static_cast<std::uint32_t>(info.view_state) >> 2,
            static_cast<std::uint32_t>(info.instance_state) >> 4,
            static_cast<std::int32_t>(info.disposed_generation_count),
            static_cast<std::int32_t>(info.no_writers_generation_count),
            static_cast<std::int32_t>(info.sample_rank),
            static_cast<std::int32_t>(info.generation_rank),
            static_cast<std::int32_t>(info.absolute_generation_rank)};
  }

  bool purges_ = false;
  dds_entity_t participant_ = 0;
  dds_entity_t reader_ = 0;
  std::array<dds_entity_t, 2> writers_{};
};

}  // namespace

Outcome run_with_cyclone(const Script& script) {
  Run run(script);
  return outcome_of(script, run);
}

}  // namespace llamada::interop
