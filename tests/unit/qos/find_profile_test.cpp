#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "llamada/qos_xml/profile_file.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for a test, gone with it.
struct Folder : test::TemporaryFolder {
  fs::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path() / name) << text;
    return path() / name;
  }
};

constexpr std::string_view one = "<qos_library name='L'><qos_profile name='P'/></qos_library>";

std::string error_of(std::string_view reference, std::vector<fs::path> folders) {
  auto profile = find_profile(reference, folders);
  return profile ? "ok" : profile.error().text();
}

}  // namespace

TEST_CASE("find: a name is sought in the folders in their order", "[qos]") {
  Folder first, second;
  const fs::path path = second.write("mine.xml", one);
  const std::vector<fs::path> folders{first.path() / "missing", first.path(), second.path()};
  CHECK(find_profile_file("mine", folders).value() == ProfileReference{path, std::nullopt});
  CHECK(find_profile_file("mine:L::P", folders).value() == ProfileReference{path, "L::P"});
  const fs::path nearer = first.write("mine.xml", one);
  CHECK(find_profile_file("mine:P", folders).value() == ProfileReference{nearer, "P"});
  CHECK(find_profile("mine:P", folders).value().name == "L::P");
}

TEST_CASE("find: a path is taken as it is, with or without a profile's name", "[qos]") {
  Folder folder;
  const fs::path path = folder.write("my:own.xml", one);
  const std::vector<fs::path> none;
  CHECK(find_profile_file(path.string(), none).value() == ProfileReference{path, std::nullopt});
  CHECK(find_profile_file(path.string() + ":L::P", none).value() == ProfileReference{path, "L::P"});
  CHECK(find_profile_file(path.string() + ":", none)
            .error()
            .text()
            .ends_with("has no profile's name behind the colon"));
}

TEST_CASE("find: what is missing is answered with what there is", "[qos]") {
  Folder folder;
  folder.write("default.xml", one);
  folder.write("fault-tolerant.xml", one);
  CHECK(error_of("fault-tolernt", {folder.path()}) ==
        fmt::format(
            "there is no QoS profile 'fault-tolernt'; in {} there are: default, fault-tolerant; did you mean "
            "'fault-tolerant'?",
            folder.path().string()));
  CHECK(error_of("x", {}) == "there is no QoS profile 'x'; there are none in no directory");
  CHECK(error_of("/nowhere/x.xml", {}) == "there is no QoS profile file '/nowhere/x.xml'");
  CHECK(error_of("/nowhere/x.xml:L::P", {}) == "there is no QoS profile file '/nowhere/x.xml'");
  CHECK(error_of("", {folder.path()}).starts_with("there is no QoS profile ''"));
}

TEST_CASE("load: a missing file, a folder, a pipe and a file too large are refused at once", "[qos]") {
  Folder folder;
  auto error = [](const fs::path& path) { return load_profile(path).error().text(); };
  CHECK(error(folder.path() / "x.xml") == (folder.path() / "x.xml").string() + ": there is no such file");
  CHECK(error(folder.path()) == folder.path().string() + ": not a regular file");
  const fs::path pipe = folder.path() / "pipe.xml";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error(pipe) == pipe.string() + ": not a regular file");
  const fs::path large = folder.write("large.xml", std::string(profile_file_size_max_bytes + 1, ' '));
  CHECK(error(large).ends_with("the file has more than 1048576 bytes, the limit for a profile file"));
}
