// MemoryReader: a memory block as it reads now, defaults in place of what is unset. A pending
// transaction is visible.
//
// Cheap to make and to throw away. Belongs to the document's strand; the document and the schema
// outlive it. A section is named as in field_path.h, "" is none; where one is asked for, the errors
// are those of locate(): section_required, section_not_found.
//
// What other programs wrote may be of any type: it is given as it is, and the schema says what it
// should have been.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "memory/block_schema.h"
#include "memory/field_path.h"

namespace quire::memory {

class MemoryReader {
public:
    MemoryReader(crdt::Doc& doc, const BlockSchema& schema) : doc_(doc), schema_(schema) {}

    crdt::Doc& doc() const { return doc_; }
    const BlockSchema& schema() const { return schema_; }

    // Of a Text, valid until the document changes. Errors: schema_mismatch.
    Result<const seq::Rope*> text(std::string_view section = {}) const;

    // Of a Map; none for a field that is unset and has no default. A Counter is never unset.
    // Errors: schema_mismatch, field_not_found.
    Result<std::optional<Value>> field(const FieldPath& path) const;
    // The same for a field that the caller has found in the schema.
    std::optional<Value> value_of_field(std::string_view section, const Field& field) const;

    // How many items or entries. Errors: schema_mismatch for other schemas.
    Result<std::size_t> size(std::string_view section = {}) const;
    // An item or an entry, 0-based, an item's defaults filled in; entries are oldest first. O(log
    // n). Errors: out_of_range "index_out_of_bounds" {index, len}; schema_mismatch.
    Result<Value> at(std::string_view section, std::int64_t index) const;

    // All of it: a string; an object of the fields that are set or have a default, in the order of
    // the schema; an array; an object of sections. O(content).
    Value value() const { return read_all(schema_, ""); }
    Result<Value> value(std::string_view section) const;

    // Fields that are required and read as nothing, in order.
    std::vector<FieldPath> missing() const;

private:
    Value read_all(const BlockSchema& schema, std::string_view section) const;
    Result<crdt::Handle> sequence(std::string_view section) const;
    Value element(const BlockSchema& schema, crdt::Handle list, std::size_t index) const;
    std::optional<Value> list_field(std::string_view section, const Field& field) const;
    void find_missing(const BlockSchema& schema, const std::string& section,
                      std::vector<FieldPath>& out) const;

    crdt::Doc& doc_;
    const BlockSchema& schema_;
};

// A number without a fraction as an integer, where it is exact.
Value number_of(double number);
// out_of_range "index_out_of_bounds" {index, len}.
Failure index_out_of_bounds(std::int64_t index, std::size_t len);
// Whether root/FIELD holds all of a field's value: null stands under its name in `root`.
bool is_set_apart(const crdt::Doc& doc, crdt::Handle root, std::string_view field);

}  // namespace quire::memory
