#include "rank/screening.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "rank/bisection.hpp"

namespace metrik {
namespace {

// With so many users, the products of a tile fill about half of a second cache.
constexpr Count kBlockUsers = 512;

// Beyond so deep a list the best are found sooner by reading the scores.
constexpr Count kDeepest = 16384;

// A user with more excluded items is not screened: they would take too much memory.
constexpr std::size_t kMostExcluded = std::size_t{1} << 13U;

// What the users of a block, or the items of a tile, may take.
constexpr Count kPanelBytes = Count{1} << 23U;

// BLAS counts numbers in 32 bits: those of a tile of rows that lie further apart might be more.
constexpr std::ptrdiff_t kFarthest = std::ptrdiff_t{1} << 22U;

// A shorter vector's square may have lost digits.
constexpr double kSmallestSquare = 0x1p-500;

constexpr float kLowestProduct = std::numeric_limits<float>::lowest();

// For so many of a user's items that may be among the best: twice as many as are, and a tile.
constexpr std::size_t room(std::size_t depth) {
  return depth + std::max<std::size_t>(depth, 128) + kTileItems;
}
constexpr std::size_t kBytesHeld = 2 * sizeof(float) + sizeof(std::uint32_t);

// A power of two that makes the length at most 1, and more than half.
double shrinking(double length) noexcept {
  return length > 0 ? std::ldexp(1.0, -std::ilogb(length) - 1) : 1;
}

// In single precision, and no less than any product but that of an excluded item.
float bounded(double product) noexcept {
  constexpr double kHighestProduct = std::numeric_limits<float>::max();
  if (product > kHighestProduct) return std::numeric_limits<float>::infinity();
  return static_cast<float>(std::max(product, -kHighestProduct));
}

// One more number of each vector: what a bias, or half of a square, is multiplied by.
std::size_t multiplied_width(const Embeddings& source) noexcept {
  const bool longer = source.item_bias || source.similarity == Similarity::euclidean;
  return static_cast<std::size_t>(source.width) + (longer ? 1 : 0);
}

}  // namespace

bool Screening::pays(const Embeddings& source, Count depth) noexcept {
  if (source.sgemm == nullptr) return false;
  if (source.candidates && source.candidates->rows() != 1) return false;
  return depth <= kDeepest && depth <= source.items.rows / 4;
}

Count Screening::block_users(const Embeddings& source, Count depth, int threads) noexcept {
  const auto width = static_cast<Count>(multiplied_width(source));
  const Count bytes = width * Count{sizeof(float) + sizeof(double)} +
                      static_cast<Count>(room(static_cast<std::size_t>(depth)) * kBytesHeld);
  const Count most = std::min(kBlockUsers, std::max<Count>(kPanelBytes / bytes, 1));
  const Count shared = source.users.rows / (8 * Count{threads}) + 1;
  return std::clamp<Count>(shared, std::min<Count>(16, most), most);
}

Screening::Screening(const Embeddings& source, const Lengths& lengths, Count depth, bool highest,
                     const Kernels& kernels)
    : source_(source),
      lengths_(lengths),
      depth_(static_cast<std::size_t>(depth)),
      highest_(highest),
      kernels_(kernels),
      similarities_(source, kernels),
      size_(static_cast<std::size_t>(source.items.rows)),
      width_(multiplied_width(source)),
      room_(room(depth_)) {
  if (source.candidates) {
    restriction_ = row_of_int64(*source.candidates, 0);
    size_ = restriction_.size();
  }
  constexpr std::size_t kFewest = 16;
  const std::size_t most = kPanelBytes / 2 / sizeof(float) / width_;
  while (tile_items_ > std::max(most, kFewest)) tile_items_ /= 2;
  settle_scale();
}

// Items are multiplied where they lie if BLAS can read them, and none is so long or so short that
// the product would leave the range of single precision.
void Screening::settle_scale() {
  const Vectors& items = source_.items;
  const double length = std::sqrt(lengths_.largest_square);
  constexpr double kFar = 0x1p60;
  constexpr auto kSize = static_cast<std::ptrdiff_t>(sizeof(float));
  const bool readable = items.type == ScoreType::float32 && items.row_stride % kSize == 0 &&
                        items.row_stride / kSize >= static_cast<std::ptrdiff_t>(width_) &&
                        items.row_stride / kSize <= kFarthest;
  const bool in_range = length == 0 || (length > 1 / kFar && length < kFar);
  packed_ = !readable || !in_range || source_.candidates || source_.item_bias ||
            source_.similarity != Similarity::dot;
  if (packed_) scale_ = shrinking(std::max(length, lengths_.largest_bias));
}

std::int64_t Screening::item_at(std::size_t position) const noexcept {
  if (!source_.candidates) return static_cast<std::int64_t>(position);
  // The id is read again, and may be another by now: it must be one of an item at least.
  return std::clamp<std::int64_t>(restriction_[position], 0, source_.items.rows - 1);
}

// Whether the user's products tell of scores: not where these are infinite in single precision,
// and so equal, or lack digits in double precision.
bool Screening::is_in_range(const User& user) const noexcept {
  const double square = user.vector.square;
  for (const double one : {square, lengths_.largest_square}) {
    if (one > 0 && one < kSmallestSquare) return false;
  }
  if (!source_.narrowed || source_.similarity == Similarity::cosine) return true;
  const double length = std::sqrt(square);
  const double other = std::sqrt(lengths_.largest_square);
  const double highest = source_.similarity == Similarity::euclidean
                             ? length + other
                             : length * other + lengths_.largest_bias;
  return highest < std::numeric_limits<float>::max() / 2;
}

// The user's row of the panel, such that its product with an item's is the factor times the score,
// or for distances, times the product less half the square of the item's length.
void Screening::fill_panel(User& user, float* row) const {
  const double length = std::sqrt(user.vector.square);
  double before = 1;  // multiplied in two steps, as the factor may be less than any number
  double after = 1;
  if (source_.similarity == Similarity::cosine) {
    after = 1 / length;
    user.factor = 1;
    user.length = 1;
  } else if (width_ == user.vector.numbers.size()) {
    after = shrinking(length);
    user.factor = after * scale_;
    user.length = after * length;
  } else {
    if (source_.similarity == Similarity::euclidean) before = scale_;
    after = shrinking(std::max(length * before, 1.0));
    user.factor = after * scale_ * before;
    user.length = after * std::hypot(length * before, 1.0);
    row[width_ - 1] = static_cast<float>(after);
  }
  std::ranges::transform(user.vector.numbers, row, [&](double number) {
    return static_cast<float>(number * before * after);
  });
}

void Screening::exclude_from(User& user, std::span<const std::int64_t> exclude) const {
  user.next_excluded = 0;
  user.excluded.clear();
  for (const std::int64_t item : exclude) {
    if (!source_.candidates) {
      if (std::cmp_less(item, size_)) user.excluded.push_back(static_cast<std::uint32_t>(item));
      continue;
    }
    const auto place = std::ranges::lower_bound(restriction_, item);
    if (place == restriction_.end() || *place != item) continue;
    user.excluded.push_back(static_cast<std::uint32_t>(place - restriction_.begin()));
  }
  if (!std::ranges::is_sorted(user.excluded)) std::ranges::sort(user.excluded);
}

void Screening::start(User& user, Count number, std::span<const std::int64_t> exclude, float* row) {
  user.user = number;
  user.held = 0;
  user.lowest.resize(room_);
  user.highest.resize(room_);
  user.positions.resize(room_);
  similarities_.read(number, user.vector);
  user.screened = exclude.size() <= kMostExcluded && is_in_range(user);
  if (!user.screened) exclude = {};
  fill_panel(user, row);
  estimate_errors(user);
  user.bound = bounded(least_product(user));
  exclude_from(user, exclude);
}

Screening::Tile Screening::tile_at(std::size_t begin) const {
  Tile tile{.begin = begin,
            .size = std::min(tile_items_, size_ - begin),
            .length = 1,
            .square = lengths_.largest_square};
  if (!source_.candidates) tile.square = lengths_.largest_squares[begin / kTileItems];
  if (source_.similarity == Similarity::cosine) return tile;
  const double length = std::sqrt(tile.square) * scale_;
  tile.length = source_.similarity == Similarity::euclidean
                    ? std::hypot(length, length * length / 2)
                    : std::hypot(length, lengths_.largest_bias * scale_);
  return tile;
}

// Copies items as they are multiplied.
void Screening::pack(const Tile& tile) {
  items_.resize(tile_items_ * width_);
  for (std::size_t i = 0; i < tile.size; ++i) {
    const std::int64_t item = item_at(tile.begin + i);
    float* const row = &items_[i * width_];
    double square = 0;
    if (source_.similarity != Similarity::dot)
      similarities_.square(source_.items, item, {&square, 1});
    const bool directed = source_.similarity == Similarity::cosine;
    similarities_.scale(item, directed ? 1 / std::sqrt(square) : scale_, row);
    if (source_.similarity == Similarity::euclidean) {
      row[width_ - 1] = static_cast<float>(-square * scale_ * scale_ / 2);
    } else if (source_.item_bias) {
      row[width_ - 1] = static_cast<float>(number_of(*source_.item_bias, item, 0) * scale_);
    }
  }
}

void Screening::multiply(const Tile& tile) {
  char transposed = 'T';
  char as_it_is = 'N';
  auto rows = static_cast<int>(tile.size);
  auto columns = static_cast<int>(count_);
  auto width = static_cast<int>(width_);
  auto stride = width;  // of the items
  auto result_stride = static_cast<int>(tile_items_);
  float one = 1;
  float zero = 0;
  // BLAS does not write to what it multiplies.
  const std::byte* first = source_.items.numbers;
  if (packed_) {
    pack(tile);
    first = reinterpret_cast<const std::byte*>(items_.data());
  } else {
    first += static_cast<std::ptrdiff_t>(tile.begin) * source_.items.row_stride;
    stride = static_cast<int>(source_.items.row_stride / static_cast<Offset>(sizeof(float)));
  }
  auto* const items = const_cast<float*>(reinterpret_cast<const float*>(first));
  source_.sgemm(&transposed, &as_it_is, &rows, &columns, &width, &one, items, &stride,
                panel_.data(), &width, &zero, products_.data(), &result_stride);
}

// By how much a product may differ from the factor times the score. A sum of n products, in
// whatever order, is wrong by at most n roundings of the product of the two lengths; the vectors
// were rounded before, and bounds are rounded after; what is too small for a number may be lost.
// All of this is less than half of what is allowed for, so that scores which are the same once they
// are narrowed are not told apart either.
void Screening::estimate_errors(User& user) const noexcept {
  const auto terms = static_cast<double>(width_ + 16);
  user.error_by_length = terms * 0x1p-23 * user.length;
  user.error = terms * 0x1p-120 + (source_.narrowed ? user.factor * 0x1p-148 : 0);
  user.error_by_square = 0;
  if (source_.similarity != Similarity::euclidean) return;
  // A distance is rounded in proportion to itself, and may be longer than what was multiplied.
  const double rounding = terms * 0x1p-49 + (source_.narrowed ? 0x1p-20 : 0);
  user.error_by_square = rounding * user.factor;
  user.error += user.error_by_square * user.vector.square;
}

// What an item that scores min_score has as its product.
double Screening::least_product(const User& user) const noexcept {
  if (!source_.min_score) return kLowestProduct;
  double least = *source_.min_score;
  if (source_.narrowed) least -= std::abs(least) * 0x1p-23 + 0x1p-148;  // is rounded to it
  if (source_.similarity == Similarity::euclidean) {
    if (least > 0) return std::numeric_limits<double>::infinity();
    least = (user.vector.square - least * least) / 2;
  }
  return least * user.factor;
}

// A number that as many of these reach as are wanted, or the lowest.
float Screening::reached(std::span<const float> numbers) {
  return key_reached_by(depth_, kLowestProduct, last_bound_, [&](float key, Count& count) {
    kernels_.float32.count_beating(numbers.data(), numbers.size(), &key, 1, 1, &count);
  });
}

void Screening::look_at(User& user, const Tile& tile, std::span<float> products,
                        const Checkpoint& checkpoint) {
  for (; user.next_excluded < user.excluded.size(); ++user.next_excluded) {
    const std::size_t position = user.excluded[user.next_excluded];
    if (position >= tile.begin + tile.size) break;
    products[position - tile.begin] = -std::numeric_limits<float>::infinity();
  }
  const double error =
      user.error_by_length * tile.length + user.error_by_square * tile.square + user.error;
  if (tile.begin == 0 && tile.size > depth_) {
    user.bound = std::max(user.bound, bounded(static_cast<double>(reached(products)) - error));
  }
  const float least = bounded(static_cast<double>(user.bound) - error);
  const std::size_t count =
      kernels_.float32.find_at_least(products.data(), products.size(), least, found_.data());
  for (std::size_t i = 0; i < count; ++i) {
    const float product = products[found_[i]];
    user.lowest[user.held] = product - static_cast<float>(error);
    user.highest[user.held] = product + static_cast<float>(error);
    user.positions[user.held++] = static_cast<std::uint32_t>(tile.begin) + found_[i];
  }
  if (user.held + tile_items_ > room_) drop_least(user, checkpoint);
}

// Leaves what may be among the best, for all that is known.
void Screening::drop_least(User& user, const Checkpoint& checkpoint) {
  if (user.held <= depth_) return;
  user.bound = std::max(user.bound, reached(std::span(user.lowest).first(user.held)));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < user.held; ++i) {
    user.lowest[kept] = user.lowest[i];
    user.highest[kept] = user.highest[i];
    user.positions[kept] = user.positions[i];
    kept += user.highest[i] >= user.bound ? 1U : 0U;
  }
  user.held = kept;
  // Products of about one value tell nothing apart.
  if (kept > depth_ + (room_ - tile_items_ - depth_) / 2) drop_exactly(user, checkpoint);
}

