#include "exactk/error.hpp"

#include <sstream>
#include <utility>

namespace exactk {
namespace {

std::string message(const Fault& fault) {
  std::string text = fault.argument + ": expected " + fault.expected + ", found " + fault.found;
  if (fault.row >= 0) text += " at row " + std::to_string(fault.row);
  if (fault.position >= 0) {
    text += (fault.row >= 0 ? ", position " : " at position ") + std::to_string(fault.position);
  }
  if (fault.count > 1) text += " (the first of " + std::to_string(fault.count) + ")";
  if (!fault.hint.empty()) text += "; " + fault.hint;
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
