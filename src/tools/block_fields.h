// Blocks as JSON: the row of a list, and the events of a subscription.
//
// The members and their order are published: clients rely on them. The structs are the kernel's,
// which knows no JSON, so their descriptions stand here. A required member is always there. An
// optional one is left out where it says nothing, and a nullable one is null then.
#pragma once

#include "json/fields.h"
#include "kernel/core/block_event.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/feed_calls.h"

namespace quire::json {

// Three flags among the members of their block; one that is not set is left out.
template <>
struct FieldsOf<conversation::Marks> {
    static Fields<conversation::Marks> fields() {
        using conversation::Marks;
        return Fields<Marks>()
            .optional("excluded", &Marks::excluded)
            .optional("collapsed", &Marks::collapsed)
            .optional("ephemeral", &Marks::ephemeral);
    }
};
// A row of a list. `summary` is the first line that is not blank; `dirty` says that a file's edits
// are not on the disk; `reason` says why the status is what it is, as after a writer that is gone.
// The label and the owner of a memory block are not among the members: lists have no memory blocks.
template <>
struct FieldsOf<kernel::BlockInfo> {
    static Fields<kernel::BlockInfo> fields() {
        using kernel::BlockInfo;
        return Fields<BlockInfo>()
            .required("block_id", &BlockInfo::block_id)
            .nullable("parent_id", &BlockInfo::parent_id)
            .required("role", &BlockInfo::role)
            .required("kind", &BlockInfo::kind)
            .required("status", &BlockInfo::status)
            .nullable("path", &BlockInfo::path)
            .required("summary", &BlockInfo::summary)
            .required("version", &BlockInfo::version)
            .required("line_count", &BlockInfo::line_count)
            .required("bytes", &BlockInfo::bytes)
            .required("dirty", &BlockInfo::dirty)
            .members(FieldsOf<conversation::Marks>::fields(), &BlockInfo::marks)
            .optional("reason", &BlockInfo::reason);
    }
};

// An edit of an event. Lines count from 0 in the version before, and the end is not included, in
// every profile: events are for programs that keep a copy.
template <>
struct FieldsOf<edits::LineChange> {
    static Fields<edits::LineChange> fields() {
        using edits::LineChange;
        return Fields<LineChange>()
            .required("start", &LineChange::start)
            .required("end", &LineChange::end)
            .required("content", &LineChange::content);
    }
};
// One version of a block and what it changed. The members from `text` on belong to a type of event:
// `text` to appended, `edits` to replaced, `status` to status, `metadata` and the marks to
// metadata, `block` and `content` to created. `updates` has the operations instead, as Loro
// updates.
template <>
struct FieldsOf<kernel::BlockEvent> {
    static Fields<kernel::BlockEvent> fields() {
        using kernel::BlockEvent;
        return Fields<BlockEvent>()
            .required("block_id", &BlockEvent::block_id)
            .required("version", &BlockEvent::version)
            .required("actor", &BlockEvent::actor)
            .required("type", &BlockEvent::type)
            .optional("path", &BlockEvent::path)
            .optional("label", &BlockEvent::label)
            .optional("owner", &BlockEvent::owner)
            .optional("section", &BlockEvent::section)
            .optional("field", &BlockEvent::field)
            .optional("text", &BlockEvent::text)
            .optional("edits", &BlockEvent::edits)
            .optional("status", &BlockEvent::status)
            .optional("metadata", &BlockEvent::metadata)
            .members(FieldsOf<conversation::Marks>::fields(), &BlockEvent::marks)
            .optional("block", &BlockEvent::block)
            .optional("content", &BlockEvent::content)
            .optional("updates", &BlockEvent::updates);
    }
};
// A block and a version of it: [block_id, version]. A pair costs a model fewer words than an
// object, and lists of versions are long. Version 0 means that the caller has nothing of the block.
template <>
struct Codec<kernel::BlockAtVersion> {
    static Map schema() {
        return {{"type", "array"},
                {"prefixItems",
                 List{Map{{"type", "string"}}, Map{{"type", "integer"}, {"minimum", 0}}}},
                {"minItems", 2},
                {"maxItems", 2}};
    }
    static Read<kernel::BlockAtVersion> read(const Value& value) {
        constexpr std::string_view kWanted = "[block_id, version]";
        if (!value.is_list() || value.as_list().size() != 2) return wrong_type(kWanted, value);
        const List& pair = value.as_list();
        if (!pair[0].is_string() || !pair[1].is_int() || pair[1].as_int() < 0)
            return wrong_type(kWanted, value);
        return kernel::BlockAtVersion(pair[0].as_string(),
                                      static_cast<std::uint64_t>(pair[1].as_int()));
    }
    static Value encode(const kernel::BlockAtVersion& pair) {
        return List{pair.first, pair.second};
    }
};

}  // namespace quire::json
