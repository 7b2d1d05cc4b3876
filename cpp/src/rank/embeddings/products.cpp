#include "rank/embeddings/products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace exactk {
namespace {

// Users with more excluded items are not screened.
constexpr std::size_t kMaxExcluded = std::size_t{1} << 13U;

// Memory limit for the users of a block, and for the items of a tile.
constexpr Count kPanelBytes = Count{1} << 23U;

// With this many users, the products of a tile fill about half of an L2 cache.
constexpr Count kMaxUsers = 512;

// Items of a sample: enough to predict the bounds of lists, few beside those that are multiplied.
constexpr std::size_t kSampleItems = 2048;

// Spreads the bits of a number, as splitmix64 does.
std::uint64_t mix_bits(std::uint64_t number) noexcept {
  number = (number + 1) * 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111eb;
  return number ^ (number >> 31U);
}

// Returns a power of two that scales the length into (1/2, 1].
double scale_to_unit(double length) noexcept {
  return length > 0 ? std::ldexp(1.0, -std::ilogb(length) - 1) : 1;
}

// Biases and Euclidean distances add one number to each vector: the factor of the bias, or of half
// the square.
std::size_t panel_width(const Embeddings& source) noexcept {
  const bool longer = source.item_bias || source.similarity == Similarity::euclidean;
  return static_cast<std::size_t>(source.width) + (longer ? 1 : 0);
}

}  // namespace

// Converts to single precision, and raises minus infinity to the lowest finite number, because only
// products of excluded items are minus infinity.
float clamp_to_float(double product) noexcept {
  constexpr double kHighestProduct = std::numeric_limits<float>::max();
  if (product > kHighestProduct) return std::numeric_limits<float>::infinity();
  return static_cast<float>(std::max(product, -kHighestProduct));
}

bool Products::can_multiply(const Embeddings& source) noexcept {
  return !source.candidates || source.candidates->row_count() == 1;
}

Count Products::max_users(const Embeddings& source, Count bytes_per_user) noexcept {
  const auto width = static_cast<Count>(panel_width(source));
  const Count bytes = width * Count{sizeof(float) + sizeof(double)} + bytes_per_user;
  return std::min(kMaxUsers, std::max<Count>(kPanelBytes / bytes, 1));
}

Products::Products(const Embeddings& source, const Norms& norms, const Kernels& kernels,
                   const Run& run)
    : source_(source),
      norms_(norms),
      kernels_(kernels),
      run_(run),
      similarities_(source, kernels),
      size_(static_cast<std::size_t>(source.items.rows)),
      width_(panel_width(source)) {
  if (source.candidates) {
    candidate_items_ = int64_row_items(*source.candidates, 0);
    size_ = candidate_items_.size();
  }
  const std::size_t most = kPanelBytes / 2 / sizeof(float) / width_;
  while (tile_items_ > std::max(most, kPanelItems)) tile_items_ /= 2;
  items_.resize(tile_items_ * width_);
  rows_.resize(kPanelItems * width_);
  choose_scale();
}

// Items are multiplied as they are if they are vectors of float and none is so long or so short
// that products would leave its range. Otherwise they are converted and scaled.
void Products::choose_scale() {
  const Vectors& items = source_.items;
  const double length = std::sqrt(norms_.largest_square);
  constexpr double kFar = 0x1p60;
  const bool is_readable = items.type == ScoreType::float32 && items.row_stride >= 0 &&
                           items.row_stride % std::ptrdiff_t{sizeof(float)} == 0;
  const bool is_in_float_range = length == 0 || (length > 1 / kFar && length < kFar);
  is_converted_ = !is_readable || !is_in_float_range || source_.candidates || source_.item_bias ||
                  source_.similarity != Similarity::dot;
  if (is_converted_) scale_ = scale_to_unit(std::max(length, norms_.largest_bias));
}

std::int64_t Products::item_at(std::size_t position) const noexcept {
  if (!source_.candidates) return static_cast<std::int64_t>(position);
  return read_item(candidate_items_[position], source_);
}

