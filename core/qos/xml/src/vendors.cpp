#include "vendors.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace llamada::qos::xml {
namespace {

struct Ignored {
  std::string_view parent;
  std::string_view element;
};

// In the order of docs/qos.md, whose test holds the two together. "entity" is any of the six <..._qos>.
constexpr Ignored all_ignored[] = {
    {"dds", "types"},
    {"dds", "type_library"},
    {"dds", "plugin_library"},
    {"dds", "flow_controller_library"},
    {"dds", "routing_service"},
    {"dds", "recording_service"},
    {"dds", "replay_service"},
    {"dds", "persistence_service"},
    {"dds", "web_integration_service"},
    {"dds", "cloud_discovery_service"},
    {"dds", "observability_library"},
    {"dds", "connext_logging"},
    {"dds", "configuration_variables"},
    {"dds", "adapter_library"},
    {"dds", "domain_library"},
    {"dds", "domain_participant_library"},
    {"dds", "participant_library"},
    {"dds", "application_library"},
    {"dds", "node_library"},
    {"dds", "deployment_library"},
    {"qos_profile", "participant_factory_qos"},
    {"qos_profile", "domainparticipant_factory_qos"},
    {"entity", "properties"},
    {"entity", "binary_property"},
    {"entity", "writer_batching"},
    {"entity", "psmx_instances"},
    {"entity", "thread"},
    {"entity", "logging"},
    {"entity", "monitoring"},
    {"entity", "user_object"},
    {"entity", "locator_filter"},
    {"entity", "binary_properties"},
    {"entity", "data_tags"},
    {"entity", "data_representation"},
    {"entity", "representation"},
    {"entity", "type_consistency"},
    {"entity", "type_consistency_enforcement"},
    {"entity", "type_support"},
    {"entity", "service"},
    {"entity", "availability"},
    {"entity", "exclusive_area"},
    {"entity", "asynchronous_publisher"},
    {"entity", "publish_mode"},
    {"entity", "batch"},
    {"entity", "multi_channel"},
    {"entity", "transport_selection"},
    {"entity", "unicast"},
    {"entity", "multicast"},
    {"entity", "encapsulation"},
    {"entity", "writer_resource_limits"},
    {"entity", "reader_resource_limits"},
    {"entity", "topic_query_dispatch"},
    {"entity", "publication_name"},
    {"entity", "subscription_name"},
    {"entity", "publisher_name"},
    {"entity", "subscriber_name"},
    {"entity", "participant_name"},
    {"entity", "transport_builtin"},
    {"entity", "transport_multicast_mapping"},
    {"entity", "wire_protocol"},
    {"entity", "discovery"},
    {"entity", "discovery_config"},
    {"entity", "default_unicast"},
    {"entity", "receiver_pool"},
    {"entity", "database"},
    {"entity", "event"},
    {"datareader_qos", "protocol"},
    {"datareader_qos", "transport_priority"},
    {"domain_participant_qos", "resource_limits"},
    {"domainparticipant_qos", "resource_limits"},
    {"participant_qos", "resource_limits"},
    {"protocol", "push_on_write"},
    {"protocol", "disable_positive_acks"},
    {"protocol", "disable_inline_keyhash"},
    {"protocol", "serialize_key_with_dispose"},
    {"protocol", "propagate_app_ack_with_no_response"},
    {"protocol", "rtps_object_id"},
    {"protocol", "virtual_guid"},
    {"protocol", "initial_virtual_sequence_number"},
    {"rtps_reliable_writer", "low_watermark"},
    {"rtps_reliable_writer", "high_watermark"},
    {"rtps_reliable_writer", "heartbeat_period"},
    {"rtps_reliable_writer", "fast_heartbeat_period"},
    {"rtps_reliable_writer", "late_joiner_heartbeat_period"},
    {"rtps_reliable_writer", "virtual_heartbeat_period"},
    {"rtps_reliable_writer", "samples_per_virtual_heartbeat"},
    {"rtps_reliable_writer", "max_heartbeat_retries"},
    {"rtps_reliable_writer", "inactivate_nonprogressing_readers"},
    {"rtps_reliable_writer", "heartbeats_per_max_samples"},
    {"rtps_reliable_writer", "min_nack_response_delay"},
    {"rtps_reliable_writer", "max_nack_response_delay"},
    {"rtps_reliable_writer", "nack_suppression_duration"},
    {"rtps_reliable_writer", "max_bytes_per_nack_response"},
    {"rtps_reliable_writer", "disable_positive_acks_min_sample_keep_duration"},
    {"rtps_reliable_writer", "disable_positive_acks_max_sample_keep_duration"},
    {"rtps_reliable_writer", "disable_positive_acks_enable_adaptive_sample_keep_duration"},
    {"rtps_reliable_writer", "send_window_update_period"},
    {"rtps_reliable_writer", "send_window_increase_factor"},
    {"rtps_reliable_writer", "send_window_decrease_factor"},
    {"rtps_reliable_writer", "enable_multicast_periodic_heartbeat"},
    {"rtps_reliable_writer", "multicast_resend_threshold"},
    {"reliability", "instance_state_consistency_kind"},
    {"durability", "direct_communication"},
    {"durability", "writer_depth"},
    {"durability", "storage_settings"},
    {"history", "refilter"},
    {"liveliness", "assertions_per_lease_duration"},
    {"presentation", "drop_incomplete_coherent_set"},
    {"resource_limits", "initial_samples"},
    {"resource_limits", "initial_instances"},
    {"resource_limits", "instance_hash_buckets"},
    {"writer_data_lifecycle", "autopurge_unregistered_instances_delay"},
    {"writer_data_lifecycle", "autopurge_disposed_instances_delay"},
    {"reader_data_lifecycle", "autopurge_disposed_instances_delay"},
    {"reader_data_lifecycle", "autopurge_nowriter_instances_delay"},
};

struct Refused {
  std::string_view parent;
  std::string_view element;
  std::string_view harmless;  ///< The value that changes nothing.
  std::string_view reason;
};

constexpr Refused all_refused[] = {
    {"reliability", "acknowledgment_kind", "PROTOCOL_ACKNOWLEDGMENT_MODE",
     "RTI Connext's acknowledgment by the application is not supported; remove the element or write "
     "PROTOCOL_ACKNOWLEDGMENT_MODE, and let readers confirm samples in a topic of their own"},
    {"entity", "ignorelocal", "NONE",
     "Cyclone DDS's ignorelocal is not supported: a participant's readers get its own writers' samples; "
     "write NONE "
     "here, and call dds::sub::ignore() for the writers that a reader is to leave out, or use partitions"},
    {"entity", "reader_lifespan", "false",
     "OpenSplice's reader_lifespan is not supported; remove it and write <lifespan> in datawriter_qos"},
    {"entity", "subscription_keys", "",
     "OpenSplice's subscription_keys are not supported; remove them: the type's own key names the instances"},
    {"entity", "share", "false", "OpenSplice's shared readers are not supported; remove <share>"},
};

struct Foreign {
  std::string_view name;
  std::string_view reason;
};

constexpr Foreign all_foreign_roots[] = {
    {"CycloneDDS",
     "this is Cyclone DDS's configuration of network, discovery and tracing; it has no QoS of topics, and "
     "Llamada needs "
     "none of it; write the policies in <dds><qos_library><qos_profile>"},
    {"OpenSplice",
     "this is OpenSplice's configuration of its services; it has no QoS of topics, and Llamada needs none of "
     "it; write "
     "the policies in <dds><qos_library><qos_profile>"},
    {"domain_access_rules",
     "this is a governance file of DDS Security, which is not supported; policies stand in "
     "<dds><qos_library><qos_profile>"},
    {"permissions",
     "this is a permissions file of DDS Security, which is not supported; policies stand in "
     "<dds><qos_library><qos_profile>"},
};

constexpr Foreign all_foreign_values[] = {
    {"HIGHEST_OFFERED_PRESENTATION_QOS",
     "HIGHEST_OFFERED is RTI Connext's; write what the writers offer: INSTANCE, TOPIC or GROUP"},
    {"LENGTH_AUTO", "LENGTH_AUTO is RTI Connext's; write a number or LENGTH_UNLIMITED"},
    {"DURATION_AUTO_SEC",
     "DURATION_AUTO is RTI Connext's; write seconds and nanoseconds, or DURATION_INFINITY"},
    {"DURATION_AUTO_NSEC",
     "DURATION_AUTO is RTI Connext's; write seconds and nanoseconds, or DURATION_INFINITY"},
};

template <std::size_t size>
std::string_view reason_for(const Foreign (&table)[size], std::string_view name) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [name](const Foreign& each) { return each.name == name; });
  return found == std::end(table) ? std::string_view() : found->reason;
}

