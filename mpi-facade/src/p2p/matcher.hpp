#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

/// Matching of point-to-point messages with receives (MPI 3.1, 3.5): a pure state machine, without a clock, a
/// log or a World. The caller owns the nodes; the matcher links them.
namespace llamada::mpi {

inline constexpr int any_source = -2;
inline constexpr int any_tag = -1;

/// What names a message for matching and for replay.
struct Envelope {
  std::uint32_t context = 0;
  int source = 0;  ///< rank in MPI_COMM_WORLD
  int tag = 0;
  std::uint64_t ordinal = 0;  ///< of the messages from `source` in `context`, from 1
};

/// A message that no receive was waiting for when it came. Must stay in place while the matcher has it.
struct MessageNode : Envelope {
  MessageNode* previous = nullptr;
  MessageNode* next = nullptr;
};

/// A posted receive. Must stay in place while the matcher has it.
struct ReceiveNode {
  /// How a replay restricts what the receive may take.
  enum class Rule : std::uint8_t {
    free,       ///< as posted
    held,       ///< a wildcard whose match is not known: takes nothing until go_live()
    cancelled,  ///< the program is known to cancel it: takes nothing, ever
  };

  std::uint32_t context = 0;
  int source = any_source;  ///< rank in MPI_COMM_WORLD; any_source
  int tag = any_tag;
  Rule rule = Rule::free;
  bool queued = false;  ///< the matcher has it
  /// In a replay: the message it took; 0: not known. The caller checks it.
  std::uint64_t expected_ordinal = 0;
  std::uint64_t sequence = 0;  ///< the matcher's: order of posting, from 1
  ReceiveNode* previous = nullptr;
  ReceiveNode* next = nullptr;
};

/// A doubly linked list through the nodes themselves.
template <typename Node>
struct NodeList {
  Node* first = nullptr;
  Node* last = nullptr;

  void push_back(Node& node) {
    node.previous = last;
    node.next = nullptr;
    (last ? last->next : first) = &node;
    last = &node;
  }
  void remove_first() {
    first = first->next;
    (first ? first->previous : last) = nullptr;
  }
  /// Removes what comes before `node`, of this list; all if it is null.
  void remove_before(Node* node) {
    first = node;
    (node ? node->previous : last) = nullptr;
  }
  void remove(Node& node) {
    (node.previous ? node.previous->next : first) = node.next;
    (node.next ? node.next->previous : last) = node.previous;
    node.previous = node.next = nullptr;
  }
};

/// All posted receives and unexpected messages of one rank.
///
/// Messages of one source and context match in the order in which they come; receives in the order in which
/// they were posted, named and wildcard ones alike. A wildcard that finds several sources' messages begins
/// behind the source that a wildcard of this context took from last, or at the one that a probe for any
/// source has found since: a receive after it takes what was found, whatever has come meanwhile.
///
/// In a replay a message whose first fitting receive is a held one is *parked*, and with it all that follow
/// it from its source in its context: the run that is replayed cannot have seen them, for there the receive
/// would have taken it. Parked messages are neither received nor probed until go_live().
///
/// Threads: one.
class Matcher {
 public:
  explicit Matcher(int source_count) : source_count_(source_count) {}

  /// Sources are below `source_count` from now on.
  void grow(int source_count);

  /// A message has come: the receive that takes it, no longer queued; null when it is unexpected, then
  /// add_unexpected() must follow before anything else.
  ReceiveNode* arrive(const Envelope& message);
  void add_unexpected(MessageNode& message);

