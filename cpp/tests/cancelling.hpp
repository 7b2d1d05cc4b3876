// A helper of the tests: work that an exception of poll must end.
#pragma once

#include "common.hpp"

namespace exactk::tests {

inline constexpr const char* kCancelled = "cancelled";

[[noreturn]] inline void cancel() { throw std::runtime_error(kCancelled); }

// Runs work(1), work(2), work(4) … until its poll, `cancel`, ends it. A poll is due after a time
// and not after an amount of work, so no fixed size would do on every machine.
inline void check_cancelled(const std::function<void(std::size_t size)>& work) {
  std::string message;
  for (std::size_t size = 1; message.empty() && size <= 1024; size *= 2) {
    try {
      work(size);
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
  }
  CHECK(message == kCancelled);
}

}  // namespace exactk::tests
