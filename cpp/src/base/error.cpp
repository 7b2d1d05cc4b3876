#include "exactk/error.hpp"

#include <sstream>
#include <utility>

namespace exactk {
namespace {

std::string location_of(const Fault& fault) {
  std::string text;
  if (fault.row >= 0) text += " at row " + std::to_string(fault.row);
  if (fault.position >= 0) {
    text += (fault.row >= 0 ? ", position " : " at position ") + std::to_string(fault.position);
  }
  return text;
}

std::string hint_of(const Fault& fault) {
  if (!fault.change) return fault.hint;
  const auto& [field, choice, is_keyword] = *fault.change;
  const std::string keyword =
      is_keyword ? field + "='" + choice + "'" : "convention={'" + field + "': '" + choice + "'}";
  return keyword + " " + fault.hint;
}

std::string message(const Fault& fault) {
  std::string text = fault.argument + ": expected " + fault.expected + ", found ";
  if (fault.item >= 0) text += "item " + std::to_string(fault.item) + " ";
  text += fault.found + location_of(fault);
  if (fault.count > 1) text += " (the first of " + std::to_string(fault.count) + ")";
  const std::string hint = hint_of(fault);
  if (!hint.empty()) text += "; " + hint;
  return text;
}

}  // namespace

std::string format_number(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

Error::Error(Fault fault) : std::runtime_error(message(fault)), fault_(std::move(fault)) {}

}  // namespace exactk
