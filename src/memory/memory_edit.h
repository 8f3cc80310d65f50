// MemoryEdit: all operations that write a memory block.
//
// Each write passes the gate (gate.h), then its value is checked against the schema, and only then
// is anything changed: a write is made whole or not at all. It adds ops to the document's pending
// transaction; committing is left to the caller, or to an AfterWrite. last() describes the last
// write as an attribution.
//
// Sections and containers are named as in field_path.h. Errors, beside those of admit(): those of
// check_field(), check_length() and check_count() (validate.h); index_out_of_bounds {index, len};
// conflict "no_match". Thread-confined, like the document; document and block must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/gate.h"
#include "memory/memory_block.h"
#include "memory/memory_reader.h"
#include "policy/attribution.h"
#include "text/units.h"

namespace quire::memory {

// Is called after each successful write.
class AfterWrite {
public:
    virtual ~AfterWrite() = default;
    virtual void wrote(const policy::Attribution& what) = 0;
};

// A writer's access to one block, for one or more writes.
class MemoryEdit {
public:
    // `now_ms`: milliseconds since 1970, for the entries of logs.
    MemoryEdit(crdt::Doc& doc, const MemoryBlock& block, Writer by, std::int64_t now_ms,
               AfterWrite* after = nullptr)
        : doc_(doc),
          block_(block),
          by_(std::move(by)),
          now_ms_(now_ms),
          after_(after),
          reader_(doc, block.schema),
          last_{by_.actor, "", ""} {}

    const MemoryReader& reader() const { return reader_; }
    // The last successful write; its operation is empty before the first.
    const policy::Attribution& last() const { return last_; }

    // --- Text ---
    // Makes the smallest edit after which the text reads so.
    Result<void> set_text(std::string_view section, std::string_view text);
    Result<void> append_text(std::string_view section, std::string_view text);
    // Replaces every occurrence, from the front, without overlaps, and returns their number. Errors
    // also: invalid_argument "empty_find".
    Result<std::size_t> replace_text(std::string_view section, std::string_view find,
                                     std::string_view replace);
    // Applies splices (splices.h) under the given operation name. Inserting at the end counts as an
    // append.
    Result<void> splice_text(std::string_view section, std::string_view operation,
                             std::span<const text::Splice> splices);

    // --- fields of a Map ---
    // null unsets, unless the field is required and has no default. A List is changed by a minimal
    // list edit, a Counter by the difference. A Text of more than kLongText code points becomes a
    // text container from then on, merged by character.
    Result<void> set_field(const FieldPath& path, Value value);
    // Sets a Text field that is kept as a text container from now on, whatever its length.
    Result<void> set_text_field(const FieldPath& path, std::string_view text);
    // Adds to a Counter, or reads and sets a Number. Returns the new value.
    Result<Value> increment_counter(const FieldPath& path, const Value& delta);

    // --- List fields; without a field, the items of a List ---
    Result<void> append_to_list(const FieldPath& path, Value item);
    // Inserts before the element at `index`; the length appends.
    Result<void> insert_into_list(const FieldPath& path, std::int64_t index, Value item);
    // Changes the element at `index`. An item of a List keeps its map: only the members that differ
    // are written. An element of a List field is replaced.
    Result<void> set_in_list(const FieldPath& path, std::int64_t index, Value item);
    // Changes one member of an element that is an object; null removes it.
    Result<void> set_member_in_list(const FieldPath& path, std::int64_t index,
                                    const std::string& member, Value value);
    // Returns the removed element.
    Result<Value> remove_from_list(const FieldPath& path, std::int64_t index);

    // --- items of a List ---
    // An object is stored as a map, so setting one of its fields leaves the others alone.
    Result<void> push_item(std::string_view section, Value item);
    Result<void> insert_item(std::string_view section, std::int64_t index, Value item);
    // Equal members are left alone; missing ones are removed, except those that the writer may not
    // write.
    Result<void> set_item(std::string_view section, std::int64_t index, Value item);
    // Requires an item that is an object; null removes the field.
    Result<void> set_item_field(std::string_view section, std::int64_t index,
                                const std::string& field, Value value);
    Result<Value> delete_item(std::string_view section, std::int64_t index);

    // --- Log ---
    // A text or an object (accept_entry(), validate.h). Its agent_id is the writer; an entry of an
    // agent or a person that names another is refused as a read-only field. The default timestamp
    // is now.
    Result<void> append_entry(std::string_view section, Value entry);
    // Drops the oldest entries that the schema does not retain, and returns their number. Counts as
    // overwriting.
    Result<std::size_t> trim_log(std::string_view section);
    // Returns true if a log exceeds its `retain` bounds by more than a tenth. The tenth keeps a full log from
    // being trimmed after each append.
    bool is_trim_due(std::string_view section) const;

    // Appends according to the schema: text to a Text, an item to a List, an entry to a Log.
    // Errors: schema_mismatch for the others.
    Result<void> append(std::string_view section, Value content);

private:
    struct ListField;
    Result<const BlockSchema*> enter(const Write& write) const;
    // Returns true if the entry's timestamp is older than this; false if it has none.
    bool is_older(std::string_view section, std::size_t index, std::int64_t age_s) const;
    Result<const Field*> enter_field(policy::Operation operation, const FieldPath& path) const;
    Result<ListField> enter_list_field(policy::Operation operation, const FieldPath& path) const;
    Result<ListField> enter_list_element(const FieldPath& path, std::int64_t index) const;
    Value element_of(const ListField& list, const FieldPath& path, std::int64_t index) const;
    std::size_t place_of(const ListField& list, std::int64_t index);
    // Records who wrote and what. The detail is the section, the field or both: "SECTION/FIELD".
    void done(std::string_view operation, const FieldPath& path);
    void done(std::string_view operation, std::string_view detail);

    Result<void> unset(const FieldPath& path, const Field& field);
    void put(const FieldPath& path, const Field& field, Value value);
    void put_long_text(const FieldPath& path, const Field& field, std::string_view text);
    void put_list(const FieldPath& path, const Field& field, const List& value);
    void set_apart(const ListField& list);

    Result<void> insert_item_at(policy::Operation operation, std::string_view section,
                                std::int64_t index, Value item);
    void insert_element(crdt::Handle list, std::size_t at, Value item);
    Result<crdt::Handle> item_list(std::string_view section, std::int64_t index) const;
    Value stored_item(crdt::Handle list, std::size_t at) const;
    void put_item(crdt::Handle list, std::size_t at, Value wanted,
                  const std::vector<std::string>& keys);
    void put_members(crdt::Handle item, const Map& members, const std::vector<std::string>& keys);

    crdt::Doc& doc_;
    const MemoryBlock& block_;
    Writer by_;
    std::int64_t now_ms_;
    AfterWrite* after_;
    MemoryReader reader_;
    policy::Attribution last_;
};

// A Text field longer than this, in code points, is merged by character.
inline constexpr std::size_t kLongText = 256;

}  // namespace quire::memory
