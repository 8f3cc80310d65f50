// The places of a memory block's parts in its document.
//
// Every container is a root whose name follows from the schema, so that two replicas that begin a
// block at once make the same containers:
//
//   Text        content                                            Text
//   Map         root            Text, Number, Boolean, Timestamp   Map, last writer wins
//               root/FIELD      a List field                       List
//                               a Counter field                    Counter
//                               a long Text field                  Text, merged by character
//   List        items           an object as a Map of its own      List
//   Log         entries         objects                            List
//   Composite   section/NAME/…  the section, by the same rules; but a Map's
//               section:NAME:root, for Loro dies of updates to a Map whose name holds '/'
//
// null under FIELD in `root` says that the field was set and that its value is all in root/FIELD.
// Names stand in container names with '%', '/' and ':' escaped as %25, %2F and %3A.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/result.h"
#include "memory/block_schema.h"

namespace quire::crdt {
struct ContainerId;
}

namespace quire::memory {

// A field of a Map, or of a Map in a Composite: {"diagnostics", "status"}. An empty section means
// the block itself. A section within a section is named by both, with '/' between.
struct FieldPath {
    std::string section;
    std::string field;
    friend bool operator==(const FieldPath&, const FieldPath&) = default;
};

// The role of a container in its block.
enum class Part { content, root, value, items, entries };
constexpr auto words_of(Part) {
    return word_table("content", "root", "root/", "items", "entries");
}

struct Place {
    std::string section;  // "" if the block has no sections.
    Part part = Part::content;
    std::string field = {};  // Set for `value`.
    friend bool operator==(const Place&, const Place&) = default;
};

std::string container_name(const Place& place);
// The place of a root container of this name; nothing for any other name.
std::optional<Place> place_of(std::string_view container_name);

// Root containers by role; the section "" means the block itself.
crdt::ContainerId content_of(std::string_view section);
crdt::ContainerId root_of(std::string_view section);
crdt::ContainerId items_of(std::string_view section);
crdt::ContainerId entries_of(std::string_view section);
// The container of a List, Counter or Text field.
crdt::ContainerId value_of(std::string_view section, const Field& field);

// A section that was found, or the whole block.
struct Located {
    const BlockSchema* schema = nullptr;  // Points into the schema that was searched.
    // The outermost section on the path that only sources and the system may write; null if there
    // is none.
    const Section* read_only = nullptr;
};

// Errors: invalid_argument "section_required" {sections} for a Composite without one; not_found
// "section_not_found" {section, sections}.
Result<Located> locate(const BlockSchema& schema, std::string_view section);

}  // namespace quire::memory
