#include "rank/embeddings/screening.hpp"

#include <algorithm>

namespace exactk {
namespace {

// Deeper lists are found faster by computing all scores.
constexpr Count kMaxDepth = 16384;

// Users that are multiplied together if their lists are long: an L2 cache holds their products and
// what is written to their lists.
constexpr std::size_t kGroupUsers = 128;

}  // namespace

bool Screening::is_worthwhile(const Embeddings& source, const ScreeningRequest& request) noexcept {
  if (request.is_empty() || !Products::can_multiply(source)) return false;
  return request.depth <= kMaxDepth && request.depth <= source.items.rows / 4;
}

Count Screening::block_users(const Embeddings& source, const ScreeningRequest& request,
                             int threads) noexcept {
  const Count bytes = (request.depth > 0 ? Shortlists::bytes_per_user(request.depth) : 0) +
                      (request.truth != nullptr ? TruthRanks::bytes_per_user() : 0);
  const Count most = Products::max_users(source, bytes);
  const Count share = source.users.rows / (4 * Count{threads}) + 1;
  return std::clamp<Count>(share, std::min<Count>(16, most), most);
}

Screening::Screening(const Embeddings& source, const Norms& norms, const ScreeningRequest& request,
                     const Kernels& kernels, const Run& run)
    : run_(run), source_(source), request_(request), products_(source, norms, kernels, run) {
  if (request.depth > 0) {
    shortlists_.emplace(source, request.depth, request.highest_first, products_, kernels);
  }
  if (request.truth != nullptr) truth_ranks_.emplace(source, products_, kernels, run);
}

void Screening::start_user(std::size_t index) {
  TileUser& user = products_.users()[index];
  if (shortlists_) shortlists_->start_list(index, user);
  if (!truth_ranks_ || user.is_unscreened) return;
  user.is_unscreened =
      !truth_ranks_->start_user(index, user, int64_row_items(*request_.truth, user.user));
}

// Adds a user's products with the tile.
void Screening::add_products(std::size_t index) {
  TileUser& user = products_.users()[index];
  if (user.is_unscreened) return;
  const TileProducts tile = products_.products_of_user(index);
  if (shortlists_) {
    constexpr std::size_t kUsersAhead = 4;
    shortlists_->prefetch_list(index + kUsersAhead);
    user.is_unscreened = !shortlists_->add_tile(index, user, tile);
  }
  if (truth_ranks_) truth_ranks_->add_tile(index, user, tile);  // takes products out
}

// Calls visitor(begin, size) for each group of users that are multiplied together.
void Screening::for_each_group(const auto& visitor) const {
  const std::size_t users = products_.users().size();
  const bool has_long_lists = shortlists_ && shortlists_->has_sample();
  const std::size_t group_users = has_long_lists ? kGroupUsers : users;
  for (std::size_t begin = 0; begin < users; begin += group_users) {
    visitor(begin, std::min(group_users, users - begin));
  }
}

void Screening::screen(std::span<const Count> users, const std::optional<Lists>& exclude) {
  products_.load_users(users, exclude);
  for (std::size_t i = 0; i < users.size(); ++i) {
    start_user(i);
    run_.checkpoint();
  }
  if (shortlists_ && shortlists_->has_sample()) {
    for_each_group([&](std::size_t begin, std::size_t size) {
      products_.multiply_sample(begin, size);
      for (std::size_t i = begin; i < begin + size; ++i) {
        shortlists_->expect_bound(i, products_.users()[i], products_.sample_of_user(i));
      }
      run_.checkpoint();
    });
  }
  for (std::size_t begin = 0; begin < products_.size(); begin += products_.tile_items()) {
    products_.load_tile(begin);
    for_each_group([&](std::size_t first, std::size_t size) {
      products_.multiply_tile(first, size);
      for (std::size_t i = first; i < first + size; ++i) add_products(i);
      run_.checkpoint();
    });
  }
  for (std::size_t i = 0; i < users.size() && shortlists_; ++i) {
    TileUser& user = products_.users()[i];
    if (!user.is_unscreened) user.is_unscreened = !shortlists_->finish_list(i, user);
    run_.checkpoint();
  }
}

std::optional<ScreeningResult> Screening::result_of(Count user) const {
  if (!source_.has(user)) return std::nullopt;
  const std::span<const TileUser> users = products_.users();
  const auto match = std::ranges::find(users, user, &TileUser::user);
  if (match == users.end() || match->is_unscreened) return std::nullopt;
  const auto index = static_cast<std::size_t>(match - users.begin());
  ScreeningResult result;
  if (shortlists_) {
    result.best = shortlists_->best(index);
    result.depth = shortlists_->depth();
    result.highest_first = shortlists_->highest_first();
    result.length = static_cast<Count>(result.best.size());
  }
  if (truth_ranks_) {
    result.truth_ranks = truth_ranks_->ranks_of_user(index);
    if (source_.min_score) result.length = truth_ranks_->list_length(index);
  }
  return result;
}

}  // namespace exactk
