// A user's row of scores, computed from vectors on demand. Scored items are addressed by position;
// their ids may differ from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.hpp"
#include "exactk/embeddings.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/similarities.hpp"

namespace exactk {

class EmbeddingRow {
 public:
  using Score = double;
  static constexpr bool kMayBeNan = false;

  EmbeddingRow(const Embeddings& source, const Kernels& kernels, const Run& run)
      : run_(run),
        source_(source),
        similarities_(source, kernels),
        candidate_items_(source.candidates ? &*source.candidates : nullptr),
        size_(candidate_items_ != nullptr ? 0 : static_cast<std::size_t>(source.items.rows)) {}

  [[nodiscard]] const Run& run() const noexcept { return run_; }

  void select_user(Count user) {
    const bool is_present = source_.has(user);
    similarities_.read_user(user, user_vector_);
    has_scores_ = false;
    if (candidate_items_ == nullptr) {
      size_ = is_present ? static_cast<std::size_t>(source_.items.rows) : 0;
      return;
    }
    const Count row = candidate_items_->row_count() == 1 ? 0 : user;
    ids_ = is_present ? int64_row_items(*candidate_items_, row) : std::span<const std::int64_t>{};
    size_ = ids_.size();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // The most scores that one read returns.
  [[nodiscard]] std::size_t chunk_size() const noexcept { return similarities_.chunk_size(); }
  // Returns scores at consecutive positions, valid until the next call. A short row is computed
  // once, because callers may read it many times.
  [[nodiscard]] const double* read_chunk(std::size_t begin, std::size_t size) {
    const bool is_short = size_ <= chunk_size();
    if (is_short && has_scores_) return scores_.data() + begin;
    has_scores_ = is_short;
    const std::size_t first = is_short ? 0 : begin;
    scores_.resize(std::max(scores_.size(), is_short ? size_ : size));
    const auto target = std::span(scores_).first(is_short ? size_ : size);
    if (candidate_items_ == nullptr) {
      similarities_.score(user_vector_, static_cast<Count>(first), target);
    } else {
      similarities_.score(user_vector_, ids_.subspan(first, target.size()), target);
    }
    return scores_.data() + (begin - first);
  }
  [[nodiscard]] double key_at(std::size_t position) {
    double score = 0;
    const std::int64_t item = offset_of(position);
    similarities_.score(user_vector_, {&item, 1}, {&score, 1});
    return score;
  }

  [[nodiscard]] bool has_ids() const noexcept { return candidate_items_ != nullptr; }
  [[nodiscard]] std::span<const std::int64_t> ids() const noexcept { return ids_; }
  [[nodiscard]] static bool is_sparse() noexcept { return false; }
  [[nodiscard]] static bool ids_ascend() noexcept { return true; }
  [[nodiscard]] std::span<const std::int64_t> tie_ids() const noexcept { return ids_; }
  [[nodiscard]] Offset offset_of(std::size_t position) const noexcept {
    if (candidate_items_ == nullptr) return static_cast<Offset>(position);
    return read_item(ids_[position], source_);
  }
  [[nodiscard]] static double least_key(double min_score, bool& none) noexcept {
    none = false;
    return min_score;
  }

 private:
  const Run& run_;
  const Embeddings& source_;
  Similarities similarities_;
  const Lists* candidate_items_;  // the only items that may be ranked, or null
  std::size_t size_;
  UserVector user_vector_;
  std::span<const std::int64_t> ids_;  // by position: ids of the candidate items
  std::vector<double> scores_;
  bool has_scores_ = false;  // whether scores_ holds all of a short row
};

}  // namespace exactk
