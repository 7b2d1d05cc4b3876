#include "compare/cluster_columns.hpp"

#include <algorithm>
#include <cmath>

#include "exactk/paired_sums.hpp"

namespace exactk {
namespace {

// Neither NaN nor, as another thread may write to the input, anything that sums cannot hold.
bool is_number(double number) { return std::abs(number) <= kMaxPairedNumber; }

void set_bit(std::span<std::uint64_t> words, std::size_t bit) {
  words[bit / kColumnStep] |= std::uint64_t{1} << bit % kColumnStep;
}

}  // namespace

void ClusterColumns::assign(const PairedJob& job, std::size_t one, std::size_t other,
                            std::size_t value, const UserBlock& block,
                            std::span<const Count> ends) {
  const PairedValue& planned = job.request.values[value];
  const ColumnLayout& layout = job.layouts[value];
  present_ = {};
  const auto users = static_cast<std::size_t>(block.end - block.begin);
  present_users_.assign(padded_size(users) / kColumnStep, 0);
  std::size_t cluster = 0;
  for_each_chunk(block, [&](const Chunk& chunk) {
    job.run.checkpoint();
    read(job, one, other, value, chunk);
    const auto first = static_cast<std::size_t>(chunk.begin - block.begin);
    for (std::size_t i = 0; i < chunk.users; ++i) {
      if (add_user(planned, i)) {
        set_bit(present_users_, first + i);
        set_bit(present_, cluster);
      }
      if (chunk.begin + static_cast<Count>(i) + 1 == ends[cluster]) {
        finish_cluster(cluster++, layout.system_columns());
      }
    }
  });
  std::array<const double*, kMaxRows + 1> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = totals_[i].data();
  set_.assign(std::span(columns).first(layout.system_columns()), present_, padded_size(ends.size()),
              layout.resolution, job.kernels);
}

void ClusterColumns::read(const PairedJob& job, std::size_t one, std::size_t other,
                          std::size_t value, const Chunk& chunk) {
  const std::vector<Offset>& rows = job.request.values[value].rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows_[i] = read_row(job, job.row(one, rows[i]), chunk, gathered_[i]);
    rows_[kMaxRows + i] = rows_[i];
    if (other == one) continue;
    rows_[kMaxRows + i] = read_row(job, job.row(other, rows[i]), chunk, gathered_[kMaxRows + i]);
  }
  weights_ = read_weights(job, chunk, gathered_weights_);
}

// Adds a user of the chunk to the sums of the cluster, unless a system lacks a row, the weight is 0
// or a ratio is 0/0 in both systems.
bool ClusterColumns::add_user(const PairedValue& value, std::size_t user) {
  const std::size_t rows = value.rows.size();
  bool is_telling = !value.is_ratio;
  for (std::size_t i = 0; i < rows; ++i) {
    const double one = rows_[i][user];
    const double other = rows_[kMaxRows + i][user];
    if (!is_number(one) || !is_number(other)) return false;
    is_telling = is_telling || one != 0 || other != 0;
  }
  if (!is_telling || !has_weight(weights_, user)) return false;
  for (std::size_t i = 0; i < rows; ++i) {
    sums_[i].add(term_of(rows_[i][user], weights_, user, value.is_geometric));
  }
  sums_[rows].add(weights_ == nullptr ? 1 : weights_[user]);
  return true;
}

void ClusterColumns::finish_cluster(std::size_t cluster, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    totals_[i][cluster] = sums_[i].total();
    sums_[i].clear();
  }
}

}  // namespace exactk
