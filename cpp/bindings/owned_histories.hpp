// Owner of the arrays of the histories.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "exactk/histories.hpp"

namespace exactk::bindings {

// Holds copies, because the core indexes by them. Calls share it, and have their own rows.
class OwnedHistories {
 public:
  OwnedHistories(const py::array& indptr, const py::array& items)
      : indptr_(snapshot<Offset>(indptr, "histories.indptr")),
        items_(snapshot<std::uint32_t>(items, "histories.items")) {}

  [[nodiscard]] Histories of_rows(const std::vector<Offset>& rows) const noexcept {
    return {.indptr = indptr_, .items = items_, .rows = rows};
  }

 private:
  std::vector<Offset> indptr_;
  std::vector<std::uint32_t> items_;
};
template <>
inline constexpr bool kIsBound<OwnedHistories> = true;

}  // namespace exactk::bindings
