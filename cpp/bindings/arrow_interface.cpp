#include "arrow_interface.hpp"

#include <utility>

#include "bindings.hpp"

namespace exactk::bindings {

void refuse_arrow(const std::string& argument, std::string expected, std::string found,
                  Count position, Count count) {
  throw TypeFault({.argument = argument,
                   .expected = std::move(expected),
                   .found = std::move(found),
                   .count = count,
                   .position = position});
}

namespace {

struct NamedType {
  std::string_view format;
  std::string_view name;
};

constexpr NamedType kTypes[] = {
    {"c", "int8"},    {"C", "uint8"},   {"s", "int16"},  {"S", "uint16"},  {"i", "int32"},
    {"I", "uint32"},  {"l", "int64"},   {"L", "uint64"}, {"e", "float16"}, {"f", "float32"},
    {"g", "float64"}, {"u", "string"},  {"U", "string"}, {"vu", "string"}, {"z", "bytes"},
    {"Z", "bytes"},   {"vz", "bytes"},  {"+l", "list"},  {"+L", "list"},   {"b", "bool"},
    {"n", "null"},    {"+s", "struct"}, {"tdD", "date"}, {"tdm", "date"}};

}  // namespace

std::string type_of(std::string_view format) {
  for (const auto& [type_format, name] : kTypes) {
    if (type_format == format) return std::string(name);
  }
  if (format.starts_with("w:")) return "bytes";
  if (format.starts_with("+w:")) return "list";
  if (format.starts_with("ts")) return "timestamp";
  if (format.starts_with("d:")) return "decimal";
  return "Arrow type " + std::string(format);
}

std::int64_t width_of(std::string_view format, const std::string& argument) {
  std::int64_t width = 0;
  const std::string_view digits = format.substr(format.find(':') + 1);
  if (digits.empty()) refuse_arrow(argument, "a width", "'" + std::string(format) + "'");
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || width > std::numeric_limits<std::int32_t>::max())
      refuse_arrow(argument, "a width", "'" + std::string(format) + "'");
    width = 10 * width + (digit - '0');
  }
  return width;
}

namespace {

constexpr int kMaxDepth = 64;  // of nested types; a schema may refer back to itself

// NOLINTNEXTLINE(misc-no-recursion): as deep as types are nested
void check_types(const ArrowSchema& schema, const std::string& argument, int depth) {
  if (schema.format == nullptr || schema.n_children < 0 || depth > kMaxDepth ||
      (schema.n_children > 0 && schema.children == nullptr))
    refuse_arrow(argument, "an Arrow schema", "an invalid schema");
  const std::string_view format = schema.format;
  if (format.starts_with("w:") || format.starts_with("+w:"))
    static_cast<void>(width_of(format, argument));
  const bool has_codes =
      format.size() == 1 && std::string_view("cCsSiIlL").find(format) != std::string_view::npos;
  if (schema.dictionary != nullptr && !has_codes)
    refuse_arrow(argument, "integer dictionary codes", type_of(format));
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i] == nullptr) refuse_arrow(argument, "an Arrow schema", "a null child");
    check_types(*schema.children[i], argument, depth + 1);
  }
  if (schema.dictionary != nullptr) check_types(*schema.dictionary, argument, depth + 1);
}

// Nulls are counted from the validity bitmap, so the producer's count only needs to be plausible.
bool has_sound_null_count(std::string_view format, const ArrowArray& array) {
  const bool has_bitmap = array.n_buffers > 0 && array.buffers[0] != nullptr;
  const bool needs_bitmap = array.null_count > 0 && format != "n" && !format.starts_with("+u") &&
                            !format.starts_with("+r");
  return array.null_count >= -1 && array.null_count <= array.length &&
         (has_bitmap || !needs_bitmap);
}

bool has_sound_size(std::string_view format, const ArrowArray& array, const std::string& argument) {
  if (array.length < 0 || array.offset < 0 || array.length > kMaxRows - array.offset) return false;
  if (!format.starts_with("w:") && !format.starts_with("+w:")) return true;
  const std::int64_t width = width_of(format, argument);
  return width == 0 || array.offset + array.length <= kMaxRows / width;
}

}  // namespace

void check_schema(const ArrowSchema& schema, const std::string& argument) {
  check_types(schema, argument, 0);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as types are nested
void check_array(const ArrowSchema& schema, const ArrowArray& array, const std::string& argument) {
  const std::string_view format = schema.format;
  const bool is_valid = has_sound_size(format, array, argument) && array.n_buffers >= 0 &&
                        (array.n_buffers == 0 || array.buffers != nullptr) &&
                        has_sound_null_count(format, array) &&
                        array.n_children == schema.n_children &&
                        (array.n_children == 0 || array.children != nullptr) &&
                        (array.dictionary == nullptr) == (schema.dictionary == nullptr);
  if (!is_valid) refuse_arrow(argument, "a batch that matches its schema", "an invalid batch");
  const std::int64_t rows = array.offset + array.length;
  for (std::int64_t i = 0; i < array.n_children; ++i) {
    if (array.children[i] == nullptr) {
      refuse_arrow(argument, "a batch that matches its schema", "a null child");
    }
    check_array(*schema.children[i], *array.children[i], argument);
    if (format == "+s" && array.children[i]->length < rows) {
      refuse_arrow(argument, "columns of " + std::to_string(rows) + " rows",
                   std::to_string(array.children[i]->length));
    }
  }
  if (array.dictionary != nullptr) check_array(*schema.dictionary, *array.dictionary, argument);
}

}  // namespace exactk::bindings
