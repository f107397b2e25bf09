#include <algorithm>
#include <fstream>
#include <iterator>

#include "llamada/base/random.hpp"
#include "llamada/qos/serialization.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

std::vector<std::string> seeds() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(LLAMADA_QOS_CORPUS))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

void mutate(std::string& text, const std::string& other, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t length = random.below(40);
  switch (random.below(5)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, other.substr(random.below(other.size()), length));
      break;
    case 2:
      text.insert(at, text.substr(random.below(text.size() + 1), length));
      break;
    case 3:
      text.insert(at, 1, static_cast<char>(random.below(256)));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
  }
}

/// Of UTF-8 the bytes beyond ASCII may stand in it, too.
bool is_sentence(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace

TEST_CASE("xml: a mutated file gives a consistent profile or one printable sentence", "[qos]") {
  const std::vector<std::string> texts = seeds();
  REQUIRE(texts.size() >= 4);
  Random random(20130913);
  int accepted = 0;
  for (int run = 0; run < 8000; ++run) {
    std::string text = texts[random.below(texts.size())];
    const std::uint64_t mutations = 1 + random.below(4);
    for (std::uint64_t i = 0; i < mutations; ++i) mutate(text, texts[random.below(texts.size())], random);
    auto profile = parse_profile(text, "x.xml");
    CAPTURE(run, text);
    if (!profile) {
      if (!is_sentence(profile.error().text())) FAIL(profile.error().text());
      continue;
    }
    ++accepted;
    if (!check_consistent(*profile) || !check_enforced(*profile)) FAIL("not consistent");
    if (deserialize(serialize(*profile)).value() != *profile) FAIL("not the same after serialization");
  }
  CHECK(accepted > 0);
  CHECK(accepted < 8000);
}