// Fills the user's row of the panel. Its product with an item's row is factor x score, or for
// distances, factor x (dot product - half the square of the item's length).
void Products::fill_panel_row(TileUser& user, float* row) const {
  const double length = std::sqrt(user.vector.square);
  user.extra = 0;
  double before = 1;  // two steps, because the factor may be below any double
  double after = 1;
  if (source_.similarity == Similarity::cosine) {
    after = 1 / length;
    user.factor = 1;
    user.length = 1;
  } else if (width_ == user.vector.numbers.size()) {
    after = scale_to_unit(length);
    user.factor = after * scale_;
    user.length = after * length;
  } else {
    if (source_.similarity == Similarity::euclidean) before = scale_;
    after = scale_to_unit(std::max(length * before, 1.0));
    user.factor = after * scale_ * before;
    user.length = after * length * before;
    user.extra = after;
    row[width_ - 1] = static_cast<float>(after);
  }
  std::ranges::transform(user.vector.numbers, row, [&](double number) {
    return static_cast<float>(number * before * after);
  });
}

void Products::find_positions(std::span<const std::int64_t> items,
                              std::vector<std::uint32_t>& positions) const {
  positions.clear();
  for (const std::int64_t item : items) {
    if (!source_.candidates) {
      if (std::cmp_less(item, size_)) positions.push_back(static_cast<std::uint32_t>(item));
      continue;
    }
    const auto match = std::ranges::lower_bound(candidate_items_, item);
    if (match == candidate_items_.end() || *match != item) continue;
    positions.push_back(static_cast<std::uint32_t>(match - candidate_items_.begin()));
  }
  if (!std::ranges::is_sorted(positions)) std::ranges::sort(positions);
}

// Bounds the difference between a product and factor x score. In any order of addition, a sum of n
// terms is off by at most n roundings of the sum of their magnitudes. These add up to at most the
// product of the two lengths, plus the product of the extra numbers, if there are any. On top of
// that, vectors are rounded before and bounds after, and tiny numbers underflow.
// All of this is less than half of the allowance, so that scores that are equal after rounding to
// single precision are not separated either.
void Products::estimate_errors(TileUser& user) const noexcept {
  const auto terms = static_cast<double>(width_ + 16);
  user.error_by_length = terms * 0x1p-23 * user.length;
  user.error_by_extra = terms * 0x1p-23 * user.extra;
  user.error = terms * 0x1p-120 + (source_.float32_scores ? user.factor * 0x1p-148 : 0);
  user.error_by_square = 0;
  if (source_.similarity != Similarity::euclidean) return;
  // A distance is rounded in proportion to itself, and may be longer than the vectors multiplied.
  const double rounding = terms * 0x1p-49 + (source_.float32_scores ? 0x1p-20 : 0);
  user.error_by_square = rounding * user.factor;
  user.error += user.error_by_square * user.vector.square;
}

// Whether the user's products say anything about the scores. They do not if scores overflow to
// infinity in single precision, and so are equal, or lose digits to underflow in double precision.
bool Products::is_in_range(const TileUser& user) const noexcept {
  const double square = user.vector.square;
  for (const double any_square : {square, norms_.largest_square}) {
    if (any_square > 0 && any_square < kSmallestSquare) return false;
  }
  if (!source_.float32_scores || source_.similarity == Similarity::cosine) return true;
  const double length = std::sqrt(square);
  const double item_length = std::sqrt(norms_.largest_square);
  const double highest = source_.similarity == Similarity::euclidean
                             ? length + item_length
                             : length * item_length + norms_.largest_bias;
  return highest < std::numeric_limits<float>::max() / 2;
}

void Products::load_user(TileUser& user, std::span<const std::int64_t> exclude, float* row) {
  similarities_.read_user(user.user, user.vector);
  fill_panel_row(user, row);
  estimate_errors(user);
  user.is_unscreened = exclude.size() > kMaxExcluded || !is_in_range(user);
  if (user.is_unscreened) exclude = {};
  find_positions(exclude, user.excluded);
  user.next_excluded = 0;
  user.update_next_excluded();
}

