#pragma once

#include "dds/core/types.hpp"

namespace dds::core::detail {

/// The common part of Filter and Query: an expression (DDS 1.4, Annex B) and the values of %0, %1, ... in it.
class Expression {
 public:
  using iterator = StringSeq::iterator;
  using const_iterator = StringSeq::const_iterator;

  Expression(std::string expression, StringSeq parameters = {})  // NOLINT: a Filter is one implicitly
      : expression_(std::move(expression)), parameters_(std::move(parameters)) {}
  template <typename Iterator>
  Expression(std::string expression, const Iterator& begin, const Iterator& end)
      : Expression(std::move(expression), StringSeq(begin, end)) {}

  const std::string& expression() const { return expression_; }
  void expression(std::string expression) { expression_ = std::move(expression); }
  const StringSeq& parameters() const { return parameters_; }
  void parameters(StringSeq parameters) { parameters_ = std::move(parameters); }
  template <typename Iterator>
  void parameters(const Iterator& begin, const Iterator& end) {
    parameters_.assign(begin, end);
  }
  void add_parameter(std::string parameter) { parameters_.push_back(std::move(parameter)); }
  std::uint32_t parameters_length() const { return static_cast<std::uint32_t>(parameters_.size()); }

  // The parameters, in their order.
  iterator begin() { return parameters_.begin(); }
  iterator end() { return parameters_.end(); }
  const_iterator begin() const { return parameters_.begin(); }
  const_iterator end() const { return parameters_.end(); }

 private:
  std::string expression_;
  StringSeq parameters_;
};

}  // namespace dds::core::detail
