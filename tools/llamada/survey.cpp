#include "survey.hpp"

#include <algorithm>
#include <set>
#include <variant>

namespace llamada::tools {
namespace {

class Surveyor {
 public:
  Surveyor(Survey& seen, const std::vector<std::string>& topics) : seen_(seen), topics_(topics) {}

  void operator()(const recording::Start& start) { seen_.start = start; }
  void operator()(const recording::Writer& writer) {
    const bool is_wanted =
        topics_.empty() || std::find(topics_.begin(), topics_.end(), writer.topic) != topics_.end();
    if (!is_wanted) return;
    wanted_.insert(writer.number);
    seen_.writers.push_back(writer);
  }
  void operator()(const recording::Sample& sample) {
    if (!wanted_.contains(sample.writer)) return;
    ++seen_.samples;
    if (!seen_.first_ns) seen_.first_ns = sample.received_ns;
  }
  void operator()(const recording::SamplesLost& lost) {
    if (wanted_.contains(lost.writer)) seen_.lost += lost.count;
  }
  void operator()(const recording::QosChange&) {}
  void operator()(const recording::WriterGone&) {}
  void operator()(const recording::End&) {}

 private:
  Survey& seen_;
  const std::vector<std::string>& topics_;
  std::set<std::uint32_t> wanted_;
};

}  // namespace

Result<Survey> survey(const std::string& file, const std::vector<std::string>& topics) {
  auto reader = recording::RecordingReader::open(file);
  if (!reader) return propagate(reader);
  Survey seen;
  Surveyor surveyor(seen, topics);
  while (true) {
    auto record = (*reader)->next();
    if (!record) {
      seen.damage = std::move(record.error());
      break;
    }
    if (!*record) break;
    std::visit(surveyor, **record);
  }
  seen.has_ended = (*reader)->has_ended();
  return seen;
}

std::string incompleteness(const Survey& survey, const std::string& file) {
  const std::string read =
      fmt::format("{} sample{} of {} writer{}", survey.samples, survey.samples == 1 ? "" : "s",
                  survey.writers.size(), survey.writers.size() == 1 ? "" : "s");
  if (survey.damage) return fmt::format("{}; {} before it can be read", survey.damage->text(), read);
  if (!survey.has_ended)
    return fmt::format("{}: the recorder was killed, the end is missing; {} can be read", file, read);
  if (survey.lost > 0)
    return fmt::format("{}: {} samples came too fast for the recorder and are missing", file, survey.lost);
  return "";
}

}  // namespace llamada::tools
