#include "interpose/start_over.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/clear_start.hpp"
#include "interpose/rank_thread.hpp"
#include "interpose/standard_input.hpp"

namespace llamada::mpi::interpose {
namespace {

constexpr const char* preload = "LD_PRELOAD";
/// Set from the exec to the program's new start: the value of LD_PRELOAD before, behind a '=' if it had one.
constexpr const char* started_over = "LLAMADA_STARTED_OVER";

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// The program gets back the environment that it was started with.
void restore_environment(std::string_view before) {
  if (before.empty())
    unsetenv(preload);
  else
    setenv(preload, std::string(before.substr(1)).c_str(), 1);
  unsetenv(started_over);
}

/// The name of a loaded object's file, its own name for others, and those of the libraries it wants.
struct Names {
  std::string_view file;
  std::string_view own;
  std::vector<std::string_view> needed;
};

Names names_of(const link_map& object) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  Names names;
  names.file = object.l_name;
  names.file.remove_prefix(names.file.rfind('/') + 1);
  // The kernel's own object keeps an offset there, and needs nothing.
  if (strings < reinterpret_cast<const char*>(object.l_addr)) return names;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SONAME) names.own = strings + entry->d_un.d_val;
    if (entry->d_tag == DT_NEEDED) names.needed.emplace_back(strings + entry->d_un.d_val);
  }
  return names;
}

/// The object that has this code.
Dl_info this_library() {
  Dl_info library{};
  (void)dladdr(reinterpret_cast<const void*>(&this_library), &library);
  return library;
}

/// Whether the library came with the program, in place of being opened by dlopen() when it already ran: it is
/// needed by the program, or by what that needs, and so on.
bool came_with_program(const void* library) {
  std::vector<std::pair<const link_map*, Names>> objects;
  for (const link_map* object = _r_debug.r_map; object; object = object->l_next)
    objects.emplace_back(object, names_of(*object));
  std::vector<std::string_view> wanted = objects.front().second.needed;  // the program is the first
  for (std::size_t i = 0; i < wanted.size(); i++) {
    // By its file, too: a symbolic link's name is wanted of a library that bears another.
    const auto found = std::ranges::find_if(objects, [&](const auto& object) {
      return object.second.own == wanted[i] || object.second.file == wanted[i];
    });
    if (found == objects.end()) continue;
    if (reinterpret_cast<const void*>(found->first->l_addr) == library) return true;
    for (const std::string_view name : found->second.needed)
      if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  }
  return false;
}

/// Whether the same program would run in the same way from exec().
bool can_start_over() {
  const bool by_explicit_loader = getauxval(AT_BASE) == 0;
  const bool by_valgrind = variable(preload).find("vgpreload") != std::string_view::npos;
  const bool sanitized = dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init");
  return !by_explicit_loader && !by_valgrind && !sanitized && getauxval(AT_SECURE) == 0;
}

std::string path_of(const char* link) {
  char path[4096];
  const ssize_t length = readlink(link, path, sizeof path);
  return length > 0 && length < static_cast<ssize_t>(sizeof path)
             ? std::string(path, static_cast<std::size_t>(length))
             : std::string();
}

/// The program's file, even if another was moved over its name: then by a name as long as its own, for the
/// length moves what lies on the stack.
std::string path_of_program() {
  constexpr std::string_view link = "/proc/self/exe", folder = "/proc/self", deleted = " (deleted)";
  std::string path = path_of(link.data());
  if (!path.ends_with(deleted)) return path;
  const std::size_t size = path.size() - deleted.size();
  if (size < link.size()) return std::string(link);
  return std::string(folder) + std::string(size - link.size() + 1, '/') + "exe";
}

}  // namespace

void start_over_behind_libc(char** arguments) {
  if (const char* before = std::getenv(started_over)) return restore_environment(before);
  if (!is_recorded_rank() || replaces_libc() || !can_start_over()) return;
  const Dl_info self = this_library();
  if (!came_with_program(self.dli_fbase)) return;
  const std::string program = path_of_program();
  // A space or a colon would end the name in LD_PRELOAD.
  const std::string library = self.dli_fname;
  if (program.empty() || library.find_first_of(" :") != std::string::npos) return;
  const std::string before(variable(preload));
  const bool was_set = std::getenv(preload) != nullptr;
  setenv(preload, (before.empty() ? library : library + ":" + before).c_str(), 1);
  setenv(started_over, was_set ? ("=" + before).c_str() : "", 1);
  execv(program.c_str(), arguments);
  unsetenv(started_over);
  was_set ? setenv(preload, before.c_str(), 1) : unsetenv(preload);
}

}  // namespace llamada::mpi::interpose

namespace {

// glibc hands a library's constructors what it hands main().
[[gnu::constructor]] void before_main(int /*count*/, char** arguments, char** /*environment*/) {
  namespace interpose = llamada::mpi::interpose;
  interpose::start_over_behind_libc(arguments);
  // In a thread whose stack may be small, and behind main()'s beginning, where it is opened by dlopen().
  if (interpose::is_recorded_rank() && interpose::replaces_libc()) interpose::begin_standard_input();
  if (interpose::is_recorded_rank() && interpose::came_with_program(interpose::this_library().dli_fbase))
    interpose::clear_what_is_left_for_main();
}

}  // namespace
