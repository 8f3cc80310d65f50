// BlockSchema: the shape of a memory block. A value. Schemas from outside are made by
// schema_form.h, which guarantees the invariants: names are unique, not empty, at most 128 code
// points, without control characters, and a section's without '/'; defaults have their field's
// type; nesting is at most kMaxDepth deep, with at most kMaxNames fields and sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "memory/field.h"

namespace quire::memory {

inline constexpr std::size_t kMaxDepth = 8;
inline constexpr std::size_t kMaxNames = 1024;
inline constexpr std::size_t kMaxNameLength = 128;

class BlockSchema;

// A schema inside a schema: shared because it never changes, compared by content.
class Nested {
public:
    Nested(BlockSchema schema);  // NOLINT(google-explicit-constructor)
    const BlockSchema& operator*() const { return *schema_; }
    const BlockSchema* operator->() const { return schema_.get(); }
    friend bool operator==(const Nested& a, const Nested& b);

private:
    std::shared_ptr<const BlockSchema> schema_;
};

// The lines of a text that are shown.
struct Viewport {
    std::size_t start_line = 1;  // 1-based.
    std::size_t display_lines = 1;
    friend bool operator==(const Viewport&, const Viewport&) = default;
};

struct TextSchema {
    std::optional<Viewport> viewport = {};
    friend bool operator==(const TextSchema&, const TextSchema&) = default;
};

struct MapSchema {
    std::vector<Field> fields;
    friend bool operator==(const MapSchema&, const MapSchema&) = default;
};

struct ListSchema {
    std::optional<Nested> item_schema = {};  // None: an item is any value.
    std::optional<std::size_t> max_items = {};
    friend bool operator==(const ListSchema&, const ListSchema&) = default;
};

// The members of a log entry beside its fields. An entry schema without fields is open: a text
// becomes the "message", and an object may have any members.
struct EntrySchema {
    bool timestamp = true;
    bool agent_id = true;
    std::vector<Field> fields = {};
    friend bool operator==(const EntrySchema&, const EntrySchema&) = default;
};

// Bounds of a log. The kernel trims a log to its bounds once an append exceeds one by a tenth.
struct Retain {
    std::optional<std::size_t> max_entries = {};
    std::optional<std::int64_t> max_age_s = {};
    friend bool operator==(const Retain&, const Retain&) = default;
};

struct LogSchema {
    // The number of newest entries that are shown.
    std::size_t display_limit = 20;
    EntrySchema entry = {};
    std::optional<Retain> retain = {};
    friend bool operator==(const LogSchema&, const LogSchema&) = default;
};

// A named part of a Composite.
struct Section {
    std::string name;
    Nested schema;
    std::string description = {};
    bool read_only = false;  // Only sources and the system may write into it.
    friend bool operator==(const Section&, const Section&) = default;
};

struct CompositeSchema {
    std::vector<Section> sections;
    friend bool operator==(const CompositeSchema&, const CompositeSchema&) = default;
};

// A copy shares the content, which never changes, so that copies are cheap to make and to compare.
class BlockSchema {
public:
    using Shape = std::variant<TextSchema, MapSchema, ListSchema, LogSchema, CompositeSchema>;

    // NOLINTBEGIN(google-explicit-constructor)
    BlockSchema(TextSchema shape = {}) : BlockSchema(Shape(shape)) {}
    BlockSchema(MapSchema shape) : BlockSchema(Shape(std::move(shape))) {}
    BlockSchema(ListSchema shape) : BlockSchema(Shape(std::move(shape))) {}
    BlockSchema(LogSchema shape) : BlockSchema(Shape(std::move(shape))) {}
    BlockSchema(CompositeSchema shape) : BlockSchema(Shape(std::move(shape))) {}
    // NOLINTEND(google-explicit-constructor)

    const Shape& shape() const { return *shape_; }
    template <class S>
    const S* as() const {
        return std::get_if<S>(shape_.get());
    }
    std::string_view name() const;  // "Text", "Map", "List", "Log" or "Composite".

    // The field of a Map; null if there is none, or if this is no Map. O(fields).
    const Field* field(std::string_view name) const;
    // The section of a Composite, not of nested ones; null if there is none.
    const Section* section(std::string_view name) const;

    // Returns true if agents may not write the field; nothing if there is no such field.
    std::optional<bool> is_field_read_only(std::string_view name) const;
    // In schema order; empty if this is no Map.
    std::vector<std::string> read_only_fields() const;
    // Nothing if there is no such section.
    std::optional<bool> is_section_read_only(std::string_view name) const;
    // Returns null if there is no such section.
    const BlockSchema* get_section_schema(std::string_view name) const;

    friend bool operator==(const BlockSchema& a, const BlockSchema& b) {
        return a.shape_ == b.shape_ || *a.shape_ == *b.shape_;
    }

private:
    explicit BlockSchema(Shape shape) : shape_(std::make_shared<const Shape>(std::move(shape))) {}

    std::shared_ptr<const Shape> shape_;  // Never null, except in a schema that was moved from.
};

const Field* find_field(const std::vector<Field>& fields, std::string_view name);

}  // namespace quire::memory