  /// arrive() for the usual case, in two steps: the receive that would take the message, still queued, where
  /// all that it could be are named, or all wildcards. Null: to be found by arrive().
  ReceiveNode* first_posted(std::uint32_t id, int from, int tag) {
    if (id != last_id_ || !last_context_) return nullptr;
    const Source& named = source(*last_context_, from);
    ReceiveNode* wildcard = last_context_->wildcards.first;
    ReceiveNode* receive = wildcard ? wildcard : named.posted.first;
    if (!receive || named.parked_from || (receive->tag != tag && receive->tag != any_tag)) return nullptr;
    if (wildcard && (named.posted.first || wildcard->rule != ReceiveNode::Rule::free)) return nullptr;
    return receive;
  }
  /// Takes what first_posted() has just given for a message from this source.
  void take_first_posted(ReceiveNode& receive, int from) {
    if (receive.source == any_source) {
      last_context_->wildcards.remove_first();
      last_context_->last_taken = from;
    } else {
      source(*last_context_, from).posted.remove_first();
    }
    receive.queued = false;
  }

  /// The receives that name this source, the first of which is for the next message from there in this
  /// context if its tag fits. Null where others may be, too: to be found by first_posted() or arrive(). Who
  /// takes some from its front does so by remove_before(), and says of each that it is not queued.
  NodeList<ReceiveNode>* named_alone(std::uint32_t id, int from) {
    if (id != last_id_ || !last_context_ || last_context_->wildcards.first) return nullptr;
    Source& named = source(*last_context_, from);
    return named.parked_from ? nullptr : &named.posted;
  }

  /// Whether the next message from this source in this context, unless it is special, goes to a receive that
  /// is posted now and fits: nothing is posted there, and nothing has come that nobody took.
  bool is_untouched(std::uint32_t id, int from) const {
    if (id != last_id_ || !last_context_ || last_context_->unexpected > 0) return false;
    const Source& named = last_context_->sources[static_cast<std::size_t>(from)];
    return !last_context_->wildcards.first && !named.posted.first && !named.parked_from;
  }
  /// A receive is posted and takes at once what has come from this source, where is_untouched(): counts it.
  /// Gives which of all receives it is, from 0.
  std::uint64_t pass(int from, bool is_wildcard) {
    if (is_wildcard) last_context_->last_taken = from;
    return sequence_++;
  }

  /// Posts a receive: the unexpected message that it takes, removed; null when it is queued (or `cancelled`).
  MessageNode* post(ReceiveNode& receive);
  /// The same for the usual one, which is free.
  MessageNode* post_free(ReceiveNode& receive) {
    Context& here = context(receive.context);
    if (here.unexpected > 0) return post(receive);
    queue(here, receive);
    return nullptr;
  }
  /// Whether a receive in this context is queued when it is posted, and post_queued() does that.
  bool will_queue(std::uint32_t id) const {
    return id == last_id_ && last_context_ && last_context_->unexpected == 0;
  }
  void post_queued(ReceiveNode& receive) { queue(*last_context_, receive); }
  /// How many receives have been posted.
  std::uint64_t posts() const { return sequence_; }

  /// Takes a receive back: false when it has been matched.
  bool cancel(ReceiveNode& receive);

  /// The message that a receive posted now would take; it stays, and a wildcard posted next takes it.
  MessageNode* probe(std::uint32_t context, int source, int tag);
  /// A message by its name; null when it has not come, or is no longer here.
  MessageNode* find(std::uint32_t context, int source, std::uint64_t ordinal);
  /// A probe for any source has found a message from this one.
  void probed(std::uint32_t id, int source) { context(id).last_taken = source - 1; }
  /// Removes an unexpected message (a matched probe took it).
  void take(MessageNode& message);

  using Pair = std::pair<ReceiveNode*, MessageNode*>;
  /// Held receives become free. Gives the matches that follow from it, both sides removed, in the order of
  /// the receives.
  std::vector<Pair> go_live();