// The exact scores of all that may be among the best.
void Screening::score(User& user, const Checkpoint& checkpoint) {
  const std::size_t size = user.held;
  ids_.resize(size);
  scores_.resize(size);
  for (std::size_t i = 0; i < size; ++i) ids_[i] = item_at(user.positions[i]);
  in_chunks(
      size, checkpoint,
      [&](std::size_t begin, std::size_t end) {
        similarities_.score(user.vector, std::span(ids_).subspan(begin, end - begin),
                            std::span(scores_).subspan(begin, end - begin));
      },
      similarities_.piece_size());
  user.best.clear();
  const double least = source_.min_score.value_or(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < size; ++i) {
    if (scores_[i] >= least) user.best.push_back({scores_[i], user.positions[i]});
  }
}

// The same by the scores themselves.
void Screening::drop_exactly(User& user, const Checkpoint& checkpoint) {
  score(user, checkpoint);
  const std::size_t kept = std::min(depth_, user.best.size());
  if (kept > 0) {
    const auto last = user.best.begin() + static_cast<std::ptrdiff_t>(kept - 1);
    std::ranges::nth_element(user.best, last,
                             BetterItem<double>{.highest = highest_, .ids = nullptr});
  }
  // In the order in which they came, as are their bounds.
  user.best.resize(kept);
  std::ranges::sort(user.best, {}, &Item::item);
  std::size_t next = 0;
  for (std::size_t i = 0; i < user.held && next < kept; ++i) {
    if (user.positions[i] != user.best[next].item) continue;
    user.lowest[next] = user.lowest[i];
    user.highest[next] = user.highest[i];
    user.positions[next++] = user.positions[i];
  }
  user.held = kept;
}

