// MemoryReader: the present content of a memory block, with defaults for unset fields. A pending
// transaction is visible.
//
// Cheap to make and to discard. Belongs to the document's strand; document and schema must outlive
// it. Sections are named as in field_path.h, "" is the block itself; functions with a section have
// the errors of locate(): section_required, section_not_found.
//
// Other programs may have written values of any type: they are returned as they are, and the schema
// tells what they should have been.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "memory/block_schema.h"
#include "memory/field_path.h"

namespace quire::seq {
class Rope;
}

namespace quire::memory {

// The items of a List or the entries of a Log, the oldest first. Holds as long as the reader.
class Elements {
public:
    std::size_t size() const;
    // An item with its defaults, or an entry. Requires index < size(). O(log n).
    Value operator[](std::size_t index) const;

private:
    friend class MemoryReader;
    Elements(crdt::Doc& doc, const BlockSchema& schema, crdt::Handle list)
        : doc_(doc), schema_(schema), list_(list) {}

    crdt::Doc& doc_;
    const BlockSchema& schema_;
    crdt::Handle list_;
};

// A view of one document through one schema.
class MemoryReader {
public:
    MemoryReader(crdt::Doc& doc, const BlockSchema& schema) : doc_(doc), schema_(schema) {}

    crdt::Doc& doc() const { return doc_; }
    const BlockSchema& schema() const { return schema_; }

    // The text of a Text, valid until the document changes. Errors: schema_mismatch.
    Result<const seq::Rope*> text(std::string_view section = {}) const;

    // A field of a Map; nothing if it is unset and has no default. A Counter is never unset.
    // Errors: schema_mismatch, field_not_found.
    Result<std::optional<Value>> field(const FieldPath& path) const;
    // Like field(), for a field that the caller found in the schema.
    std::optional<Value> value_of_field(std::string_view section, const Field& field) const;
    // Calls take(field, value) for the fields of a Map, in order. Finds the Map's container once.
    template <class Take>
    void for_each_field(const MapSchema& map, std::string_view section, Take take) const {
        const crdt::Handle root = root_of_map(section);
        for (const Field& each : map.fields) take(each, value_in(root, section, each));
    }

    // Errors: schema_mismatch for other schemas than a List and a Log.
    Result<Elements> elements(std::string_view section = {}) const;
    // The number of elements. Errors: those of elements().
    Result<std::size_t> size(std::string_view section = {}) const;
    // An element, 0-based. Errors also: out_of_range "index_out_of_bounds" {index, len}.
    Result<Value> at(std::string_view section, std::int64_t index) const;

    // The whole content: a string; an object of the fields that are set or have a default, in
    // schema order; an array; an object of sections. O(content).
    Value value() const { return read_all(schema_, ""); }
    Result<Value> value(std::string_view section) const;

    // The required fields that have no value, in order.
    std::vector<FieldPath> missing() const;

private:
    Value read_all(const BlockSchema& schema, std::string_view section) const;
    crdt::Handle root_of_map(std::string_view section) const;
    std::optional<Value> value_in(crdt::Handle root, std::string_view section,
                                  const Field& field) const;
    std::optional<Value> list_in(crdt::Handle root, std::string_view section,
                                 const Field& field) const;
    void find_missing(const BlockSchema& schema, const std::string& section,
                      std::vector<FieldPath>& out) const;

    crdt::Doc& doc_;
    const BlockSchema& schema_;
};

// 2^53. Beyond it doubles lie further apart than 1, so they do not hold every whole number.
inline constexpr std::int64_t kExactWhole = std::int64_t{1} << 53;
// A number without fraction becomes an integer if that is exact.
Value number_of(double number);
// The error out_of_range "index_out_of_bounds" {index, len}.
Failure index_out_of_bounds(std::int64_t index, std::size_t len);
// Returns true if root/FIELD holds the whole value of the field, which null in `root` marks.
bool is_set_apart(const crdt::Doc& doc, crdt::Handle root, std::string_view field);

}  // namespace quire::memory
