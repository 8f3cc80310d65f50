// Shelf: the tools of one profile, found by the names that calls use, and the arguments of a call in
// the form in which they are checked.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "json/schema/schema.h"
#include "tools/tool.h"

namespace quire::tools {

// The compiled input schema, with the unlisted words of operations. Our own schemas must compile
// (CHECK). Error: of another program's tool, that its schema is none.
Result<json::Schema> accepting(const ToolInfo& info);

// A tool as one profile has it.
class Entry {
public:
    Entry(std::unique_ptr<const Tool> held, ToolInfo published)
        : tool(std::move(held)), info(std::move(published)) {}

    // The schema of its arguments. It is compiled when it is first asked for: a kernel starts
    // without the schemas of tools that nobody calls.
    const json::Schema& accepts() const;

    const std::unique_ptr<const Tool> tool;
    const ToolInfo info;  // The published form.

private:
    mutable std::once_flag compiled_;
    mutable std::optional<json::Schema> accepts_;
};

// A tool as a call names it. Of "context.set_field" the operation is not among the arguments, and
// of "context_view", the twin of an operation, it must not be. Both views are into the entry or
// into the name of the call, and are valid as long as these.
struct NamedTool {
    const Entry* entry = nullptr;
    std::string_view operation = {};
    const Operation::Twin* twin = nullptr;
};

// The tools of a profile in the order in which they were added. A deque, since an Entry cannot be
// moved and views keep pointers to entries.
struct Shelf {
    std::deque<Entry> entries;

    const Entry* published(std::string_view name) const;
    // The operation for which a twin as "file_read" stands; an empty NamedTool where none does.
    NamedTool twin(std::string_view name) const;
    // Finds a tool by its name, a twin's, or a dotted one; "block.edit" finds "block_edit". A
    // tool's own name wins over a twin's. An empty NamedTool where there is none. O(tools).
    NamedTool find(std::string_view name) const;
};

// The arguments of a call, as everything that looks at them sees them.
struct CallArguments {
    Value arguments;
    bool unwrapped = false;  // They came as JSON in a string.
    std::optional<Error> conflict = {};
};
// The arguments with the operation that the name means. Null becomes an object without members, and
// a string that holds the JSON of an object becomes that object, for some clients send it so.
// Errors, as `conflict`: invalid_argument "invalid_argument" where they name another operation, or
// what a twin does not take {unknown}.
CallArguments call_arguments(const NamedTool& named, std::string_view name, Value arguments);

// The operation that a call means, "" where it says none that the tool has.
std::string_view operation_of(const Operations& operations, std::string_view dotted,
                              const Value& arguments);

}  // namespace quire::tools
