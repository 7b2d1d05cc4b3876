// A user's scores, made of vectors whenever they are asked for. What has a score is counted by its
// position; its id may be another number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checkpoint.hpp"
#include "exactk/embeddings.hpp"
#include "kernels/table.hpp"
#include "rank/embeddings/similarities.hpp"

namespace exactk {

class EmbeddingRow {
 public:
  using Score = double;
  static constexpr bool kMayBeNan = false;

  EmbeddingRow(const Embeddings& source, const Kernels& kernels)
      : source_(source),
        similarities_(source, kernels),
        restriction_(source.candidates ? &*source.candidates : nullptr),
        size_(restriction_ != nullptr ? 0 : static_cast<std::size_t>(source.items.rows)) {}

  void start(Count user, const Checkpoint&) {
    similarities_.read(user, user_);
    is_made_ = false;
    if (restriction_ == nullptr) return;
    items_ = row_of_int64(*restriction_, restriction_->rows() == 1 ? 0 : user);
    size_ = items_.size();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // So many scores at a time at most.
  [[nodiscard]] std::size_t piece_size() const noexcept { return similarities_.piece_size(); }
  // Scores at consecutive positions, valid until the next call. Those of a short row are made
  // once, as what is asked of it may take many readings.
  [[nodiscard]] const double* piece(std::size_t begin, std::size_t size) {
    const bool is_short = size_ <= piece_size();
    if (is_short && is_made_) return scores_.data() + begin;
    is_made_ = is_short;
    const std::size_t first = is_short ? 0 : begin;
    scores_.resize(std::max(scores_.size(), is_short ? size_ : size));
    const auto some = std::span(scores_).first(is_short ? size_ : size);
    if (restriction_ == nullptr) {
      similarities_.score(user_, static_cast<Count>(first), some);
    } else {
      similarities_.score(user_, items_.subspan(first, some.size()), some);
    }
    return scores_.data() + (begin - first);
  }
  [[nodiscard]] double at(std::size_t position) {
    double score = 0;
    const std::int64_t item = place(position);
    similarities_.score(user_, {&item, 1}, {&score, 1});
    return score;
  }

  [[nodiscard]] bool named() const noexcept { return restriction_ != nullptr; }
  [[nodiscard]] std::span<const std::int64_t> ids() const noexcept { return items_; }
  [[nodiscard]] static bool listed() noexcept { return false; }
  [[nodiscard]] static bool ascends() noexcept { return true; }
  [[nodiscard]] Offset place(std::size_t position) const noexcept {
    if (restriction_ == nullptr) return static_cast<Offset>(position);
    return item_of(items_[position], source_);
  }
  [[nodiscard]] static double least(double min_score, bool& none) noexcept {
    none = false;
    return min_score;
  }

 private:
  const Embeddings& source_;
  Similarities similarities_;
  const Lists* restriction_;  // to some items
  std::size_t size_;
  UserVector user_;
  std::span<const std::int64_t> items_;  // by position, if they are restricted
  std::vector<double> scores_;
  bool is_made_ = false;  // all of a short row
};

}  // namespace exactk
