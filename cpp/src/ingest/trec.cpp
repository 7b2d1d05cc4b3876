#include "exactk/trec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "exactk/number_syntax.hpp"

namespace exactk {
namespace {

constexpr std::size_t kMaxFields = 6;
constexpr std::size_t kMaxLineExcerpt = 320;  // 80 characters of any kind
constexpr std::size_t kMaxFieldExcerpt = 32;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::int64_t kMaxGrade = std::int64_t{1} << 53U;  // float64 is exact up to here

struct Layout {
  std::size_t field_count;
  bool has_text_after;       // further fields are allowed and ignored
  std::size_t number_field;  // index of the grade or score
  std::string_view description;
};

constexpr Layout kQrels = {4, false, 3, "4 fields (query iteration document grade)"};
constexpr Layout kRun = {6, true, 4, "6 fields (query Q0 document rank score tag)"};
constexpr std::size_t kQueryField = 0;
constexpr std::size_t kDocumentField = 2;

// Classes of bytes, as flags. For a line, the union of its bytes' classes.
constexpr std::uint8_t kBlank = 1;
constexpr std::uint8_t kZero = 2;
constexpr std::uint8_t kNotAscii = 4;
constexpr std::uint8_t kReturn = 8;

constexpr std::array<std::uint8_t, 256> kByteKinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  for (const char blank : {' ', '\t', '\r', '\v', '\f'})
    kinds[static_cast<unsigned char>(blank)] = kBlank;
  kinds['\r'] |= kReturn;
  kinds[0] = kZero;
  for (std::size_t i = 128; i < 256; ++i) kinds[i] = kNotAscii;
  return kinds;
}();

std::uint8_t kind_of(char byte) { return kByteKinds[static_cast<unsigned char>(byte)]; }

// Returns the length of the UTF-8 character at the start, or 0 if it is invalid, overlong or a
// surrogate.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    const bool is_overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool is_surrogate = lead == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool is_overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool is_beyond_unicode = lead == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !is_overlong && !is_beyond_unicode ? 4 : 0;
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

std::string quote(std::string_view field) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "'";
  for (const char character : field.substr(0, kMaxFieldExcerpt)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte > 0x20 && byte < 0x7F) {
      text += character;
    } else {
      text += "\\x";
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 15U];
    }
  }
  return text + (field.size() > kMaxFieldExcerpt ? "...'" : "'");
}

struct Fields {
  std::array<std::string_view, kMaxFields> texts;  // at most the first kMaxFields
  std::size_t count = 0;
  std::uint8_t byte_kinds = 0;  // within and between the fields
};

Fields split_fields(std::string_view line) {
  Fields fields;
  const char* next = line.data();
  const char* const end = next + line.size();
  while (true) {
    std::uint8_t blank_kinds = 0;
    for (; next != end && (kind_of(*next) & kBlank) != 0; ++next) blank_kinds |= kind_of(*next);
    if (next == end) return fields;
    fields.byte_kinds |= blank_kinds;
    const char* const begin = next;
    for (; next != end; ++next) {
      const std::uint8_t kind = kind_of(*next);
      if ((kind & kBlank) != 0) break;
      fields.byte_kinds |= kind;
    }
    if (fields.count < kMaxFields)
      fields.texts[fields.count] = {begin, static_cast<std::size_t>(next - begin)};
    ++fields.count;
  }
}

void append(StringColumn& column, std::string_view text) {
  column.bytes.insert(column.bytes.end(), text.begin(), text.end());
  column.offsets.push_back(static_cast<Offset>(column.bytes.size()));
}

