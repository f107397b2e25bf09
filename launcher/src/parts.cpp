#include "parts.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "installation.hpp"
#include "llamada/launcher/exit_codes.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

/// A list with its length before it.
void append(std::vector<std::string>& to, const std::vector<std::string>& list) {
  to.push_back(std::to_string(list.size()));
  to.insert(to.end(), list.begin(), list.end());
}

/// Reads what append() wrote. The arguments come from command_for_parts; whatever else they are ends the
/// process.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}

  bool at_end() const { return at_ == words_.size(); }
  const std::string& next() {
    if (at_end()) std::abort();
    return words_[at_++];
  }
  std::size_t number() { return std::strtoul(next().c_str(), nullptr, 10); }
  std::vector<std::string> list() {
    std::vector<std::string> result(number());
    for (std::string& word : result) word = next();
    return result;
  }

 private:
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

int failed(const std::string& what, int exit_code) {
  std::fprintf(stderr, "mpirun: %s: %s\n", what.c_str(), std::strerror(errno));
  return exit_code;
}

int execute(const std::string& program, std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  return failed("cannot execute " + program, exit_not_executable);
}

}  // namespace

Result<PartsCommand> command_for_parts(const std::vector<Part>& parts, const std::string& path) {
  PartsCommand whole;
  std::vector<std::string>& arguments = whole.arguments;
  arguments = {"mpirun", become_part_word};
  for (const Part& part : parts) {
    auto directory = directory_for_ranks(part.working_directory);
    if (!directory) return propagate(directory);
    auto found = find_program(part.command[0], path, *directory);
    if (!found) return propagate(found);
    std::string program = found->string();
    whole.programs.push_back(program);
    std::vector<std::string> command = part.command;
    through_shell_if_needed(program, command);
    arguments.push_back(std::to_string(part.rank_count));
    arguments.push_back(directory->string());
    arguments.push_back(program);
    std::vector<std::string> variables;
    for (const Variable& variable : part.variables)
      variables.insert(variables.end(), {variable.name, variable.value});
    append(arguments, variables);
    append(arguments, command);
  }
  return whole;
}

int become_part(const std::vector<std::string>& arguments) {
  const char* text = std::getenv("LLAMADA_RANK");
  std::size_t rank = text ? std::strtoul(text, nullptr, 10) : 0;
  Words words(arguments);
  for (int number = 0; !words.at_end(); ++number) {
    const std::size_t rank_count = words.number();
    const std::string directory = words.next(), program = words.next();
    const std::vector<std::string> variables = words.list();
    std::vector<std::string> command = words.list();
    if (rank >= rank_count) {
      rank -= rank_count;
      continue;
    }
    for (std::size_t index = 0; index + 1 < variables.size(); index += 2)
      setenv(variables[index].c_str(), variables[index + 1].c_str(), 1);
    setenv("LLAMADA_APPNUM", std::to_string(number).c_str(), 1);
    if (chdir(directory.c_str()) != 0) return failed("cannot enter " + directory, exit_launcher);
    return execute(program, std::move(command));
  }
  std::fprintf(stderr, "mpirun: no program of the command line is for rank %s\n", text ? text : "?");
  return exit_launcher;
}

}  // namespace llamada::launcher
