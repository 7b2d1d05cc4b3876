// The owner of a vocabulary that arrays of codes refer to.
#pragma once

#include <pybind11/numpy.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "exactk/error.hpp"
#include "exactk/vocabulary.hpp"
#include "gil.hpp"

namespace exactk::bindings {

using Codes = py::array_t<Code>;

class VocabularyLock;

class OwnedVocabulary {
 public:
  explicit OwnedVocabulary(bool of_integers) : vocabulary_(of_integers) {}
  explicit OwnedVocabulary(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  [[nodiscard]] bool of_integers() const noexcept { return vocabulary_.of_integers(); }

 private:
  friend class VocabularyLock;

  Vocabulary vocabulary_;
  std::timed_mutex mutex_;                // guards the vocabulary
  std::atomic<std::thread::id> owner_{};  // of the mutex
};

// Excludes other threads while a vocabulary is read or extended, with or without the GIL. Waits
// without the GIL, because the other thread may need it.
class VocabularyLock {
 public:
  explicit VocabularyLock(OwnedVocabulary& owned) : owned_(owned) {
    if (owned_.owner_ == std::this_thread::get_id()) {  // a signal handler, or a finalizer
      throw InputError({.argument = "keys",
                        .expected = "no nested call that reads or adds keys",
                        .found = "a nested call"});
    }
    while (!try_lock()) poll_signals();
    owned_.owner_ = std::this_thread::get_id();
  }
  ~VocabularyLock() {
    owned_.owner_ = std::thread::id();
    owned_.mutex_.unlock();
  }
  VocabularyLock(const VocabularyLock&) = delete;
  VocabularyLock& operator=(const VocabularyLock&) = delete;

  [[nodiscard]] Vocabulary& vocabulary() const noexcept { return owned_.vocabulary_; }

 private:
  [[nodiscard]] bool try_lock() const {
    if (owned_.mutex_.try_lock()) return true;
    const GilRelease release;
    return owned_.mutex_.try_lock_for(std::chrono::milliseconds(20));
  }

  OwnedVocabulary& owned_;
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
