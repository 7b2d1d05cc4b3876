// Owners of the arrays that the core reads.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/embeddings.hpp"
#include "exactk/scores.hpp"

namespace exactk::bindings {

[[nodiscard]] inline ItemArray item_view(const py::array& items, const std::string& argument) {
  if (py::isinstance<py::array_t<std::int32_t>>(items)) return view<std::int32_t>(items, argument);
  if (py::isinstance<py::array_t<std::uint32_t>>(items))
    return view<std::uint32_t>(items, argument);
  if (py::isinstance<py::array_t<std::uint64_t>>(items))
    return view<std::uint64_t>(items, argument);
  return view<std::int64_t>(items, argument);
}

// Checks the size, because an empty span means a missing array to the core.
inline void check_size(const std::optional<py::array>& array, Count size,
                       const std::string& argument) {
  if (!array || array->size() == size) return;
  throw InputError({.argument = argument,
                    .expected = "one entry per row (" + std::to_string(size) + ")",
                    .found = std::to_string(array->size())});
}

[[nodiscard]] inline std::vector<std::uint8_t> copy_flags(const std::optional<py::array>& flags,
                                                          const std::string& argument) {
  const auto bytes = view<bool>(flags, argument);
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

// Holds the arrays that `lists` refers to: items as they are, and copies of arrays used as an
// index.
class OwnedLists {
 public:
  OwnedLists(py::array items, const py::array& indptr, const std::optional<py::array>& lengths,
             const std::optional<py::array>& present, const std::string& argument)
      : OwnedLists(std::move(items), indptr, lengths, present, std::nullopt, argument) {}
  OwnedLists(py::array items, const py::array& indptr, const std::optional<py::array>& lengths,
             const std::optional<py::array>& present, const std::optional<py::array>& ranks,
             const std::string& argument)
      : items_(std::move(items)),
        indptr_(snapshot<Offset>(indptr, argument + ".indptr")),
        lengths_(snapshot<Offset>(lengths, argument + ".lengths")),
        present_(copy_flags(present, argument + ".present")),
        ranks_(snapshot<Count>(ranks, argument + ".ranks")),
        lists_{.items = item_view(items_, argument + ".items"),
               .indptr = indptr_,
               .lengths = lengths_,
               .present = present_,
               .ranks = ranks_} {
    if (indptr_.empty()) {
      throw InputError({.argument = argument,
                        .expected = "indptr with one more offset than rows",
                        .found = "none"});
    }
    check_size(lengths, lists_.row_count(), argument + ".lengths");
    check_size(present, lists_.row_count(), argument + ".present");
  }
  OwnedLists(const OwnedLists&) = delete;  // lists_ points into the other members
  OwnedLists& operator=(const OwnedLists&) = delete;

  [[nodiscard]] const Lists& lists() const noexcept { return lists_; }

 private:
  py::array items_;
  std::vector<Offset> indptr_;
  std::vector<Offset> lengths_;
  std::vector<std::uint8_t> present_;
  std::vector<Count> ranks_;
  Lists lists_;
};
template <>
inline constexpr bool kIsBound<OwnedLists> = true;

// Returns how scores of the array's type are compared.
[[nodiscard]] inline ScoreType score_type(const py::array& scores, const std::string& argument) {
  struct NumberType {
    py::ssize_t size;
    char kind;
    ScoreType type;
  };
  constexpr NumberType kTypes[] = {
      {2, 'f', ScoreType::float16}, {4, 'f', ScoreType::float32}, {8, 'f', ScoreType::float64},
      {1, 'i', ScoreType::int8},    {2, 'i', ScoreType::int16},   {4, 'i', ScoreType::int32},
      {8, 'i', ScoreType::int64},   {1, 'u', ScoreType::uint8},   {2, 'u', ScoreType::uint16},
      {4, 'u', ScoreType::uint32},  {8, 'u', ScoreType::uint64}};
  const py::dtype dtype = scores.dtype();
  const bool is_native = dtype.byteorder() == '=' || dtype.byteorder() == '|';
  for (const auto& [size, kind, type] : kTypes) {
    if (is_native && kind == dtype.kind() && size == dtype.itemsize()) return type;
  }
  throw TypeFault({.argument = argument,
                   .expected = "scores of float16, float32, float64 or an integer type",
                   .found = std::string(py::str(dtype))});
}

inline void check_dimensions(const py::array& array, py::ssize_t dimensions,
                             const std::string& argument) {
  if (array.ndim() == dimensions) return;
  throw TypeFault(
      {.argument = argument,
       .expected = "an array of scores of " + std::to_string(dimensions) + " dimension(s)",
       .found = std::to_string(array.ndim())});
}

// Returns the Python object of lists that came from Python, or None. Objects that refer to the
// lists hold it; py::keep_alive would end the process if memory runs out.
[[nodiscard]] inline py::object object_of(std::optional<const OwnedLists*> lists) {
  return lists ? py::cast(*lists, py::return_value_policy::reference) : py::none();
}

// Holds the arrays that `matrix` refers to.
class OwnedScores {
 public:
  OwnedScores(py::array scores, std::optional<double> min_score,
              std::optional<const OwnedLists*> candidates, const std::string& argument)
      : OwnedScores(std::move(scores), min_score, candidates, std::nullopt, std::nullopt,
                    argument) {}
  OwnedScores(py::array scores, std::optional<double> min_score,
              std::optional<const OwnedLists*> candidates,
              const std::optional<py::array>& user_rows, const std::optional<py::array>& tie_ids,
              const std::string& argument)
      : scores_(std::move(scores)),
        candidates_(object_of(candidates)),
        user_rows_(snapshot<Offset>(user_rows, argument + ".user_rows")),
        tie_ids_(snapshot<std::int64_t>(tie_ids, argument + ".tie_ids")) {
    check_dimensions(scores_, 2, argument);
    if (tie_ids) check_size(tie_ids, scores_.shape(1), argument + ".tie_ids");
    matrix_ = {.scores = static_cast<const std::byte*>(scores_.data()),
               .type = score_type(scores_, argument),
               .rows = scores_.shape(0),
               .items = scores_.shape(1),
               .row_stride = scores_.strides(0),
               .item_stride = scores_.strides(1),
               .min_score = min_score,
               .tie_ids = tie_ids_};
    if (user_rows) matrix_.user_rows = user_rows_;
    validate_scores(matrix_, argument);
    if (candidates) matrix_.candidates = (*candidates)->lists();
  }
  OwnedScores(const OwnedScores&) = delete;
  OwnedScores& operator=(const OwnedScores&) = delete;

  [[nodiscard]] const ScoreMatrix& matrix() const noexcept { return matrix_; }

 private:
  py::array scores_;
  py::object candidates_;
  std::vector<Offset> user_rows_;
  std::vector<std::int64_t> tie_ids_;
  ScoreMatrix matrix_;
};
template <>
inline constexpr bool kIsBound<OwnedScores> = true;

// Holds the arrays that `sparse_scores` refers to.
class OwnedSparseScores {
 public:
  OwnedSparseScores(const OwnedLists& items, py::array scores, std::optional<double> min_score,
                    const std::string& argument)
      : items_(object_of(&items)), scores_(std::move(scores)) {
    check_dimensions(scores_, 1, argument + ".scores");
    sparse_scores_ = {.items = items.lists(),
                      .scores = static_cast<const std::byte*>(scores_.data()),
                      .type = score_type(scores_, argument + ".scores"),
                      .size = scores_.size(),
                      .stride = scores_.strides(0),
                      .min_score = min_score};
    const auto size =
        std::visit([](const auto& ids) { return std::ssize(ids); }, sparse_scores_.items.items);
    if (sparse_scores_.size != size) {
      throw InputError({.argument = argument + ".scores",
                        .expected = "one score per item (" + std::to_string(size) + ")",
                        .found = std::to_string(sparse_scores_.size)});
    }
  }
  OwnedSparseScores(const OwnedSparseScores&) = delete;
  OwnedSparseScores& operator=(const OwnedSparseScores&) = delete;

  [[nodiscard]] const SparseScores& sparse_scores() const noexcept { return sparse_scores_; }

 private:
  py::object items_;
  py::array scores_;
  SparseScores sparse_scores_;
};
template <>
inline constexpr bool kIsBound<OwnedSparseScores> = true;

// Returns rows of contiguous numbers: a two-dimensional array, or a one-dimensional one as a
// column.
[[nodiscard]] inline Vectors vectors_of(const py::array& array, py::ssize_t dimensions,
                                        const std::string& argument) {
  check_dimensions(array, dimensions, argument);
  const bool is_contiguous = dimensions == 1 || array.strides(1) == array.itemsize() ||
                             array.shape(1) <= 1 || array.shape(0) == 0;
  if (!is_contiguous) {
    throw TypeFault({.argument = argument,
                     .expected = "contiguous rows of numbers",
                     .found = "strides of " + std::to_string(array.strides(1)) + " bytes"});
  }
  return {.argument = argument,
          .numbers = static_cast<const std::byte*>(array.data()),
          .type = score_type(array, argument),
          .rows = array.shape(0),
          .row_stride = array.strides(0)};
}

// Holds the arrays that `embeddings` refers to.
class OwnedEmbeddings {
 public:
  OwnedEmbeddings(py::array users, py::array items, std::optional<py::array> item_bias,
                  const std::string& similarity, bool float32_scores,
                  std::optional<double> min_score, std::optional<const OwnedLists*> candidates,
                  const std::optional<py::array>& present, const std::string& users_argument,
                  const std::string& items_argument)
      : users_(std::move(users)),
        items_(std::move(items)),
        item_bias_(std::move(item_bias)),
        candidates_(object_of(candidates)),
        present_(copy_flags(present, users_argument + ".present")) {
    embeddings_ = {.users = vectors_of(users_, 2, users_argument),
                   .items = vectors_of(items_, 2, items_argument),
                   .width = items_.shape(1),
                   .similarity = similarity_of(similarity),
                   .float32_scores = float32_scores,
                   .min_score = min_score,
                   .present = present_};
    check_size(present, embeddings_.users.rows, users_argument + ".present");
    if (users_.shape(1) != items_.shape(1)) {
      throw InputError({.argument = items_argument,
                        .expected = "vectors of the same length as the users' (" +
                                    std::to_string(users_.shape(1)) + ")",
                        .found = std::to_string(items_.shape(1))});
    }
    if (item_bias_) {
      embeddings_.item_bias = vectors_of(*item_bias_, 1, "embeddings.item_bias");
    }
    validate_embeddings(embeddings_);
    if (candidates) embeddings_.candidates = (*candidates)->lists();
  }
  OwnedEmbeddings(const OwnedEmbeddings&) = delete;
  OwnedEmbeddings& operator=(const OwnedEmbeddings&) = delete;

  [[nodiscard]] const Embeddings& embeddings() const noexcept { return embeddings_; }

 private:
  static Similarity similarity_of(const std::string& name) {
    if (name == "dot") return Similarity::dot;
    if (name == "cosine") return Similarity::cosine;
    if (name == "euclidean") return Similarity::euclidean;
    throw InputError({.argument = "similarity",
                      .expected = "one of dot, cosine, euclidean",
                      .found = "'" + name + "'"});
  }

  py::array users_;
  py::array items_;
  std::optional<py::array> item_bias_;
  py::object candidates_;
  std::vector<std::uint8_t> present_;
  Embeddings embeddings_;
};
template <>
inline constexpr bool kIsBound<OwnedEmbeddings> = true;

}  // namespace exactk::bindings
