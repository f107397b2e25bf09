#include "p2p/matcher.hpp"

#include <algorithm>

namespace llamada::mpi {
namespace {

bool tag_fits(int wanted, int tag) { return wanted == any_tag || wanted == tag; }

ReceiveNode* first_with_tag(ReceiveNode* node, int tag) {
  while (node && !tag_fits(node->tag, tag)) node = node->next;
  return node;
}

}  // namespace

void Matcher::grow(int source_count) {
  if (source_count <= source_count_) return;
  source_count_ = source_count;
  for (auto& [id, context] : contexts_) context->sources.resize(static_cast<std::size_t>(source_count));
}

Matcher::Context& Matcher::find_context(std::uint32_t id) {
  auto& entry = contexts_[id];
  if (!entry) {
    entry = std::make_unique<Context>();
    entry->sources.resize(static_cast<std::size_t>(source_count_));
  }
  last_id_ = id;
  last_context_ = entry.get();
  return *entry;
}

ReceiveNode* Matcher::first_fitting(Context& context, const Envelope& message) {
  ReceiveNode* named = first_with_tag(source(context, message.source).posted.first, message.tag);
  ReceiveNode* wildcard = first_with_tag(context.wildcards.first, message.tag);
  if (!named || !wildcard) return named ? named : wildcard;
  return named->sequence < wildcard->sequence ? named : wildcard;
}

ReceiveNode* Matcher::arrive(const Envelope& message) {
  Context& here = context(message.context);
  park_next_ = false;
  if (source(here, message.source).parked_from) return nullptr;
  ReceiveNode* receive = first_fitting(here, message);
  if (!receive) return nullptr;
  if (receive->rule == ReceiveNode::Rule::held) {
    park_next_ = true;
    return nullptr;
  }
  if (receive->source == any_source) here.last_taken = message.source;
  unlink(here, *receive);
  return receive;
}

void Matcher::add_unexpected(MessageNode& message) {
  Context& here = context(message.context);
  Source& from = source(here, message.source);
  from.unexpected.push_back(message);
  if (park_next_ && !from.parked_from) from.parked_from = &message;
  park_next_ = false;
  ++here.unexpected;
  ++unexpected_count_;
}

MessageNode* Matcher::post(ReceiveNode& receive) {
  receive.sequence = ++sequence_;
  if (receive.rule == ReceiveNode::Rule::cancelled) return nullptr;
  Context& here = context(receive.context);
  if (receive.rule == ReceiveNode::Rule::free && here.unexpected > 0) {
    if (MessageNode* message = search(here, receive.source, receive.tag)) {
      if (receive.source == any_source) here.last_taken = message->source;
      unlink(here, *message);
      return message;
    }
  }
  (receive.source == any_source ? here.wildcards : source(here, receive.source).posted).push_back(receive);
  receive.queued = true;
  if (receive.rule == ReceiveNode::Rule::held) {
    ++here.held;
    // What is here and fits was not seen by the run that is replayed: it would have been taken.
    for (Source& from : here.sources) {
      MessageNode* message = from.unexpected.first;
      while (message && message != from.parked_from && !tag_fits(receive.tag, message->tag))
        message = message->next;
      if (message) from.parked_from = message;
    }
  }
  return nullptr;
}

bool Matcher::cancel(ReceiveNode& receive) {
  if (receive.rule == ReceiveNode::Rule::cancelled) return true;
  if (!receive.queued) return false;
  unlink(context(receive.context), receive);
  return true;
}

MessageNode* Matcher::search_source(Source& source, int tag) {
  MessageNode* node = source.unexpected.first;
  while (node && node != source.parked_from && !tag_fits(tag, node->tag)) node = node->next;
  return node == source.parked_from ? nullptr : node;
}

MessageNode* Matcher::search(Context& context, int wanted, int tag) {
  if (wanted != any_source) return search_source(source(context, wanted), tag);
  for (int step = 1; step <= source_count_; ++step) {
    const int index = (context.last_taken + step) % source_count_;
    if (MessageNode* message = search_source(source(context, index), tag)) return message;
  }
  return nullptr;
}

MessageNode* Matcher::probe(std::uint32_t id, int wanted, int tag) {
  Context& here = context(id);
  if (here.unexpected == 0) return nullptr;
  MessageNode* found = search(here, wanted, tag);
  if (found && wanted == any_source) probed(id, found->source);
  return found;
}

MessageNode* Matcher::find(std::uint32_t id, int from, std::uint64_t ordinal) {
  MessageNode* node = source(context(id), from).unexpected.first;
  while (node && node->ordinal != ordinal) node = node->next;
  return node;
}

void Matcher::take(MessageNode& message) {
  Context& here = context(message.context);
  here.last_taken = message.source;
  unlink(here, message);
}

void Matcher::unlink(Context& context, ReceiveNode& receive) {
  (receive.source == any_source ? context.wildcards : source(context, receive.source).posted).remove(receive);
  receive.queued = false;
  if (receive.rule == ReceiveNode::Rule::held) --context.held;
}

void Matcher::unlink(Context& context, MessageNode& message) {
  Source& from = source(context, message.source);
  if (from.parked_from == &message) from.parked_from = message.next;
  from.unexpected.remove(message);
  --context.unexpected;
  --unexpected_count_;
}

void Matcher::match_parked(Context& context, std::vector<Pair>& pairs) {
  for (Source& from : context.sources) {
    MessageNode* message = from.parked_from;
    from.parked_from = nullptr;
    while (message) {
      MessageNode* next = message->next;
      ReceiveNode* receive = first_fitting(context, *message);
      if (receive && receive->rule == ReceiveNode::Rule::held) {
        from.parked_from = message;
        break;
      }
      if (receive) {
        unlink(context, *receive);
        unlink(context, *message);
        pairs.emplace_back(receive, message);
      }
      message = next;
    }
  }
}

std::vector<Matcher::Pair> Matcher::go_live() {
  std::vector<Pair> pairs;
  for (auto& [id, here] : contexts_) {
    for (ReceiveNode* node = here->wildcards.first; node; node = node->next) {
      if (node->rule == ReceiveNode::Rule::held) node->rule = ReceiveNode::Rule::free;
    }
    here->held = 0;
    match_parked(*here, pairs);
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.first->sequence < b.first->sequence; });
  return pairs;
}

}  // namespace llamada::mpi
