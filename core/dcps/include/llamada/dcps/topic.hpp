#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llamada/dcps/entity.hpp"
#include "llamada/sql/filter.hpp"
#include "llamada/topics/discovery.hpp"
#include "llamada/types/type_support.hpp"

namespace llamada::dcps {

class Topic;

/// What a DataReader can be of (DDS 1.4, 2.2.2.3.1): a Topic or a ContentFilteredTopic.
class TopicDescription {
 public:
  virtual ~TopicDescription() = default;
  const std::string& name() const { return name_; }
  const std::string& type_name() const { return type_->name(); }
  const std::shared_ptr<const types::TypeSupport>& type() const { return type_; }
  /// The topic itself, or the one that is filtered.
  virtual std::shared_ptr<Topic> topic() = 0;

 protected:
  TopicDescription(std::string name, std::shared_ptr<const types::TypeSupport> type)
      : name_(std::move(name)), type_(std::move(type)) {}

 private:
  friend class DomainParticipant;
  std::string name_;
  std::shared_ptr<const types::TypeSupport> type_;
};

/// A name and a type that writers and readers have in common (DDS 1.4, 2.2.2.3.2). Made by
/// DomainParticipant::create_topic().
class Topic final : public ConfiguredEntity<qos::TopicQos, TopicListener>, public TopicDescription {
 public:
  std::shared_ptr<Topic> topic() override { return std::static_pointer_cast<Topic>(shared_from_this()); }
  /// Somebody in the domain has a topic of this name with a type that does not fit.
  InconsistentTopicStatus inconsistent_topic_status() {
    return read_status(inconsistent_topic_, status::inconsistent_topic);
  }

 private:
  friend class DomainParticipant;
  friend class Publisher;
  friend class Subscriber;
  friend class DataWriter;
  friend class DataReader;
  Topic(std::shared_ptr<detail::Core> core, Entity* participant, std::string name,
        std::shared_ptr<const types::TypeSupport> type, const qos::TopicQos& qos);

  std::function<void(Listener&)> listener_call(StatusMask status) override;
  void on_qos_applied(Lock&) override;
  Status on_enable() override;
  void check_consistent(const topics::EndpointInfo& endpoint);
  /// Describes a writer or reader of this topic; `group` is the number of its publisher or subscriber.
  topics::EndpointSpec endpoint_spec(qos::EndpointQos qos, std::uint64_t group) const;

  InconsistentTopicStatus inconsistent_topic_;
  /// Writers, readers and filtered topics that are made of it.
  std::size_t use_count_ = 0;
  /// How often it was found or created.
  std::size_t find_count_ = 1;
};

/// A Topic of which only the samples that match an expression are of interest (DDS 1.4, 2.2.2.3.3;
/// expressions: Annex B). Made by DomainParticipant::create_contentfilteredtopic().
class ContentFilteredTopic final : public TopicDescription,
                                   public std::enable_shared_from_this<ContentFilteredTopic> {
 public:
  std::shared_ptr<Topic> topic() override { return related_; }
  std::shared_ptr<Topic> related_topic() const { return related_; }
  std::string filter_expression() const;
  std::vector<std::string> expression_parameters() const;
  /// For samples that arrive from now on. Errors: invalid_argument, parse_error; the old ones stay then.
  Status set_expression_parameters(std::vector<std::string> parameters);

 private:
  friend class DomainParticipant;
  friend class Subscriber;
  friend class DataReader;
  ContentFilteredTopic(std::string name, std::shared_ptr<Topic> related, sql::Filter filter,
                       std::shared_ptr<detail::Core> core);

  std::shared_ptr<detail::Core> core_;
  std::shared_ptr<Topic> related_;
  sql::Filter filter_;
  std::size_t use_count_ = 0;
};

}  // namespace llamada::dcps