void Products::load_users(std::span<const Count> users, const std::optional<Lists>& exclude) {
  user_count_ = users.size();
  users_.resize(std::max(users_.size(), user_count_));
  panel_.resize(users_.size() * width_);
  products_.resize(users_.size() * tile_items_);
  for (std::size_t i = 0; i < user_count_; ++i) {
    users_[i].user = users[i];
    load_user(users_[i],
              exclude ? int64_row_items(*exclude, users[i]) : std::span<const std::int64_t>(),
              &panel_[i * width_]);
    run_.checkpoint();
  }
}

double Products::product_of(const TileUser& user, double score) const noexcept {
  if (source_.similarity != Similarity::euclidean) return score * user.factor;
  if (score > 0) return std::numeric_limits<double>::infinity();
  return (user.vector.square - score * score) / 2 * user.factor;
}

std::span<const double> Products::score_exactly(const TileUser& user,
                                                std::span<const std::uint32_t> positions) {
  ids_.resize(positions.size());
  scores_.resize(positions.size());
  std::ranges::transform(positions, ids_.begin(),
                         [&](std::uint32_t position) { return item_at(position); });
  const auto score_range = [&](std::size_t begin, std::size_t end) {
    similarities_.score(user.vector, std::span(ids_).subspan(begin, end - begin),
                        std::span(scores_).subspan(begin, end - begin));
  };
  in_chunks(positions.size(), run_, score_range, similarities_.chunk_size());
  return scores_;
}

Products::Tile Products::tile_of(double square, double bias) const noexcept {
  Tile tile{.begin = 0, .size = 0, .length = 1, .extra = 0, .square = square};
  if (source_.similarity == Similarity::cosine) return tile;
  tile.length = std::sqrt(square) * scale_;
  if (source_.similarity == Similarity::euclidean) tile.extra = tile.length * tile.length / 2;
  if (source_.item_bias) tile.extra = bias * scale_;
  return tile;
}

Products::Tile Products::tile_at(std::size_t begin) const {
  const std::size_t index = begin / kTileItems;
  Tile tile =
      tile_of(norms_.largest_squares[index], source_.item_bias ? norms_.largest_biases[index] : 0);
  tile.begin = begin;
  tile.size = std::min(tile_items_, size_ - begin);
  return tile;
}

double Products::error_of(const TileUser& user, const Tile& tile) noexcept {
  return user.error_by_length * tile.length + user.error_by_extra * tile.extra +
         user.error_by_square * tile.square + user.error;
}

// Converts an item to what is multiplied. `square` is that of its length, if needed.
void Products::convert_item(std::int64_t item, double square, float* row) const {
  const bool is_cosine = source_.similarity == Similarity::cosine;
  similarities_.scale_item(item, is_cosine ? 1 / std::sqrt(square) : scale_, row);
  if (source_.similarity == Similarity::euclidean) {
    row[width_ - 1] = static_cast<float>(-square * scale_ * scale_ / 2);
  } else if (source_.item_bias) {
    row[width_ - 1] = static_cast<float>(number_at(*source_.item_bias, item, 0) * scale_);
  }
}

// Packs converted items, at up to kTileItems positions.
template <class PositionOf>
void Products::pack_converted(std::size_t size, const PositionOf& position_of, float* panels) {
  std::array<std::int64_t, kTileItems> items{};
  std::array<double, kTileItems> squares{};
  for (std::size_t i = 0; i < size; ++i) items[i] = item_at(position_of(i));
  if (source_.similarity != Similarity::dot) {
    similarities_.compute_squares(source_.items, std::span(items).first(size), squares);
  }
  for (std::size_t begin = 0; begin < size; begin += kPanelItems) {
    const std::size_t count = std::min(kPanelItems, size - begin);
    for (std::size_t i = 0; i < count; ++i) {
      convert_item(items[begin + i], squares[begin + i], &rows_[i * width_]);
    }
    kernels_.products.pack(rows_.data(), count, width_, width_, panels + begin * width_);
  }
}

