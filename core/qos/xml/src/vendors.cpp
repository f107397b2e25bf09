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
    {"dds", "domain_library"},
    {"dds", "domain_participant_library"},
    {"dds", "participant_library"},
    {"dds", "application_library"},
    {"dds", "node_library"},
    {"dds", "deployment_library"},
    {"qos_profile", "participant_factory_qos"},
    {"qos_profile", "domainparticipant_factory_qos"},
    {"entity", "property"},
    {"entity", "properties"},
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
    {"reliability", "acknowledgment_kind"},
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

}  // namespace

bool is_ignored(std::string_view parent, std::string_view element) {
  const std::string_view kind = parent.ends_with("_qos") ? std::string_view("entity") : parent;
  return std::any_of(std::begin(all_ignored), std::end(all_ignored), [&](const Ignored& each) {
    return each.element == element && (each.parent == parent || each.parent == kind);
  });
}

}  // namespace llamada::qos::xml
