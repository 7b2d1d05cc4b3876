// Errors about inputs. Each names the argument, what was expected, what was found, how often and
// where first. Python raises exactk.InputError with the same attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace exactk {

// A choice of a convention field that would accept the input.
struct Change {
  std::string field;
  std::string choice;
  bool is_keyword = false;  // whether the field is also a keyword of the call, as in topk
};

struct Fault {
  std::string argument = {};
  std::string expected = {};
  std::string found = {};
  std::int64_t item = -1;  // id of the offending item; -1: none
  std::int64_t count = 1;
  std::int64_t row = -1;       // -1: not applicable
  std::int64_t position = -1;  // within the row, or within a flat array if there are no rows
  std::optional<Change> change = {};
  std::string hint = {};  // what to write, or what the change does
};

// Formats a number for an error message.
[[nodiscard]] std::string format_number(double number);

// Base class of all errors of the core.
class Error : public std::runtime_error {
 public:
  explicit Error(Fault fault);
  [[nodiscard]] const Fault& fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

// An input is invalid.
class InputError : public Error {
 public:
  using Error::Error;
};

// A request needs more memory than is available.
class CapacityError : public Error {
 public:
  using Error::Error;
};

}  // namespace exactk
