#include "exactk/trec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "exactk/number_syntax.hpp"
#include "exactk/strings.hpp"

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
constexpr std::size_t kIterationField = 1;
constexpr std::size_t kDocumentField = 2;
constexpr std::size_t kRankField = 3;
constexpr std::size_t kTagField = 5;
constexpr double kFirstTime = 1e8;  // timestamps in seconds or milliseconds
constexpr double kTimeEnd = 1e14;

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

std::string_view last(const StringColumn& column) {
  if (column.offsets.size() < 2) return {};
  const auto begin = static_cast<std::size_t>(column.offsets[column.offsets.size() - 2]);
  return {reinterpret_cast<const char*>(column.bytes.data()) + begin, column.bytes.size() - begin};
}

void append(StringColumn& column, std::string_view text) {
  column.bytes.insert(column.bytes.end(), text.begin(), text.end());
  column.offsets.push_back(static_cast<Offset>(column.bytes.size()));
}

bool is_integer(double number) { return std::trunc(number) == number; }

bool is_time(double number) {
  return number >= kFirstTime && number < kTimeEnd && is_integer(number);
}

// Returns whether the text is digits, perhaps with a fraction.
bool is_plain_number(std::string_view text) {
  bool has_digit = false;
  std::size_t points = 0;
  for (const char byte : text) {
    const bool is_digit = byte >= '0' && byte <= '9';
    has_digit |= is_digit;
    points += byte == '.' ? 1 : 0;
    if (!is_digit && byte != '.') return false;
  }
  return has_digit && points <= 1;
}

// Compares short texts faster than a call of memcmp.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Parses a rank: fast if it is up to nine digits, as almost all are.
std::optional<double> parse_rank(std::string_view text) {
  std::int32_t rank = 0;
  for (const char byte : text) {
    if (byte < '0' || byte > '9' || text.size() > 9) return parse_number(text);
    rank = (10 * rank) + (byte - '0');
  }
  return rank;
}

std::string_view text_of(const StringColumn& column, std::size_t row) {
  const auto begin = static_cast<std::size_t>(column.offsets[row]);
  const auto end = static_cast<std::size_t>(column.offsets[row + 1]);
  return {reinterpret_cast<const char*>(column.bytes.data()) + begin, end - begin};
}

struct Ranked {
  double rank;
  double score;
};

// Returns whether a better rank has a lower score; the rows are in the order of ranks.
bool contradict(const std::vector<Ranked>& rows) {
  double lowest_before = std::numeric_limits<double>::infinity();
  double lowest = lowest_before;  // of this rank and better ones
  double rank = rows.front().rank;
  for (const Ranked& row : rows) {
    if (row.rank > rank) lowest_before = lowest;
    rank = row.rank;
    if (row.score > lowest_before) return true;
    lowest = std::min(row.score, lowest);
  }
  return false;
}

// Returns whether the scores are 1 to n or 0 to n - 1, or such integers with some repeated.
bool are_counted(const std::vector<Ranked>& rows) {
  const auto range = static_cast<double>(rows.size() - 1);
  double lowest = rows.front().score;
  double highest = lowest;
  for (const Ranked& row : rows) {
    if (row.score < 0 || row.score > range + 1 || !is_integer(row.score)) return false;
    lowest = std::min(lowest, row.score);
    highest = std::max(highest, row.score);
  }
  return lowest <= 1 && highest - lowest == range;
}

// Gathers facts of the rows, most of them by a comparison with the row before.
class FactGatherer {
 public:
  void set_is_run(bool is_run) { facts_.is_run = is_run; }

  // `sample` describes the row.
  template <class Sampler>
  void add_row(const Fields& fields, std::string_view previous_query, double number,
               const Sampler& sample) {
    const bool is_first = facts_.rows++ == 0;
    const std::string_view iteration = fields.texts[kIterationField];
    if (is_first || !is_same(iteration, last_iteration_)) add_iteration(iteration, sample);
    if (!facts_.is_run) {
      if (is_time(number)) ++facts_.times;
      return;
    }
    if (is_first || !is_same(fields.texts[kQueryField], previous_query))
      blocks_.push_back(ranks_.size());
    add_rank(fields, number, sample);
    const std::string_view tag = fields.texts[kTagField];
    if (is_first || !is_same(tag, last_tag_)) {
      facts_.tags_vary = !is_first;
      facts_.tags_are_numbers = facts_.tags_are_numbers && parse_number(tag).has_value();
      last_tag_ = tag;
    }
  }

  // Returns the facts, completed by those that need all rows.
  TrecFacts finish(const TrecColumns& columns) {
    const bool is_usual = facts_.iterations.size() == 1 &&
                          (facts_.iterations[0] == "0" || facts_.iterations[0] == "Q0");
    if (!is_usual) add_documents(columns);
    if (ranks_vary_) compare_ranks(columns);
    return std::move(facts_);
  }