  /// A source has ended: what has come from there and was not taken is removed, and given to
  /// `drop(MessageNode&)`. Contexts in which nothing waits are forgotten, as those of communicators that are
  /// gone. Not while a replay needs the order in which sources were taken.
  template <typename Drop>
  void part(int source_index, Drop drop) {
    std::erase_if(contexts_, [&](auto& entry) {
      Context& here = *entry.second;
      Source& from = source(here, source_index);
      while (MessageNode* node = from.unexpected.first) {
        unlink(here, *node);
        drop(*node);
      }
      from = {};
      const bool is_idle = std::all_of(here.sources.begin(), here.sources.end(), [](const Source& each) {
        return !each.posted.first && !each.unexpected.first;
      });
      return is_idle && !here.wildcards.first && here.held == 0;
    });
    last_context_ = nullptr;
    last_id_ = 0;
  }

  /// Calls `visit(MessageNode&)` for each unexpected message.
  template <typename Visitor>
  void for_each_unexpected(Visitor visit) {
    for (auto& [context, queue] : contexts_)
      for (auto& source : queue->sources)
        for (MessageNode* node = source.unexpected.first; node; node = node->next) visit(*node);
  }
  template <typename Visitor>
  void for_each_unexpected(Visitor visit) const {
    for (const auto& [context, queue] : contexts_)
      for (const auto& source : queue->sources)
        for (const MessageNode* node = source.unexpected.first; node; node = node->next) visit(*node);
  }
  /// Calls `visit(const ReceiveNode&)` for each posted receive.
  template <typename Visitor>
  void for_each_posted(Visitor visit) const {
    const auto visit_list = [&](const NodeList<ReceiveNode>& list) {
      for (const ReceiveNode* node = list.first; node; node = node->next) visit(*node);
    };
    for (const auto& [id, context] : contexts_) {
      visit_list(context->wildcards);
      for (const Source& source : context->sources) visit_list(source.posted);
    }
  }
  /// The posted receives, as they are now: for who may take some of them back.
  std::vector<ReceiveNode*> posted() const {
    std::vector<ReceiveNode*> found;
    for_each_posted([&](const ReceiveNode& node) { found.push_back(const_cast<ReceiveNode*>(&node)); });
    return found;
  }
  std::uint64_t unexpected_count() const { return unexpected_count_; }
  /// Counts them.
  std::uint64_t posted_count() const {
    std::uint64_t count = 0;
    for_each_posted([&](const ReceiveNode&) { ++count; });
    return count;
  }

 private:
  struct Source {
    NodeList<ReceiveNode> posted;  // receives that name it
    NodeList<MessageNode> unexpected;
    MessageNode* parked_from = nullptr;  // this one and all behind it are parked
  };
  struct Context {
    std::vector<Source> sources;
    NodeList<ReceiveNode> wildcards;
    std::uint32_t unexpected = 0;
    std::uint32_t held = 0;
    int last_taken = -1;
  };

  Context& context(std::uint32_t id) {
    if (id == last_id_ && last_context_) return *last_context_;
    return find_context(id);
  }
  Context& find_context(std::uint32_t id);
  void queue(Context& here, ReceiveNode& receive) {
    receive.sequence = ++sequence_;
    (receive.source == any_source ? here.wildcards : source(here, receive.source).posted).push_back(receive);
    receive.queued = true;
  }
  Source& source(Context& context, int index) { return context.sources[static_cast<std::size_t>(index)]; }
  ReceiveNode* first_fitting(Context& context, const Envelope& message);
  void unlink(Context& context, ReceiveNode& receive);
  void unlink(Context& context, MessageNode& message);
  MessageNode* search(Context& context, int source, int tag);
  MessageNode* search_source(Source& source, int tag);
  void match_parked(Context& context, std::vector<Pair>& pairs);

  int source_count_;
  std::uint64_t sequence_ = 0;
  std::uint64_t unexpected_count_ = 0;
  std::unordered_map<std::uint32_t, std::unique_ptr<Context>> contexts_;
  std::uint32_t last_id_ = 0;
  Context* last_context_ = nullptr;
  bool park_next_ = false;  // what arrive() refused is to be parked
};

}  // namespace llamada::mpi