void Screening::screen(std::span<const Count> users, const std::optional<Lists>& exclude,
                       const Checkpoint& checkpoint) {
  count_ = users.size();
  users_.resize(std::max(users_.size(), count_));
  panel_.resize(users_.size() * width_);
  products_.resize(users_.size() * tile_items_);
  found_.resize(tile_items_);
  for (std::size_t i = 0; i < count_; ++i) {
    start(users_[i], users[i],
          exclude ? row_of_int64(*exclude, users[i]) : std::span<const std::int64_t>(),
          &panel_[i * width_]);
    checkpoint();
  }
  for (std::size_t begin = 0; begin < size_; begin += tile_items_) {
    const Tile tile = tile_at(begin);
    multiply(tile);
    for (std::size_t i = 0; i < count_; ++i) {
      if (!users_[i].screened) continue;
      look_at(users_[i], tile, std::span(products_).subspan(i * tile_items_, tile.size),
              checkpoint);
    }
    checkpoint();
  }
  for (User& user : std::span(users_).first(count_)) {
    if (!user.screened) continue;
    drop_least(user, checkpoint);
    score(user, checkpoint);
    checkpoint();
  }
}

std::optional<Found> Screening::found_of(Count user) const {
  const auto known = std::span(users_).first(count_);
  const auto found = std::ranges::find(known, user, &User::user);
  if (found == known.end() || !found->screened) return std::nullopt;
  return Found{.best = found->best, .depth = depth_, .highest = highest_};
}

}  // namespace metrik
