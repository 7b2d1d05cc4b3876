// The owner of a vocabulary that arrays of codes refer to.
#pragma once

#include <pybind11/numpy.h>

#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "exactk/error.hpp"
#include "exactk/vocabulary.hpp"

namespace exactk::bindings {

using Codes = py::array_t<Code>;

class OwnedVocabulary {
 public:
  explicit OwnedVocabulary(bool of_integers)
      : vocabulary_(std::make_shared<Vocabulary>(of_integers)) {}
  explicit OwnedVocabulary(std::shared_ptr<Vocabulary> vocabulary)
      : vocabulary_(std::move(vocabulary)) {}

  [[nodiscard]] const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }

  // A vocabulary that continues after this one relies on its codes.
  [[nodiscard]] std::unique_ptr<OwnedVocabulary> fork() {
    is_base_ = true;
    return std::make_unique<OwnedVocabulary>(
        std::make_shared<Vocabulary>(std::shared_ptr<const Vocabulary>(vocabulary_)));
  }

  // Excludes other threads for as long as the vocabulary is extended, with the GIL released or not.
  class Extension {
   public:
    explicit Extension(OwnedVocabulary& owned) : owned_(owned) {
      if (!owned.is_busy_.exchange(true)) return;
      throw InputError({.argument = "keys",
                        .expected = "those that no other thread adds to",
                        .found = "others"});
    }
    ~Extension() { owned_.is_busy_ = false; }
    Extension(const Extension&) = delete;
    Extension& operator=(const Extension&) = delete;

   private:
    OwnedVocabulary& owned_;
  };

  [[nodiscard]] Vocabulary& extensible_vocabulary() {
    if (!is_base_) return *vocabulary_;
    throw InputError({.argument = "keys",
                      .expected = "those that no vocabulary continues",
                      .found = "others: fork() makes some"});
  }

 private:
  std::shared_ptr<Vocabulary> vocabulary_;
  bool is_base_ = false;
  std::atomic<bool> is_busy_ = false;
};

// Handles signals while the core works.
[[nodiscard]] inline Execution interruptible_execution(int threads = 1) {
  return {.threads = threads, .poll = &poll_signals};
}

[[nodiscard]] inline std::span<Code> writable_span(Codes& codes) {
  return {codes.mutable_data(), static_cast<std::size_t>(codes.size())};
}

[[nodiscard]] inline Codes code_array(const std::vector<Code>& codes) {
  return Codes(static_cast<py::ssize_t>(codes.size()), codes.data());
}

}  // namespace exactk::bindings

namespace pybind11::detail {

template <>
struct type_caster<exactk::bindings::OwnedVocabulary>
    : ConstructedCaster<exactk::bindings::OwnedVocabulary> {};

}  // namespace pybind11::detail
