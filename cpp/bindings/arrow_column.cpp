#include "arrow_column.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "arrays.hpp"
#include "exactk/capacity.hpp"
#include "gil.hpp"

namespace exactk::bindings {

namespace {

constexpr std::int64_t kWordBits = 64;

}  // namespace

std::pair<Count, Count> count_nulls(const Piece& piece) {
  Count count = 0;
  Count first = -1;
  const auto* const valid = piece.buffer<std::uint8_t>(0);
  for (std::int64_t row = 0; valid != nullptr && row < piece.length; ++row) {
    const std::int64_t bit = piece.offset + row;
    if (bit % 8 == 0 && piece.length - row >= kWordBits) {  // mostly, no row is null
      std::uint64_t word = 0;
      std::memcpy(&word, valid + bit / 8, sizeof word);
      if (~word == 0) {
        row += kWordBits - 1;
        continue;
      }
    }
    if (((valid[bit / 8] >> static_cast<unsigned>(bit % 8)) & 1U) != 0) continue;
    if (count++ == 0) first = row;
  }
  return {count, first};
}

std::pair<Count, Count> ArrowColumn::nulls() const {
  Count count = 0;
  Count first = -1;
  Count rows_before = 0;
  if (type() == "null") return {length(), length() > 0 ? 0 : -1};
  for (const Piece& piece : pieces_) {
    const auto [piece_count, piece_first] = count_nulls(piece);
    if (piece_count > 0 && count == 0) first = rows_before + piece_first;
    count += piece_count;
    rows_before += piece.length;
  }
  return {count, first};
}

// The arrays refer to the buffers and keep them alive.
std::vector<py::array> ArrowColumn::values(const std::string& argument) const {
  const std::string_view format = schema_->format;
  if (format.size() != 1 || std::string_view("cCsSiIlLefg").find(format) == std::string_view::npos)
    refuse_arrow(argument, "numbers", type());
  const py::dtype dtype(type());
  std::vector<py::array> arrays;
  for (const Piece& piece : pieces_) {
    const auto* const first = piece.buffer<char>(1);
    if (first == nullptr && piece.length > 0) refuse_arrow(argument, "a buffer of numbers", "none");
    if (piece.length == 0) {
      arrays.emplace_back(dtype, std::vector<py::ssize_t>{0});
      continue;
    }
    const py::capsule owner(new Batch(piece.batch),
                            [](void* batch) { delete static_cast<Batch*>(batch); });
    py::array array(dtype, {piece.length}, {dtype.itemsize()},
                    first + piece.offset * dtype.itemsize(), owner);
    array.attr("flags").attr("writeable") = false;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

namespace {

template <class StringOffset>
PackedStrings<StringOffset> packed_strings(const Piece& piece) {
  const auto* const first = piece.buffer<StringOffset>(1);
  const std::span<const StringOffset> offsets(first + piece.offset, piece.size() + 1);
  const auto* const bytes = piece.buffer<char>(2);
  const auto end = static_cast<std::size_t>(std::max<StringOffset>(0, offsets.back()));
  return {.offsets = offsets, .bytes = {bytes, bytes == nullptr ? 0 : end}};
}

StringViews string_views(const Piece& piece, const std::string& argument) {
  const auto* const views = piece.buffer<StringViews::View>(1);
  StringViews strings{.views = {views + piece.offset, piece.size()}, .buffers = {}};
  const std::int64_t buffers = piece.array->n_buffers - 3;  // the last one holds the sizes
  const auto* const sizes = piece.buffer<std::int64_t>(piece.array->n_buffers - 1);
  for (std::int64_t i = 0; i < buffers; ++i) {
    const auto* const bytes = piece.buffer<char>(2 + i);
    if (sizes == nullptr || sizes[i] < 0 || (bytes == nullptr && sizes[i] > 0))
      refuse_arrow(argument, "buffers of strings", "none");
    strings.buffers.emplace_back(bytes, static_cast<std::size_t>(sizes[i]));
  }
  return strings;
}

}  // namespace

void ArrowColumn::encode_piece(const Piece& piece, Vocabulary& vocabulary, std::span<Code> codes,
                               int threads, const std::string& argument) const {
  const std::string_view format = schema_->format;
  const Execution execution = interruptible_execution(threads);
  if (piece.length == 0) return;
  if (piece.array->n_buffers < 2 || piece.array->buffers[1] == nullptr)
    refuse_arrow(argument, "buffers of strings", "none");
  if (format == "u" || format == "z") {
    encode(vocabulary, packed_strings<std::int32_t>(piece), codes, execution);
  } else if (format == "U" || format == "Z") {
    encode(vocabulary, packed_strings<std::int64_t>(piece), codes, execution);
  } else if (format == "vu" || format == "vz") {
    encode(vocabulary, string_views(piece, argument), codes, execution);
  } else {
    const auto width = static_cast<std::size_t>(width_of(format, argument));
    const auto* const first =
        piece.buffer<char>(1) + piece.offset * static_cast<std::int64_t>(width);
    const FixedStrings strings{
        .bytes = {first, piece.size() * width}, .width = width, .count = piece.size()};
    encode(vocabulary, strings, codes, execution);
  }
}

namespace {

constexpr Count kKeysBetweenSignals = 1 << 16;

// Arrow's producers rarely check what they call text. Each new string is looked at once.
void check_new_texts(const Vocabulary& vocabulary, Count old_size, std::span<const Code> codes,
                     const std::string& argument) {
  for (Count code = old_size; code < vocabulary.size(); ++code) {
    if (code % kKeysBetweenSignals == 0) interruptible_execution().poll();
    if (is_utf8(vocabulary.string(static_cast<Code>(code)))) continue;
    const auto first = std::ranges::find(codes, static_cast<Code>(code));
    throw InputError({.argument = argument,
                      .expected = "UTF-8",
                      .found = "invalid bytes",
                      .position = first - codes.begin()});
  }
}

}  // namespace

Codes ArrowColumn::encode_strings(OwnedVocabulary& owned, int threads,
                                  const std::string& argument) const {
  if (type() != "string" && type() != "bytes") refuse_arrow(argument, "strings or bytes", type());
  check_threads(threads);  // even if there are no rows
  require_memory(length(), sizeof(Code), {.argument = argument});
  Codes codes(length());
  std::span<Code> remaining = writable_span(codes);
  const VocabularyLock lock(owned);
  Vocabulary& vocabulary = lock.vocabulary();
  const Count old_size = vocabulary.size();
  const GilRelease release;
  for (const Piece& piece : pieces_) {
    encode_piece(piece, vocabulary, remaining.first(piece.size()), threads, argument);
    remaining = remaining.subspan(piece.size());
  }
  if (type() == "string") check_new_texts(vocabulary, old_size, writable_span(codes), argument);
  return codes;
}

// Returns, for each piece, the values that its codes stand for.
std::vector<ArrowColumn> ArrowColumn::dictionaries() const {
  std::vector<ArrowColumn> columns;
  for (const Piece& piece : pieces_) {
    if (piece.array->dictionary == nullptr) refuse_arrow("dictionary", "a dictionary", "none");
    const ArrowArray* const values = piece.array->dictionary;
    columns.emplace_back(owner_, schema_->dictionary,
                         std::vector<Piece>{{piece.batch, values, values->offset, values->length}});
  }
  return columns;
}

// Returns the offset of each row's list, and the column of all items.
std::pair<py::array_t<Offset>, ArrowColumn> ArrowColumn::lists(const std::string& argument) const {
  if (type() != "list" || schema_->n_children != 1) refuse_arrow(argument, "lists", type());
  const std::string_view format = schema_->format;
  require_memory(length() + 1, sizeof(Offset), {.argument = argument});
  std::vector<Offset> begins{0};
  Offset total = 0;
  std::vector<Piece> pieces;
  for (const Piece& piece : pieces_) {
    const auto value_offset = [&](std::int64_t row) -> Offset {
      const std::int64_t i = piece.offset + row;
      if (format == "+l") return piece.buffer<std::int32_t>(1)[i];
      if (format == "+L") return piece.buffer<std::int64_t>(1)[i];
      return i * width_of(format, argument);
    };
    if (piece.length == 0) continue;
    if (!format.starts_with("+w") && piece.buffer<char>(1) == nullptr)
      refuse_arrow(argument, "offsets of lists", "none");
    const ArrowArray* const values = piece.array->children[0];
    if (values->length > kMaxRows - total)
      refuse_arrow(argument, "at most " + std::to_string(kMaxRows) + " items", "more");
    const Offset begin = value_offset(0);
    Offset last = begin;
    for (std::int64_t row = 1; row <= piece.length; ++row) {
      const Offset end = value_offset(row);
      if (begin < 0 || end < last || end > values->length)
        refuse_arrow(argument, "offsets that do not decrease", std::to_string(end), row);
      last = end;
      begins.push_back(total + (end - begin));
    }
    total += last - begin;
    pieces.push_back({piece.batch, values, values->offset + begin, last - begin});
  }
  return {copy_of(begins), ArrowColumn(owner_, schema_->children[0], std::move(pieces))};
}

}  // namespace exactk::bindings
