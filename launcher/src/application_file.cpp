#include "application_file.hpp"

#include <optional>

#include "small_file.hpp"

namespace llamada::launcher {
namespace {

class WordReader {
 public:
  explicit WordReader(std::string text) : text_(std::move(text)) {}

  Result<std::vector<std::string>> read_all(const std::string& path) {
    for (; at_ < text_.size(); ++at_) take(text_[at_]);
    if (quote_ != 0)
      return failure(Errc::parse_error, "{}: the quotation mark that opens in line {} is never closed", path,
                     quote_line_);
    end_line();
    return std::move(words_);
  }

 private:
  void take(char character) {
    if (character == '\n') ++line_;
    if (quote_ != 0) {
      if (character == quote_)
        quote_ = 0;
      else
        add(character == '\\' && quote_ == '"' && at_ + 1 < text_.size() ? text_[++at_] : character);
    } else if (character == '\'' || character == '"') {
      quote_ = character;
      quote_line_ = line_;
      if (!word_) word_.emplace();
    } else if (character == '\\' && at_ + 1 < text_.size()) {
      if (text_[++at_] != '\n') add(text_[at_]);
    } else if (character == '#' && !word_) {
      while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    } else if (character == '\n') {
      end_line();
    } else if (character == ' ' || character == '\t' || character == '\r') {
      end_word();
    } else {
      add(character);
    }
  }

  void add(char character) {
    if (!word_) word_.emplace();
    *word_ += character;
  }

  void end_word() {
    if (!word_) return;
    if (line_begins_ && !words_.empty() && words_.back() != ":") words_.emplace_back(":");
    line_begins_ = false;
    words_.push_back(std::move(*word_));
    word_.reset();
  }

  void end_line() {
    end_word();
    line_begins_ = true;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  char quote_ = 0;
  std::size_t quote_line_ = 0;
  bool line_begins_ = true;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> read_application_file(const std::string& path) {
  auto text = read_small_file(path, "the file of programs");
  if (!text) return propagate(text);
  return WordReader(std::move(*text)).read_all(path);
}

}  // namespace llamada::launcher