 private:
  void add_documents(const TrecColumns& columns) {
    for (std::size_t row = 0; row < columns.numbers.size(); ++row) {
      facts_.documents_are_numbers = is_plain_number(text_of(columns.documents, row));
      if (!facts_.documents_are_numbers) return;
    }
  }

  // Compares the order of ranks with that of scores, per query.
  void compare_ranks(const TrecColumns& columns);
  void compare_query(std::vector<Ranked>& rows, std::size_t first_row);

  template <class Sampler>
  void add_iteration(std::string_view iteration, const Sampler& sample) {
    last_iteration_ = iteration;
    if (facts_.iterations.size() > kMaxTrecIterations ||
        std::ranges::find(facts_.iterations, iteration) != facts_.iterations.end())
      return;
    facts_.iterations.emplace_back(iteration);
    if (facts_.iterations.size() == 2) facts_.other_iteration = sample();
  }

  template <class Sampler>
  void add_rank(const Fields& fields, double score, const Sampler& sample) {
    const auto rank = parse_rank(fields.texts[kRankField]);
    const double number = rank.value_or(std::numeric_limits<double>::quiet_NaN());
    ranks_.push_back(static_cast<float>(number));
    ranks_vary_ |= ranks_.back() != ranks_.front();
    if (is_time(number)) ++facts_.times;
    if (is_time(score)) ++facts_.score_times;
    if (number == score) ++facts_.copied_ranks;
    if (!rank && facts_.rank_text.line == 0) facts_.rank_text = sample();
    if (rank && facts_.fraction_rank.line == 0 && !is_integer(*rank))
      facts_.fraction_rank = sample();
    if (fields.count > kRun.field_count && facts_.shifted.line == 0 && is_integer(score) &&
        parse_number(fields.texts[kTagField]))
      facts_.shifted = sample();
  }

  TrecFacts facts_;
  std::string last_iteration_;
  std::string last_tag_;
  std::vector<float> ranks_;         // exact up to 2^24, beyond which they may tie
  std::vector<std::size_t> blocks_;  // the first rows of successive rows of one query
  bool ranks_vary_ = false;
};

void FactGatherer::compare_ranks(const TrecColumns& columns) {
  // A query's blocks are a chain, for its rows may be anywhere.
  std::unordered_map<std::string_view, std::size_t> last_blocks;
  std::vector<std::size_t> next_blocks(blocks_.size(), 0);
  std::vector<bool> is_first(blocks_.size(), true);
  last_blocks.reserve(blocks_.size());
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const auto [last, is_new] =
        last_blocks.try_emplace(text_of(columns.queries, blocks_[block]), block);
    if (is_new) continue;
    is_first[block] = false;
    next_blocks[last->second] = block;
    last->second = block;
  }
  blocks_.push_back(ranks_.size());
  std::vector<Ranked> rows;
  for (std::size_t first = 0; first < next_blocks.size(); ++first) {
    if (!is_first[first]) continue;
    rows.clear();
    std::size_t next = first;
    for (bool is_last = false; !is_last; is_last = next == 0) {
      const std::size_t block = next;
      for (std::size_t row = blocks_[block]; row < blocks_[block + 1]; ++row) {
        const Ranked ranked = {.rank = ranks_[row], .score = columns.numbers[row]};
        if (!std::isnan(ranked.rank) && !std::isnan(ranked.score)) rows.push_back(ranked);
      }
      next = next_blocks[block];
    }
    compare_query(rows, blocks_[first]);
  }
}

void FactGatherer::compare_query(std::vector<Ranked>& rows, std::size_t first_row) {
  const auto is_before = [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; };
  if (!std::ranges::is_sorted(rows, is_before)) std::ranges::sort(rows, is_before);
  if (rows.empty() || rows.front().rank == rows.back().rank) return;
  ++facts_.queries;
  if (contradict(rows) && ++facts_.contradicted == 1)
    facts_.first_contradicted = static_cast<Count>(first_row);
  if (are_counted(rows)) ++facts_.counted_scores;
  if (rows.front().rank == 0 || rows.front().rank == 1) ++facts_.counted_ranks;
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
    columns_.facts = gatherer_.finish(columns_);
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
    gatherer_.set_is_run(layout_ == &kRun);
    if (fields.count != layout_->field_count) check_text_after(fields);
    for (const std::size_t i : {kQueryField, kDocumentField}) {
      if (fields.texts[i].size() <= kMaxTrecKey) continue;
      fail("a name of at most " + std::to_string(kMaxTrecKey) + " bytes as field " +
               std::to_string(i + 1),
           std::to_string(fields.texts[i].size()));
    }
    const double number = layout_ == &kQrels ? parse_grade(fields) : parse_score(fields);
    gatherer_.add_row(fields, last(columns_.queries), number, [this] { return sample(); });
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

  [[nodiscard]] TrecSample sample() const {
    return {.line = line_, .text = std::string(text_.substr(0, kMaxLineExcerpt))};
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
  FactGatherer gatherer_;
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
