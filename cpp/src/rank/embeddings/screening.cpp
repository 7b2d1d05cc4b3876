#include "rank/embeddings/screening.hpp"

#include <algorithm>

namespace exactk {
namespace {

// Beyond so deep a list the best are found sooner by reading the scores.
constexpr Count kDeepest = 16384;

}  // namespace

bool Screening::pays(const Embeddings& source, const ScreeningRequest& wanted) noexcept {
  if (wanted.nothing() || !Products::can_be(source)) return false;
  return wanted.depth <= kDeepest && wanted.depth <= source.items.rows / 4;
}

Count Screening::block_users(const Embeddings& source, const ScreeningRequest& wanted,
                             int threads) noexcept {
  const Count bytes = (wanted.depth > 0 ? Shortlists::bytes(wanted.depth) : 0) +
                      (wanted.truth != nullptr ? TruthRanks::bytes() : 0);
  const Count most = Products::most_users(source, bytes);
  const Count shared = source.users.rows / (4 * Count{threads}) + 1;
  return std::clamp<Count>(shared, std::min<Count>(16, most), most);
}

Screening::Screening(const Embeddings& source, const Norms& lengths, const ScreeningRequest& wanted,
                     const Kernels& kernels)
    : source_(source), wanted_(wanted), products_(source, lengths, kernels) {
  if (wanted.depth > 0) {
    shortlists_.emplace(source, wanted.depth, wanted.highest, products_, kernels);
  }
  if (wanted.truth != nullptr) standings_.emplace(source, products_, kernels);
}

void Screening::start(std::size_t index, const Checkpoint& checkpoint) {
  TileUser& user = products_.users()[index];
  if (shortlists_) shortlists_->start(index, user);
  if (!standings_ || user.left_out) return;
  user.left_out =
      !standings_->start(index, user, row_of_int64(*wanted_.truth, user.user), checkpoint);
}

void Screening::screen(std::span<const Count> users, const std::optional<Lists>& exclude,
                       const Checkpoint& checkpoint) {
  products_.start(users, exclude, checkpoint);
  for (std::size_t i = 0; i < users.size(); ++i) {
    start(i, checkpoint);
    checkpoint();
  }
  for (std::size_t begin = 0; begin < products_.size(); begin += products_.tile_items()) {
    products_.multiply(begin);
    for (std::size_t i = 0; i < users.size(); ++i) {
      TileUser& user = products_.users()[i];
      if (user.left_out) continue;
      const TileProducts tile = products_.of(i);
      if (shortlists_) user.left_out = !shortlists_->look_at(i, user, tile, checkpoint);
      if (standings_) standings_->look_at(i, user, tile, checkpoint);  // leaves not all of it
    }
    checkpoint();
  }
  for (std::size_t i = 0; i < users.size() && shortlists_; ++i) {
    if (!products_.users()[i].left_out) {
      shortlists_->finish(i, products_.users()[i], checkpoint);
    }
    checkpoint();
  }
}

std::optional<ScreeningResult> Screening::found_of(Count user) const {
  const std::span<const TileUser> known = products_.users();
  const auto place = std::ranges::find(known, user, &TileUser::user);
  if (place == known.end() || place->left_out) return std::nullopt;
  const auto index = static_cast<std::size_t>(place - known.begin());
  ScreeningResult found;
  if (shortlists_) {
    found.best = shortlists_->best(index);
    found.depth = shortlists_->depth();
    found.highest = shortlists_->highest();
    found.length = static_cast<Count>(found.best.size());
  }
  if (standings_) {
    found.standings = standings_->of(index);
    if (source_.min_score) found.length = standings_->length(index);
  }
  return found;
}

}  // namespace exactk
