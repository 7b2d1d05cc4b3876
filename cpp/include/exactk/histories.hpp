// What the users have in train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "exactk/types.hpp"

namespace exactk {

// The rows of train, and which of them is whose.
struct Histories {
  std::span<const Offset> indptr;        // of the rows of train
  std::span<const std::uint32_t> items;  // positions in the catalogue, ascending in each row
  std::span<const Offset> rows;          // the row of each user of the request; -1: none

  // Returns the items of the user in train.
  [[nodiscard]] std::span<const std::uint32_t> of_user(Count user) const noexcept {
    const Offset row = rows[static_cast<std::size_t>(user)];
    if (row < 0) return {};
    const Offset begin = indptr[static_cast<std::size_t>(row)];
    const Offset end = indptr[static_cast<std::size_t>(row) + 1];
    return items.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
};

}  // namespace exactk