/// The name of a parent in the tables.
std::string_view kind_that_bears(std::string_view parent) {
  return parent.ends_with("_qos") ? std::string_view("entity") : parent;
}

const Refused* find_refused(std::string_view parent, std::string_view element) {
  const auto* found = std::find_if(std::begin(all_refused), std::end(all_refused), [&](const Refused& each) {
    return each.element == element && each.parent == kind_that_bears(parent);
  });
  return found == std::end(all_refused) ? nullptr : found;
}

}  // namespace

std::string_view refusal(std::string_view parent, std::string_view element) {
  const Refused* found = find_refused(parent, element);
  return found == nullptr ? std::string_view() : found->reason;
}

bool asks_for_nothing(std::string_view parent, std::string_view element, std::string_view value) {
  const Refused* found = find_refused(parent, element);
  return found != nullptr && found->harmless == value;
}

std::string_view foreign_root(std::string_view element) { return reason_for(all_foreign_roots, element); }

std::string_view foreign_value(std::string_view value) { return reason_for(all_foreign_values, value); }

bool is_ignored(std::string_view parent, std::string_view element) {
  return std::any_of(std::begin(all_ignored), std::end(all_ignored), [&](const Ignored& each) {
    return each.element == element && (each.parent == parent || each.parent == kind_that_bears(parent));
  });
}

}  // namespace llamada::qos::xml
