// The owner of a vocabulary that arrays of codes refer to.
#pragma once

#include <pybind11/numpy.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "exactk/error.hpp"
#include "exactk/vocabulary.hpp"
#include "gil.hpp"

namespace exactk::bindings {

using Codes = py::array_t<Code>;

class VocabularyLock;

// How often this process and its ancestors were forked: a child has none of its parent's other
// threads, so that what they had locked stays locked in it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): counted by a handler of forks
inline std::atomic<std::uint64_t> fork_count = 0;

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
  std::atomic<std::uint64_t> forks_ = 0;  // when the mutex was last locked
};
template <>
inline constexpr bool kIsBound<OwnedVocabulary> = true;

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
    for (int tries = 1; !try_lock(); ++tries) {
      if (tries >= kTries && owned_.forks_ != fork_count) {
        throw InputError({.argument = "keys",
                          .expected = "keys that no thread was reading or adding to when this "
                                      "process was forked",
                          .found = "keys in use",
                          .hint = "make the object that has them in the child"});
      }
      poll_signals();
    }
    owned_.owner_ = std::this_thread::get_id();
    owned_.forks_ = fork_count.load();
  }
  ~VocabularyLock() {
    owned_.owner_ = std::thread::id();
    owned_.mutex_.unlock();
  }
  VocabularyLock(const VocabularyLock&) = delete;
  VocabularyLock& operator=(const VocabularyLock&) = delete;

  [[nodiscard]] Vocabulary& vocabulary() const noexcept { return owned_.vocabulary_; }

 private:
  static constexpr int kTries = 5;  // after which an owner of this process has counted the forks

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

}  // namespace exactk::bindings
