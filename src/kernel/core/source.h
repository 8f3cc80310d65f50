// Source: a part of the world outside that the workspace has as blocks: the files of its directory,
// or what a compiler says of them.
//
// A source says what it is, which blocks it owns and what it asks of the tools; it watches, and looks
// anew when it is told to. Its blocks are loaded, created, saved, erased and compared by its own
// rules, so these are calls of the source. Reading and editing are the same calls whoever owns a
// block: the source's rules reach them through the kernel's Gate, and through FedBlocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/value.h"
#include "kernel/core/caller.h"
#include "policy/permission.h"

namespace quire::kernel {

struct BlockDiff;
struct Edited;
struct HistoryPage;

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

// A block of a source, and the version that a call made or found.
struct SourceVersion {
    std::string name;
    std::string block_id;
    std::uint64_t version = 0;
};
// The answer to a call about one block.
template <class Answer>
struct OfBlock {
    SourceVersion block;
    Answer answer;
};
// The request for a new block.
struct SourceCreate {
    std::string address;
    std::string content = {};
    bool overwrite = false;  // Others' unsaved edits under this name may be replaced.
};
struct SourceSaved {
    std::size_t bytes = 0;
    bool written = false;  // False where there was nothing to save.
    std::vector<std::string> notes = {};
};

struct SourceState {
    bool running = false;
    bool failed = false;  // Something that it should look at could not be read.
    std::string text;     // One sentence for people.
};

// All functions are for any thread, and none waits; start_watch() and stop_watch() are called once
// each, in this order. An address is a block's name with its prefix ("file:PATH", "memory:LABEL"), or
// the id of a block that exists. Calls reply exactly once, from any thread. They take an address that
// the source matches; their errors are also those of the calls of files, or of memory.
class Source {
public:
    virtual ~Source() = default;
    virtual SourceSpec spec() const = 0;
    virtual SourceState state() const = 0;
    // Returns true if a block at that address is, or would be, the source's. O(log documents).
    virtual bool matches(const std::string& address) const = 0;
    // The permission for a block, by its name.
    virtual policy::Permission permission_for(const policy::Actor& by,
                                              const std::string& name) const = 0;
    // Its blocks that the caller may see, by name. Loads none. O(blocks).
    virtual std::vector<SourceBlock> blocks(const Caller& by) const = 0;

    // Loads a block from outside, where it is not loaded.
    virtual void load(const Caller& by, std::string address, Reply<SourceVersion> reply) = 0;
    // Creates a block, here and outside. Error: denied "source_owned" {source} where only the source
    // creates blocks.
    virtual void create(const Caller& by, SourceCreate what, Reply<SourceVersion> reply) = 0;
    // Writes a block's content outside.
    virtual void save(const Caller& by, std::string address, Reply<OfBlock<SourceSaved>> reply) = 0;
    // Deletes a block, here and outside.
    virtual void erase(const Caller& by, std::string address, Reply<SourceVersion> reply) = 0;

    // The versions of a block, newest first, as Kernel::history() gives them.
    virtual void history(const Caller& by, std::string address, std::size_t limit,
                         std::string cursor, Reply<OfBlock<HistoryPage>> reply) = 0;
    // The difference between two versions. Without `from` it is what is outside, or the version
    // before `to` where nothing is; without `to` it is the block now.
    virtual void diff(const Caller& by, std::string address, std::optional<std::string> from,
                      std::optional<std::string> to, Reply<OfBlock<BlockDiff>> reply) = 0;
    // Gives a block the text that it had at a version, by a new edit. Error: denied "memory_block"
    // for a memory block, which goes back by MemoryCalls::rollback().
    virtual void rollback(const Caller& by, std::string address, std::string version_id,
                          Reply<OfBlock<Edited>> reply) = 0;

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
