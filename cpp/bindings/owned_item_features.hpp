// Owner of the arrays of the features of items.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "exactk/items.hpp"
#include "owned.hpp"

namespace exactk::bindings {

// Holds copies of what the core indexes by, and the other arrays.
class OwnedItemFeatures {
 public:
  OwnedItemFeatures(Count width, const py::array& is_missing, std::optional<py::array> vectors,
                    const std::optional<py::array>& indptr, std::optional<py::array> columns,
                    std::optional<py::array> weights, const std::optional<py::array>& item_columns)
      : is_missing_(copy_flags(is_missing, "items.features.is_missing")),
        indptr_(snapshot<Offset>(indptr, "items.features.indptr")),
        item_columns_(snapshot<Offset>(item_columns, "items.features.item_columns")),
        vectors_(std::move(vectors)),
        columns_(std::move(columns)),
        weights_(std::move(weights)),
        features_{.width = width,
                  .is_missing = is_missing_,
                  .indptr = indptr_,
                  .columns = view<std::int64_t>(columns_, "items.features.columns"),
                  .weights = view<double>(weights_, "items.features.weights"),
                  .are_sets = !weights_,
                  .item_columns = item_columns_} {
    const bool is_one =
        vectors_.has_value() != indptr.has_value() && indptr.has_value() == columns_.has_value();
    if (!is_one) {
      throw TypeFault({.argument = kArgument,
                       .expected = "vectors, or offsets and columns",
                       .found = vectors_ ? "both" : "neither"});
    }
    if (vectors_ && py::isinstance<py::array_t<float>>(*vectors_)) {
      features_.vectors = view<float>(vectors_, "items.features.vectors");
    } else {
      features_.vectors = view<double>(vectors_, "items.features.vectors");
    }
  }
  OwnedItemFeatures(const OwnedItemFeatures&) = delete;  // features_ points into the other members
  OwnedItemFeatures& operator=(const OwnedItemFeatures&) = delete;

  [[nodiscard]] const ItemFeatures& features() const noexcept { return features_; }

 private:
  static constexpr const char* kArgument = "items.features";

  std::vector<std::uint8_t> is_missing_;
  std::vector<Offset> indptr_;
  std::vector<Offset> item_columns_;
  std::optional<py::array> vectors_;
  std::optional<py::array> columns_;
  std::optional<py::array> weights_;
  ItemFeatures features_;
};
template <>
inline constexpr bool kIsBound<OwnedItemFeatures> = true;

}  // namespace exactk::bindings
