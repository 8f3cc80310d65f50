// ReadMarks: for each caller, the version of each file that it last read or wrote, so that its next
// answer about the file says what others changed meanwhile.
//
// A caller is a session of MCP; of a caller without one, the actor. The marks are in memory only: a
// restart forgets them, and nothing is claimed then. Their number is bounded: a caller with too
// many is forgotten and begins anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "json/fields.h"
#include "kernel/core/caller.h"
#include "kernel/core/changed_since.h"
#include "sched/guarded.h"
#include "tools/tool.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::ChangedLines> {
    static Fields<kernel::ChangedLines> fields() {
        using kernel::ChangedLines;
        return Fields<ChangedLines>()
            .required("actor", &ChangedLines::actor)
            .required("version", &ChangedLines::version)
            .required("start", &ChangedLines::start)
            .required("end", &ChangedLines::end);
    }
};
template <>
struct FieldsOf<kernel::ChangedSince> {
    static Fields<kernel::ChangedSince> fields() {
        using kernel::ChangedSince;
        return Fields<ChangedSince>()
            .optional("changed_since_read", &ChangedSince::changes)
            .optional("changed_more", &ChangedSince::more);
    }
};

}  // namespace quire::json

namespace quire::tools {

// Any thread.
class ReadMarks {
public:
    // Notes that the caller is answered about this version of the block, which its call made if
    // `wrote`. Returns what must be asked to tell it what has changed; none if nothing may have: at
    // its first look, at a version that it has seen, and where all versions since are its own.
    // O(log blocks of the caller). Never blocks for long: the query itself is run by the kernel.
    std::optional<kernel::ChangedSinceQuery> note(const kernel::Caller& by,
                                                  const std::string& block_id,
                                                  std::uint64_t version, bool wrote);
    // Forgets the marks of a session. An actor without a session keeps its own.
    void end_session(const kernel::Caller& by);

private:
    struct Mark {
        std::uint64_t version = 0;
        std::set<std::uint64_t> own;  // Versions since that the caller made.
    };
    using Blocks = std::map<std::string, Mark>;
    sched::Guarded<std::map<std::string, Blocks>> marks_;
};

// Adds to an output schema that names a block what such an answer may have besides. A schema
// without `block_id` stays as it is.
void publish_changes(Value& output_schema);

// Adds to an answer what others changed: `changed_since_read`, `changed_more`, and a paragraph of
// its text. Lines are counted as the profile counts. Does nothing for no changes, and for an answer
// that is no object.
void tell_changes(ToolAnswer& answer, kernel::ChangedSince changed, Profile profile);

}  // namespace quire::tools
