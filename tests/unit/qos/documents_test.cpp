#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/rank_replacement.hpp"
#include "test.hpp"

using namespace llamada::qos;

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const fs::path docs = LLAMADA_DOCS;

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

/// That a policy's page names each of its fields.
template <typename Policy>
void check_fields(const Policy& policy) {
  const std::string page = text_of(docs / "policies" / (std::string(element_name(Policy::id)) + ".md"));
  each_field(policy, [&page](std::string_view name, const auto&) {
    INFO(to_string(Policy::id) << " " << name);
    CHECK(has(page, "`" + std::string(name) + "`"));
  });
}

}  // namespace

TEST_CASE("documents: every policy has a page, and a line in the table", "[qos]") {
  const std::string table = text_of(docs / "policies" / "README.md");
  for (PolicyId id : all_policies()) {
    INFO(to_string(id));
    const std::string file = std::string(element_name(id)) + ".md";
    const std::string page = text_of(docs / "policies" / file);
    CHECK(page.starts_with("# " + std::string(to_string(id)) + "\n"));
    for (const char* part : {"| values |", "**Cost.**", "**In a batch job.**", "**Seen at work.**"})
      CHECK(has(page, part));
    CHECK(has(table, "](" + file + ")"));
  }
}

TEST_CASE("documents: a policy's page names its fields", "[qos]") {
  auto check_entity = [](const auto& qos) {
    each_policy(qos, [](PolicyId, const auto& policy) { check_fields(policy); });
  };
  check_entity(DomainParticipantQos{});
  check_entity(TopicQos{});
  check_entity(PublisherQos{});
  check_entity(DataWriterQos{});
  check_entity(DataReaderQos{});
  check_fields(RankReplacement{});
}

TEST_CASE("documents: the elements that are passed over are those of the list", "[qos]") {
  const std::string source = text_of(fs::path(LLAMADA_VENDORS));
  const std::string page = text_of(docs / "qos.md");
  const std::regex entry("\\{\"(\\w+)\", \"(\\w+)\"\\}");
  int found = 0;
  for (auto each = std::sregex_iterator(source.begin(), source.end(), entry); each != std::sregex_iterator();
       ++each) {
    INFO((*each)[2]);
    CHECK(has(page, "`" + (*each)[2].str() + "`"));
    ++found;
  }
  CHECK(found > 50);
}
