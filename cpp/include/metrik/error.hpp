// Every complaint about an input says which argument, what was expected, what came, how many times
// and where first. Python turns it into metrik.InputError with the same attributes.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace metrik {

struct Fault {
  std::string argument = {};
  std::string expected = {};
  std::string found = {};
  std::int64_t count = 1;
  std::int64_t row = -1;       // -1: does not apply
  std::int64_t position = -1;  // within the row, or within a flat array where there is no row
  std::string hint = {};       // the option that changes the behaviour, if there is one
};

// A number as a message shows it.
[[nodiscard]] std::string shown(double number);

class InputError : public std::invalid_argument {
 public:
  explicit InputError(Fault fault);
  [[nodiscard]] const Fault& fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

}  // namespace metrik
