#include "arrow_table.hpp"

#include <atomic>
#include <memory>
#include <string_view>

#include "gil.hpp"

namespace exactk::bindings {
namespace {

// Makes the stream write a struct. The producer of the batches may need the GIL.
template <class Struct>
void read_struct(int (*get)(ArrowArrayStream*, Struct*), ArrowArrayStream& stream, Struct& value,
                 const std::string& argument) {
  const auto get_value = [&] {
    const GilRelease release;
    return get(&stream, &value);
  };
  if (get_value() == 0) return;
  const char* const message =
      stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream);
  const std::string found = message == nullptr ? "an error" : message;
  if (found.find("KeyboardInterrupt") !=
      std::string::npos) {  // a Python exception survives only as text
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
  throw InputError(
      {.argument = argument, .expected = "an Arrow stream that can be read", .found = found});
}

}  // namespace

ArrowTable::ArrowTable(const py::capsule& capsule, const std::string& argument) {
  if (capsule.name() == nullptr || std::string_view(capsule.name()) != "arrow_array_stream")
    refuse_arrow(argument, "a capsule of an Arrow stream", "another capsule");
  // Moves the stream out of the capsule, as consumers must, so it cannot be consumed twice.
  auto& source = *capsule.get_pointer<ArrowArrayStream>();
  OwnedStruct<ArrowArrayStream> stream;
  stream.value = source;
  stream.value.release = std::atomic_ref(source.release).exchange(nullptr);
  if (stream.value.release == nullptr)
    refuse_arrow(argument, "an unread Arrow stream", "a stream that was read before");
  if (stream.value.get_schema == nullptr || stream.value.get_next == nullptr)
    refuse_arrow(argument, "an Arrow stream", "an invalid stream");
  auto schema = std::make_shared<OwnedStruct<ArrowSchema>>();
  read_struct(stream.value.get_schema, stream.value, schema->value, argument);
  if (schema->value.release == nullptr)
    refuse_arrow(argument, "an Arrow schema", "a released schema");
  check_schema(schema->value, argument);
  schema_ = std::move(schema);
  while (read_batch(stream.value, argument)) poll_signals();
}

std::vector<std::pair<std::string, ArrowColumn>> ArrowTable::columns() const {
  const ArrowSchema& schema = schema_->value;
  const bool is_struct = std::string_view(schema.format) == "+s";
  std::vector<std::pair<std::string, ArrowColumn>> columns;
  for (std::int64_t i = 0; i < (is_struct ? schema.n_children : 1); ++i) {
    const ArrowSchema* const column = is_struct ? schema.children[i] : &schema;
    columns.emplace_back(column->name == nullptr ? "" : column->name,
                         ArrowColumn(schema_, column, pieces(is_struct, i)));
  }
  return columns;
}

bool ArrowTable::read_batch(ArrowArrayStream& stream, const std::string& argument) {
  auto batch = std::make_shared<OwnedStruct<ArrowArray>>();
  read_struct(stream.get_next, stream, batch->value, argument);
  if (batch->value.release == nullptr) return false;
  const ArrowSchema& schema = schema_->value;
  const bool is_struct = std::string_view(schema.format) == "+s";
  check_array(schema, batch->value, argument);
  if (is_struct) {
    const Piece rows{batch, &batch->value, batch->value.offset, batch->value.length};
    const auto [nulls, first] = count_nulls(rows);
    if (nulls > 0) refuse_arrow(argument, "rows without null", "null", rows_ + first, nulls);
  }
  if (batch->value.length > kMaxRows - rows_)
    refuse_arrow(argument, "at most " + std::to_string(kMaxRows) + " rows", "more");
  rows_ += batch->value.length;
  batches_.push_back(std::move(batch));
  return true;
}

std::vector<Piece> ArrowTable::pieces(bool is_struct, std::int64_t column) const {
  std::vector<Piece> column_pieces;
  for (const Batch& batch : batches_) {
    const ArrowArray& root = batch->value;
    if (is_struct) {  // a column begins at the batch's first row
      const ArrowArray* const child = root.children[column];
      column_pieces.push_back({batch, child, child->offset + root.offset, root.length});
    } else {
      column_pieces.push_back({batch, &root, root.offset, root.length});
    }
  }
  return column_pieces;
}

}  // namespace exactk::bindings
