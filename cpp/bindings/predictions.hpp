// The predictions of any kind, as the core reads them, and the grades beside a truth.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "exactk/evaluate.hpp"
#include "owned.hpp"

namespace exactk::bindings {

using OwnedPredictions = std::variant<const OwnedLists*, const OwnedScores*,
                                      const OwnedSparseScores*, const OwnedEmbeddings*>;

[[nodiscard]] inline const Lists& view_of(const OwnedLists& lists) { return lists.lists(); }
[[nodiscard]] inline const ScoreMatrix& view_of(const OwnedScores& scores) {
  return scores.matrix();
}
[[nodiscard]] inline const SparseScores& view_of(const OwnedSparseScores& scores) {
  return scores.sparse_scores();
}
[[nodiscard]] inline const Embeddings& view_of(const OwnedEmbeddings& scores) {
  return scores.embeddings();
}
[[nodiscard]] inline Predictions view_of(const OwnedPredictions& predictions) {
  return std::visit([](const auto* owned) { return Predictions(view_of(*owned)); }, predictions);
}

inline void check_grades(const std::optional<py::array>& grades, const Lists& truth) {
  const auto items = std::visit([](const auto& ids) { return ids.size(); }, truth.items);
  if (!grades || std::cmp_equal(grades->size(), items)) return;
  throw InputError({.argument = "truth",
                    .expected = "one grade per item (" + std::to_string(items) + ")",
                    .found = std::to_string(grades->size())});
}

}  // namespace exactk::bindings
