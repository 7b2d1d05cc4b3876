// What holds the keys that arrays of numbers speak of.
#pragma once

#include <pybind11/numpy.h>

#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "exactk/error.hpp"
#include "exactk/keys.hpp"

namespace exactk::bindings {

using Numbers = py::array_t<KeyNumber>;

class OwnedKeys {
 public:
  explicit OwnedKeys(bool integers) : keys_(std::make_shared<Keys>(integers)) {}
  explicit OwnedKeys(std::shared_ptr<Keys> keys) : keys_(std::move(keys)) {}

  [[nodiscard]] const Keys& keys() const noexcept { return *keys_; }

  // Whoever goes on after these keys counts on their number.
  [[nodiscard]] std::unique_ptr<OwnedKeys> extended() {
    shared_ = true;
    return std::make_unique<OwnedKeys>(std::make_shared<Keys>(std::shared_ptr<const Keys>(keys_)));
  }

  // Whoever extends them may let go of the GIL meanwhile, and nobody else comes near them then.
  class Extension {
   public:
    explicit Extension(OwnedKeys& owned) : owned_(owned) {
      if (!owned.busy_.exchange(true)) return;
      throw InputError({.argument = "keys",
                        .expected = "those that no other thread adds to",
                        .found = "others"});
    }
    ~Extension() { owned_.busy_ = false; }
    Extension(const Extension&) = delete;
    Extension& operator=(const Extension&) = delete;

   private:
    OwnedKeys& owned_;
  };

  [[nodiscard]] Keys& to_extend() {
    if (!shared_) return *keys_;
    throw InputError({.argument = "keys",
                      .expected = "those that nobody has gone on from",
                      .found = "others: extended() makes some"});
  }

 private:
  std::shared_ptr<Keys> keys_;
  bool shared_ = false;
  std::atomic<bool> busy_ = false;
};

// Signals are handled meanwhile.
[[nodiscard]] inline Effort attentive(int threads = 1) {
  return {.threads = threads, .poll = &poll_signals};
}

[[nodiscard]] inline std::span<KeyNumber> writable(Numbers& numbers) {
  return {numbers.mutable_data(), static_cast<std::size_t>(numbers.size())};
}

[[nodiscard]] inline Numbers as_array(const std::vector<KeyNumber>& numbers) {
  return Numbers(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

}  // namespace exactk::bindings

namespace pybind11::detail {

template <>
struct type_caster<exactk::bindings::OwnedKeys> : ConstructedCaster<exactk::bindings::OwnedKeys> {};

}  // namespace pybind11::detail
