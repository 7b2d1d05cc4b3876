// Every complaint about an input says which argument, what was expected, what came, how many times
// and where first. Python turns it into exactk.InputError with the same attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace exactk {

// A choice that a field of the convention may have instead.
struct Change {
  std::string field;
  std::string choice;
  bool is_keyword = false;  // whether the call takes the field itself, as topk does
};

struct Fault {
  std::string argument = {};
  std::string expected = {};
  std::string found = {};
  std::int64_t item = -1;  // the id of the item that was found; -1: none
  std::int64_t count = 1;
  std::int64_t row = -1;       // -1: does not apply
  std::int64_t position = -1;  // within the row, or within a flat array where there is no row
  std::optional<Change> change = {};
  std::string hint = {};  // what to write, or what the change does
};

// A number as a message shows it.
[[nodiscard]] std::string format_number(double number);

// Anything that the core complains about.
class Error : public std::runtime_error {
 public:
  explicit Error(Fault fault);
  [[nodiscard]] const Fault& fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

// An input is not what it must be.
class InputError : public Error {
 public:
  using Error::Error;
};

// What is asked for needs more memory than there is.
class CapacityError : public Error {
 public:
  using Error::Error;
};

}  // namespace exactk