// Packs the items of the tile from where they are.
void Products::pack_tile() {
  const auto row_stride = static_cast<std::size_t>(source_.items.row_stride);
  for (std::size_t begin = 0; begin < tile_.size; begin += kPanelItems) {
    const std::byte* const first = source_.items.numbers + (tile_.begin + begin) * row_stride;
    kernels_.products.pack(reinterpret_cast<const float*>(first),
                           std::min(kPanelItems, tile_.size - begin), row_stride / sizeof(float),
                           width_, &items_[begin * width_]);
  }
}

void Products::load_tile(std::size_t begin) {
  tile_ = tile_at(begin);
  if (is_converted_) {
    pack_converted(tile_.size, [&](std::size_t i) { return tile_.begin + i; }, items_.data());
  } else {
    pack_tile();
  }
}

// Multiplies the group with packed items; the products of a user are `stride` apart.
void Products::multiply_panels(const float* panels, std::size_t count, std::size_t stride,
                               AlignedVector<float>& products) {
  kernels_.products.multiply(&panel_[group_begin_ * width_], group_size_, width_, panels,
                             (count + kPanelItems - 1) / kPanelItems, products.data(), stride);
}

void Products::multiply_tile(std::size_t begin, std::size_t size) {
  group_begin_ = begin;
  group_size_ = size;
  multiply_panels(items_.data(), tile_.size, tile_items_, products_);
}

std::size_t Products::sample_size() const noexcept {
  constexpr auto kMaxBytes = static_cast<std::size_t>(kPanelBytes / 2);
  const bool is_worthwhile = size_ >= 16 * kSampleItems;
  return is_worthwhile && kSampleItems * width_ * sizeof(float) <= kMaxBytes ? kSampleItems : 0;
}

void Products::draw_sample() {
  sample_positions_.resize(kSampleItems);
  for (std::size_t i = 0; i < kSampleItems; ++i) {
    const std::size_t begin = i * size_ / kSampleItems;
    const std::size_t end = (i + 1) * size_ / kSampleItems;
    sample_positions_[i] = static_cast<std::uint32_t>(begin + mix_bits(i) % (end - begin));
  }
  sample_items_.resize(kSampleItems * width_);
  for (std::size_t begin = 0; begin < kSampleItems; begin += kTileItems) {
    pack_converted(
        kTileItems, [&](std::size_t i) { return sample_positions_[begin + i]; },
        &sample_items_[begin * width_]);
  }
}

void Products::multiply_sample(std::size_t begin, std::size_t size) {
  group_begin_ = begin;
  group_size_ = size;
  sample_products_.resize(std::max(sample_products_.size(), size * kSampleItems));
  multiply_panels(sample_items_.data(), kSampleItems, kSampleItems, sample_products_);
}

std::span<const float> Products::sample_of_user(std::size_t index) {
  const auto products =
      std::span(sample_products_).subspan((index - group_begin_) * kSampleItems, kSampleItems);
  for (const std::uint32_t position : users_[index].excluded) {
    const auto match = std::ranges::lower_bound(sample_positions_, position);
    if (match == sample_positions_.end() || *match != position) continue;
    products[static_cast<std::size_t>(match - sample_positions_.begin())] =
        -std::numeric_limits<float>::infinity();
  }
  return products;
}

TileProducts Products::products_of_user(std::size_t index) {
  TileUser& user = users_[index];
  const auto products =
      std::span(products_).subspan((index - group_begin_) * tile_items_, tile_.size);
  while (user.next_excluded_position < tile_.begin + tile_.size) {
    products[user.next_excluded_position - tile_.begin] = -std::numeric_limits<float>::infinity();
    ++user.next_excluded;
    user.update_next_excluded();
  }
  return {.begin = tile_.begin, .products = products, .error = error_of(user, tile_)};
}

}  // namespace exactk
