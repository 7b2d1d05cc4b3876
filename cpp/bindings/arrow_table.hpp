// An Arrow stream, read to its end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrow_column.hpp"
#include "arrow_interface.hpp"
#include "bindings.hpp"

namespace exactk::bindings {

class ArrowTable {
 public:
  ArrowTable(const py::capsule& capsule, const std::string& argument);

  [[nodiscard]] std::vector<std::pair<std::string, ArrowColumn>> columns() const;

 private:
  bool read_batch(ArrowArrayStream& stream, const std::string& argument);
  [[nodiscard]] std::vector<Piece> pieces(bool is_struct, std::int64_t column) const;

  Schema schema_;
  std::vector<Batch> batches_;
  Count rows_ = 0;
};
template <>
inline constexpr bool kIsBound<ArrowTable> = true;

}  // namespace exactk::bindings
