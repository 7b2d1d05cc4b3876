// The columns of one system and value, for the users of a chunk.
#pragma once

#include <array>
#include <cstddef>
#include <exception>

#include "compare/chunk.hpp"
#include "compare/columns.hpp"
#include "compare/job.hpp"

namespace exactk {

// A number that is not allowed. It is looked for again, because others may come before it.
struct FaultyNumber : std::exception {};

class UserColumns {
 public:
  // Reads a chunk of users, with their weights or null; `weighty` are those whose weight is not 0.
  // Without clusters, users are the units, and the set has their columns. Throws FaultyNumber.
  void read(const PairedJob& job, std::size_t system, std::size_t value, const Chunk& chunk,
            const double* weights, const Mask& weighty);
  // Assigns the columns of some of the users.
  void assign(ColumnSet& set, const PairedJob& job, std::size_t value, const Chunk& chunk,
              const Mask& present) const;

  [[nodiscard]] const ColumnSet& set() const noexcept { return set_; }
  // Without weights also users with 0/0, who add 0, so that the users of all systems are the same.
  [[nodiscard]] const Mask& users_of_set() const noexcept { return users_of_set_; }
  [[nodiscard]] const Mask& present() const noexcept { return present_; }  // users with every row
  [[nodiscard]] Count present_count() const noexcept { return present_count_; }
  // Those of them of whom a ratio is not 0/0.
  [[nodiscard]] const Mask& telling() const noexcept { return telling_; }
  [[nodiscard]] Count telling_count() const noexcept { return telling_count_; }
  [[nodiscard]] const double* shown() const noexcept { return shown_; }  // null if none is

 private:
  std::array<Numbers, kMaxRows + 1> gathered_{};
  std::array<Numbers, kMaxRows> terms_{};
  std::array<const double*, kMaxRows + 1> columns_{};
  const double* shown_ = nullptr;
  Mask present_{};
  Count present_count_ = 0;
  Mask telling_{};
  Count telling_count_ = 0;
  Mask users_of_set_{};
  ColumnSet set_;
};

}  // namespace exactk