class Parser {
 public:
  explicit Parser(std::optional<TrecFormat> format) {
    if (format) layout_ = *format == TrecFormat::qrels ? &kQrels : &kRun;
  }

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      const bool is_complete = end < bytes.size();
      const std::string_view part = bytes.substr(0, end);
      bytes.remove_prefix(is_complete ? end + 1 : end);
      if (is_complete && partial_line_.empty()) {
        parse_line(part);
        continue;
      }
      partial_line_.append(
          part.substr(0, kMaxTrecLine + 1));  // one extra byte reveals that the line is too long
      if (is_complete || partial_line_.size() > kMaxTrecLine) finish_line();
    }
  }

  TrecColumns finish() {
    if (!partial_line_.empty()) finish_line();
    return std::move(columns_);
  }

 private:
  void finish_line() {
    parse_line(partial_line_);
    partial_line_.clear();
  }

  void parse_line(std::string_view text) {
    if (++line_ == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text_ = text;
    if (text.size() > kMaxTrecLine) {
      fail("at most " + std::to_string(kMaxTrecLine) + " bytes per line", "a longer line");
    }
    if (text.starts_with(kByteOrderMark)) fail("text", "a byte order mark within the file");
    const Fields fields = split_fields(text);
    if (fields.count == 0) return;
    if (text.starts_with('#')) {
      skip_comment(fields);
    } else {
      parse_row(fields);
    }
  }

  // Rejects a comment that could be a row, because a query may be called #1.
  void skip_comment(const Fields& fields) {
    const bool is_word = fields.texts[kQueryField] != "#";
    const bool is_qrel = fields.count == kQrels.field_count &&
                         parse_integer(fields.texts[kQrels.number_field]).has_value();
    const bool is_result = fields.count == kRun.field_count &&
                           parse_number(fields.texts[kRun.number_field]).has_value();
    if (is_word && ((is_qrel && layout_ != &kRun) || (is_result && layout_ != &kQrels)))
      fail("a blank after # in a comment, or a query without #", "a row that begins with #");
  }

  void parse_row(const Fields& fields) {
    if ((fields.byte_kinds & kZero) != 0) fail("text", "a zero byte");
    if ((fields.byte_kinds & kReturn) != 0)
      fail("a line feed at the end of each line", "a carriage return within the line");
    if ((fields.byte_kinds & kNotAscii) != 0 && !is_utf8(text_)) fail("UTF-8", "invalid bytes");
    if (layout_ == nullptr) choose_layout(fields.count);
    if (fields.count != layout_->field_count) check_text_after(fields);
    for (const std::size_t i : {kQueryField, kDocumentField}) {
      if (fields.texts[i].size() <= kMaxTrecKey) continue;
      fail("a name of at most " + std::to_string(kMaxTrecKey) + " bytes as field " +
               std::to_string(i + 1),
           std::to_string(fields.texts[i].size()));
    }
    const double number = layout_ == &kQrels ? parse_grade(fields) : parse_score(fields);
    append(columns_.queries, fields.texts[kQueryField]);
    append(columns_.documents, fields.texts[kDocumentField]);
    columns_.numbers.push_back(number);
  }

  // Ignores text after the tag, as trec_eval does, unless it is another row.
  void check_text_after(const Fields& fields) const {
    if (fields.count < layout_->field_count || !layout_->has_text_after)
      fail(std::string(layout_->description), std::to_string(fields.count));
    const std::string_view tag = fields.texts[kRun.field_count - 1];
    const Fields after = split_fields(
        text_.substr(static_cast<std::size_t>(tag.data() + tag.size() - text_.data())));
    // If only the line feed is missing, the next row's query may be part of the tag.
    for (const std::size_t iteration : {std::size_t{0}, std::size_t{1}}) {
      if (after.count >= iteration + kRun.field_count - 1 &&
          after.texts[iteration] == fields.texts[1] &&
          parse_number(after.texts[iteration + kRun.number_field - 1])) {
        fail("one row per line", "two rows");
      }
    }
  }

  void choose_layout(std::size_t field_count) {
    for (const Layout* layout : {&kQrels, &kRun}) {
      if (field_count == layout->field_count ||
          (field_count > layout->field_count && layout->has_text_after)) {
        layout_ = layout;
      }
    }
    if (layout_ == nullptr) {
      fail(std::string(kQrels.description) + " or " + std::string(kRun.description),
           std::to_string(field_count));
    }
  }

  double parse_grade(const Fields& fields) {
    const std::string_view field = fields.texts[kQrels.number_field];
    const auto grade = parse_integer(field);
    if (!grade || *grade > kMaxGrade || *grade < -kMaxGrade) {
      fail("an integer of at most 2^53 as grade, field 4", quote(field));
    }
    return static_cast<double>(*grade);
  }

  double parse_score(const Fields& fields) {
    const std::string_view field = fields.texts[kRun.number_field];
    const auto score = parse_number(field);
    if (!score) fail("a number that float64 holds as score, field 5", quote(field));
    return *score;
  }

  [[noreturn]] void fail(std::string expected, std::string found) const {
    throw LineError({.line = line_,
                     .expected = std::move(expected),
                     .found = std::move(found),
                     .text = std::string(text_.substr(0, kMaxLineExcerpt))});
  }

  const Layout* layout_ = nullptr;
  Count line_ = 0;
  std::string_view text_;     // the current line
  std::string partial_line_;  // start of a line that continues in the next part
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
