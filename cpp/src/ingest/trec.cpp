#include "exactk/trec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace exactk {
namespace {

constexpr std::size_t kMostFields = 6;
constexpr std::size_t kShownOfLine = 320;  // 80 characters, whatever they are
constexpr std::size_t kShownOfField = 32;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::int64_t kMaxGrade = std::int64_t{1} << 53U;  // what float64 holds exactly

struct Layout {
  std::size_t fields;
  std::size_t number;  // which field it is
  std::string_view described;
};

constexpr Layout kQrels = {4, 3, "4 fields (query iteration document grade)"};
constexpr Layout kRun = {6, 4, "6 fields (query Q0 document rank score tag)"};
constexpr std::size_t kQuery = 0;
constexpr std::size_t kDocument = 2;

// What a byte is; of a whole line, what there is in it.
constexpr std::uint8_t kBlank = 1;
constexpr std::uint8_t kZero = 2;
constexpr std::uint8_t kNotAscii = 4;

constexpr std::array<std::uint8_t, 256> kBytes = [] {
  std::array<std::uint8_t, 256> kinds{};
  for (const char blank : {' ', '\t', '\r', '\v', '\f'})
    kinds[static_cast<unsigned char>(blank)] = kBlank;
  kinds[0] = kZero;
  for (std::size_t i = 128; i < 256; ++i) kinds[i] = kNotAscii;
  return kinds;
}();

std::uint8_t kind_of(char byte) { return kBytes[static_cast<unsigned char>(byte)]; }

// The length of the character that begins here, or 0 if none does. No character has two spellings,
// and none is half of a pair of UTF-16.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    const bool shorter = lead == 0xE0 && byte(1) < 0xA0;
    const bool half = lead == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !shorter && !half ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool shorter = lead == 0xF0 && byte(1) < 0x90;
    const bool beyond = lead == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !shorter && !beyond ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quoted(std::string_view field) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "'";
  for (const char character : field.substr(0, kShownOfField)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte > 0x20 && byte < 0x7F) {
      text += character;
    } else {
      text += "\\x";
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 15U];
    }
  }
  return text + (field.size() > kShownOfField ? "...'" : "'");
}

struct Fields {
  std::array<std::string_view, kMostFields> first;
  std::size_t count = 0;
  std::uint8_t bytes = 0;  // the kinds of byte in them
};

Fields split(std::string_view line) {
  Fields fields;
  const char* place = line.data();
  const char* const end = place + line.size();
  while (true) {
    while (place != end && (kind_of(*place) & kBlank) != 0) ++place;
    if (place == end) return fields;
    const char* const begin = place;
    for (; place != end; ++place) {
      const std::uint8_t kind = kind_of(*place);
      if ((kind & kBlank) != 0) break;
      fields.bytes |= kind;
    }
    if (fields.count < kMostFields)
      fields.first[fields.count] = {begin, static_cast<std::size_t>(place - begin)};
    ++fields.count;
  }
}

void append(StringColumn& column, std::string_view text) {
  column.bytes.insert(column.bytes.end(), text.begin(), text.end());
  column.offsets.push_back(static_cast<Offset>(column.bytes.size()));
}

template <class Number>
bool parse(std::string_view field, Number& number) {
  const char* const begin = field.data();
  const char* const end = begin + field.size();
  const auto [last, error] = std::from_chars(begin, end, number);
  return error == std::errc{} && last == end;
}

class Parser {
 public:
  explicit Parser(std::optional<TrecFormat> format) {
    if (format) layout_ = *format == TrecFormat::qrels ? &kQrels : &kRun;
  }

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      const bool whole = end < bytes.size();
      const std::string_view part = bytes.substr(0, end);
      bytes.remove_prefix(whole ? end + 1 : end);
      if (whole && begun_.empty()) {
        line(part);
        continue;
      }
      begun_.append(
          part.substr(0, kMaxTrecLine + 1));  // one byte more says that there are too many
      if (whole || begun_.size() > kMaxTrecLine) finish_line();
    }
  }

  TrecColumns finish() {
    if (!begun_.empty()) finish_line();
    return std::move(columns_);
  }

 private:
  void finish_line() {
    line(begun_);
    begun_.clear();
  }

  void line(std::string_view text) {
    if (++line_ == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text_ = text;
    if (text.size() > kMaxTrecLine) {
      fail("at most " + std::to_string(kMaxTrecLine) + " bytes a line", "more");
    }
    if (text.starts_with('#')) return;
    const Fields fields = split(text);
    if (fields.count > 0) row(fields);
  }

  void row(const Fields& fields) {
    if ((fields.bytes & kZero) != 0) fail("text", "a zero byte");
    if ((fields.bytes & kNotAscii) != 0 && !is_utf8(text_)) fail("UTF-8", "other bytes");
    if (layout_ == nullptr) choose_layout(fields.count);
    if (fields.count != layout_->fields) {
      fail(std::string(layout_->described), std::to_string(fields.count));
    }
    for (const std::size_t i : {kQuery, kDocument}) {
      if (fields.first[i].size() <= kMaxTrecName) continue;
      fail("a name of at most " + std::to_string(kMaxTrecName) + " bytes as field " +
               std::to_string(i + 1),
           std::to_string(fields.first[i].size()));
    }
    const double number = layout_ == &kQrels ? grade(fields) : score(fields);
    append(columns_.queries, fields.first[kQuery]);
    append(columns_.documents, fields.first[kDocument]);
    columns_.numbers.push_back(number);
  }

  void choose_layout(std::size_t fields) {
    for (const Layout* layout : {&kQrels, &kRun}) {
      if (fields == layout->fields) layout_ = layout;
    }
    if (layout_ == nullptr) {
      fail(std::string(kQrels.described) + " or " + std::string(kRun.described),
           std::to_string(fields));
    }
  }

  double grade(const Fields& fields) {
    const std::string_view field = fields.first[kQrels.number];
    std::int64_t grade = 0;
    if (!parse(field, grade) || grade > kMaxGrade || grade < -kMaxGrade) {
      fail("an integer of at most 2^53 as grade, field 4", quoted(field));
    }
    return static_cast<double>(grade);
  }

  double score(const Fields& fields) {
    const std::string_view field = fields.first[kRun.number];
    double score = 0;
    if (!parse(field, score)) fail("a number that float64 holds as score, field 5", quoted(field));
    return score;
  }

  [[noreturn]] void fail(std::string expected, std::string found) const {
    throw LineError({.line = line_,
                     .expected = std::move(expected),
                     .found = std::move(found),
                     .text = std::string(text_.substr(0, kShownOfLine))});
  }

  const Layout* layout_ = nullptr;
  Count line_ = 0;
  std::string_view text_;  // of the line that is looked at
  std::string begun_;      // the beginning of a line whose end has not come yet
  TrecColumns columns_;
};

}  // namespace

LineError::LineError(LineFault fault)
    : std::runtime_error("expected " + fault.expected + ", found " + fault.found + " in line " +
                         std::to_string(fault.line)),
      fault_(std::move(fault)) {}

TrecColumns parse_trec(std::optional<TrecFormat> format,
                       const std::function<std::string_view()>& next) {
  Parser parser(format);
  for (std::string_view bytes = next(); !bytes.empty(); bytes = next()) parser.feed(bytes);
  return parser.finish();
}

}  // namespace exactk
