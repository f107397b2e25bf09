// The twin of sobel.c on topics: a master publishes strips of a picture, workers publish their edges.

#include "../common/farm.hpp"
#include "../common/sobel.h"

namespace {

struct Setup {
  std::int32_t master = 0;
  std::int32_t width = 0;
};
LLAMADA_TYPE(Setup, LLAMADA_KEY(master), width);

/// Rows, with one more above and below.
struct Strip {
  std::int32_t worker = 0, item = 0;
  std::int32_t rows = 0;
  std::vector<std::uint8_t> halo;
};
LLAMADA_TYPE(Strip, LLAMADA_KEY(worker), LLAMADA_KEY(item), rows, halo);

struct Edges {
  std::int32_t worker = 0, item = 0;
  std::vector<std::uint8_t> pixels;
};
LLAMADA_TYPE(Edges, worker, LLAMADA_KEY(item), pixels);

Edges compute(const Setup& setup, const Strip& strip) {
  Edges edges{0, 0, std::vector<std::uint8_t>(static_cast<std::size_t>(setup.width * strip.rows))};
  sobel_rows(strip.halo.data(), edges.pixels.data(), strip.rows, setup.width);
  return edges;
}

std::vector<Strip> strips_of(const Picture& picture, int strips) {
  std::vector<Strip> work;
  for (int i = 0; i < strips; i++) {
    const int begin = static_cast<int>(static_cast<long>(picture.height) * i / strips);
    const int end = static_cast<int>(static_cast<long>(picture.height) * (i + 1) / strips);
    Strip strip{0, i, end - begin,
                std::vector<std::uint8_t>(static_cast<std::size_t>((end - begin + 2) * picture.width))};
    sobel_halo(&picture, begin, end, strip.halo.data());
    work.push_back(std::move(strip));
  }
  return work;
}

Picture open_picture(const std::string& input, int width) {
  Picture picture{0, 0, nullptr};
  if (input.empty()) picture = sobel_test_picture(width, width * 3 / 4 + 1);
  if (!input.empty() && sobel_read(input.c_str(), &picture) == 0)
    throw dds::core::InvalidArgumentError(input + " cannot be read: is it a PNG?");
  if (picture.pixels == nullptr) throw dds::core::OutOfResourcesError("there is not enough memory");
  return picture;
}

std::string text_option(const farm::Options& options, const std::string& name, const std::string& standard) {
  for (std::size_t i = 0; i + 1 < options.rest.size(); i++)
    if (options.rest[i] == name) return options.rest[i + 1];
  return standard;
}

int master(farm::Master<Setup, Strip, Edges>& master, const farm::Options& options) {
  const Picture picture = open_picture(text_option(options, "-i", ""), farm::option(options, "-p", 640));
  const std::string output = text_option(options, "-o", "edges.png");
  std::vector<std::uint8_t> edges;
  const int strips = farm::option(options, "-s", 32);
  for (const auto& [item, found] : master.run(Setup{0, picture.width}, strips_of(picture, strips)))
    edges.insert(edges.end(), found.pixels.begin(), found.pixels.end());
  const bool right =
      edges.size() == static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) &&
      sobel_is_right(&picture, edges.data()) != 0;
  if (right && sobel_write(output.c_str(), picture.width, picture.height, edges.data()) == 0)
    throw dds::core::Error(output + " cannot be written");
  std::printf("sobel: %d x %d pixels, the edges are in %s\nsobel: %s\n", picture.width, picture.height,
              output.c_str(), right ? "VERIFIED, every pixel is right" : "WRONG, a pixel is not");
  std::free(picture.pixels);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = farm::parse("sobel", argc, argv);
  return farm::run<Setup, Strip, Edges>(options, compute, [&](auto& farm) { return master(farm, options); });
}
