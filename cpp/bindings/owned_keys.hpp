// What holds the keys that arrays of numbers speak of.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "metrik/error.hpp"
#include "metrik/keys.hpp"

namespace metrik::bindings {

using Numbers = py::array_t<KeyNumber>;

class OwnedKeys {
 public:
  explicit OwnedKeys(bool integers) : keys_(std::make_shared<Keys>(integers)) {}
  explicit OwnedKeys(std::shared_ptr<Keys> keys) : keys_(std::move(keys)) {}

  [[nodiscard]] const Keys& keys() const noexcept { return *keys_; }

  // Whoever goes on after these keys counts on their number.
  [[nodiscard]] OwnedKeys extended() {
    shared_ = true;
    return OwnedKeys(std::make_shared<Keys>(std::shared_ptr<const Keys>(keys_)));
  }

  [[nodiscard]] Keys& to_extend() {
    if (!shared_) return *keys_;
    throw InputError({.argument = "keys",
                      .expected = "those that nobody has gone on from",
                      .found = "others: extended() makes some"});
  }

 private:
  std::shared_ptr<Keys> keys_;
  bool shared_ = false;
};

// Signals are handled meanwhile; the GIL is kept, for the keys belong to one caller at a time.
[[nodiscard]] inline Effort attentive() { return {.threads = 1, .poll = &poll_signals}; }

[[nodiscard]] inline std::span<KeyNumber> writable(Numbers& numbers) {
  return {numbers.mutable_data(), static_cast<std::size_t>(numbers.size())};
}

[[nodiscard]] inline Numbers as_array(const std::vector<KeyNumber>& numbers) {
  return Numbers(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

}  // namespace metrik::bindings

namespace pybind11::detail {

template <>
struct type_caster<metrik::bindings::OwnedKeys> : ConstructedCaster<metrik::bindings::OwnedKeys> {};

}  // namespace pybind11::detail
