// Secrets of the process that key its hashes, so that nobody can craft keys that collide. No result
// depends on them.
#pragma once

#include <cstdint>

namespace exactk {

struct Secrets {
  std::uint64_t first;  // both are odd
  std::uint64_t second;
};

[[nodiscard]] Secrets draw_secrets();

// Drawn at random once per process.
[[nodiscard]] inline const Secrets& process_secrets() {
  static const Secrets secrets = draw_secrets();
  return secrets;
}

}  // namespace exactk
