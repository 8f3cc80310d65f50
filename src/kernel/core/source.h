// Source: a part of the world outside that the workspace has as blocks: the files of its directory,
// or what a compiler says of them.
//
// A source says what it is, which blocks it owns and what it asks of the tools; it watches, and looks
// anew when it is told to. Reading, editing, history, rollback and diff of a block are the same calls
// whoever owns it, and so they are no part of a source: its rules reach them through the kernel's
// Gate, and through FedBlocks.
#pragma once

#include <string>
#include <vector>

#include "base/function.h"
#include "base/value.h"
#include "kernel/core/caller.h"
#include "policy/permission.h"

namespace quire::kernel {

// A pattern of names, and the permission that it gives to agents.
struct SourcePermission {
    std::string pattern;
    policy::Permission permission = policy::Permission::read_only;
};

// A tool, and those of its operations, that agents use for the source's blocks.
struct RequiredTool {
    std::string tool;
    std::vector<std::string> operations;
};

// The description of a source.
struct SourceSpec {
    std::string source_id;  // "file"; unique in a workspace.
    std::string name;       // For people.
    std::string description;
    std::string base;     // The directory that it covers, or the label of its block.
    std::string names;    // Its blocks' names are each a "path" or a "label".
    policy::Actor actor;  // Makes all changes of the source.
    Value schema;         // The shape of each of its blocks (memory/schema_form.h).
    // The first rule that matches a name decides; the last matches every name.
    std::vector<SourcePermission> permission_rules;
    std::vector<RequiredTool> required_tools;
    bool is_watching = false;  // It takes in changes without being asked.
};

// A block of a source, and its name there: a path, or a label.
struct SourceBlock {
    std::string block_id;
    std::string name;
};

struct SourceState {
    bool running = false;
    bool failed = false;  // Something that it should look at could not be read.
    std::string text;     // One sentence for people.
};

// All functions are for any thread, and none waits; start_watch() and stop_watch() are called once
// each, in this order.
class Source {
public:
    virtual ~Source() = default;
    virtual SourceSpec spec() const = 0;
    virtual SourceState state() const = 0;
    // Returns true if a block of that name would be the source's.
    virtual bool matches(const std::string& name) const = 0;
    virtual policy::Permission permission_for(const policy::Actor& by,
                                              const std::string& name) const = 0;
    // Its blocks that the caller may see, by name. Loads none. O(blocks).
    virtual std::vector<SourceBlock> blocks(const Caller& by) const = 0;

    // Replies once its blocks are there and it watches: with "", or with the reason, a sentence, why
    // it feeds nothing.
    virtual void start_watch(Reply<std::string> reply) = 0;
    // Returns at once; work under way ends soon.
    virtual void stop_watch() = 0;
    // Looks at everything that changed outside, now. Replies when the changes are taken in, or, where
    // state() shows progress, when the work has begun. Errors: conflict "source_has_no_block".
    virtual void reconcile(const Caller& by, Reply<void> reply) = 0;
};

}  // namespace quire::kernel
