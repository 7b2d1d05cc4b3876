// A column of an Arrow table.
#pragma once

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "arrow_interface.hpp"
#include "owned_vocabulary.hpp"

namespace exactk::bindings {

using Schema = std::shared_ptr<const OwnedStruct<ArrowSchema>>;
using Batch = std::shared_ptr<const OwnedStruct<ArrowArray>>;

// The rows of a column in one batch.
struct Piece {
  Batch batch;  // keeps the buffers alive
  const ArrowArray* array = nullptr;
  std::int64_t offset = 0;  // of the first row in the buffers
  std::int64_t length = 0;

  template <class T>
  [[nodiscard]] const T* buffer(std::int64_t index) const {
    if (index >= array->n_buffers) return nullptr;
    const void* const start = array->buffers[index];
    if (reinterpret_cast<std::uintptr_t>(start) % alignof(T) != 0)
      refuse_arrow("buffer", "an address aligned for its type", "an unaligned address");
    return static_cast<const T*>(start);
  }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(length); }
};

// A column of a table, in pieces.
class ArrowColumn {
 public:
  ArrowColumn(Schema owner, const ArrowSchema* schema, std::vector<Piece> pieces)
      : owner_(std::move(owner)), schema_(schema), pieces_(std::move(pieces)) {}

  [[nodiscard]] std::string type() const { return type_of(schema_->format); }
  [[nodiscard]] bool is_dictionary() const { return schema_->dictionary != nullptr; }
  [[nodiscard]] Count length() const {
    Count rows = 0;
    for (const Piece& piece : pieces_) rows += piece.length;
    return rows;
  }
  // Returns the number of null rows and the first of them; -1 if there is none.
  [[nodiscard]] std::pair<Count, Count> nulls() const;
  [[nodiscard]] std::vector<py::array> values(const std::string& argument) const;
  [[nodiscard]] Codes encode_strings(OwnedVocabulary& owned, int threads,
                                     const std::string& argument) const;
  [[nodiscard]] std::vector<ArrowColumn> dictionaries() const;
  [[nodiscard]] std::pair<py::array_t<Offset>, ArrowColumn> lists(
      const std::string& argument) const;

 private:
  void encode_piece(const Piece& piece, Vocabulary& vocabulary, std::span<Code> codes, int threads,
                    const std::string& argument) const;

  Schema owner_;
  const ArrowSchema* schema_;
  std::vector<Piece> pieces_;
};
template <>
inline constexpr bool kIsBound<ArrowColumn> = true;

// Returns the number of null rows and the first of them; -1 if there is none.
[[nodiscard]] std::pair<Count, Count> count_nulls(const Piece& piece);

}  // namespace exactk::bindings
