#include "compare/user_columns.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "compare/validate.hpp"

namespace exactk {

void UserColumns::read(const PairedJob& job, std::size_t system, std::size_t value,
                       const Chunk& chunk, const double* weights, const Mask& weighty) {
  const PairedValue& planned = job.request.values[value];
  const std::size_t rows = planned.rows.size();
  shown_ = nullptr;
  const auto check = [&](const double* numbers, const NumberRange& range) {
    const bool is_faultless =
        job.kernels.columns.are_within(numbers, chunk.size, range.low, range.high);
    if (!is_faultless) throw FaultyNumber{};
  };
  present_ = weighty;
  for (std::size_t i = 0; i < rows; ++i) {
    columns_[i] = read_row(job, job.row(system, planned.rows[i]), chunk, gathered_[i]);
    check(columns_[i], allowed_numbers(planned));
    if (planned.rows[i] == planned.shown) shown_ = columns_[i];
    Mask numbers{};
    job.kernels.columns.find_numbers(columns_[i], chunk.size, numbers.data());
    present_ = present_ & numbers;
  }
  present_count_ = count_bits(present_);
  telling_ = present_;
  telling_count_ = present_count_;
  if (planned.is_ratio) {
    telling_ = present_ & mask_of(chunk.size, job.kernels, [&](std::size_t user) {
                 return std::max(std::abs(columns_[0][user]), std::abs(columns_[1][user])) > 0;
               });
    telling_count_ = count_bits(telling_);
  }
  users_of_set_ = weights == nullptr ? present_ : telling_;
  if (planned.shown >= 0 && shown_ == nullptr) {
    shown_ = read_row(job, job.row(system, planned.shown), chunk, gathered_.back());
    check(shown_, allowed_shown_numbers());
  }
  if (job.has_clusters()) return;
  if (planned.is_geometric || weights != nullptr) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < chunk.size; ++i) {
        terms_[row][i] = term_of(columns_[row][i], weights, i, planned.is_geometric);
      }
      columns_[row] = terms_[row].data();
    }
  }
  columns_[rows] = weights;
  assign(set_, job, value, chunk, users_of_set_);
}

void UserColumns::assign(ColumnSet& set, const PairedJob& job, std::size_t value,
                         const Chunk& chunk, const Mask& present) const {
  const ColumnLayout& layout = job.layouts[value];
  set.assign(std::span(columns_).first(layout.system_columns()), present, chunk.size,
             layout.resolution, job.kernels);
}

}  // namespace exactk
