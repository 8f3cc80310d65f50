// Source: what feeds a memory block from outside. It owns the block's shape, and every section of
// it but one: `config` belongs to those who read the block, and what they write there is the
// source's to judge before it stands.
//
// A source never writes. It says what its sections are to hold, and the kernel, which calls it on
// the block's strand, writes that as source:NAME. So none of these calls waits for anything.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "memory/memory_block.h"

namespace quire::memory {

inline constexpr std::string_view kConfigSection = "config";

// What a source says to an edit of its config.
struct ConfigAnswer {
    // applied: in effect at once. pending: with the next run, which is on its way. rejected: no
    // such config can be followed, and the edit is not made.
    enum class Kind { applied, pending, rejected };
    Kind kind = Kind::applied;
    std::string message;  // A sentence: what it means, or of a rejected one why not.
    // Of a rejected one: what is wrong, and what would be right.
    std::string field = {};
    Value value = {};
    std::string allowed = {};
};

class Source {
public:
    virtual ~Source() = default;
    virtual const std::string& name() const = 0;  // It acts as source:NAME.
    // Its block: a Composite with a section `config`; all others are read-only and the source's.
    virtual const MemoryBlock& block() const = 0;

    // --- on the block's strand; `config` is all of that section, defaults filled in ---
    // An edit that makes the config read so.
    virtual ConfigAnswer judge(const Value& config) = 0;
    // What the block is to say: {section: {field: value}}. What is left out stays as it is.
    virtual Value feed(const Value& config) = 0;
    // Somebody has read the block or set its config: what that asks for is begun.
    virtual void attend(const Value& config) = 0;
    // Somebody wants it looked at anew, now.
    virtual void run(const Value& config) = 0;

    // --- any thread ---
    // From here on it may call `changed`, from any thread: feed() has something else to say.
    virtual void start(std::function<void()> changed) = 0;
    // Ends what it has under way, and does not call `changed` any more. It returns at once.
    virtual void stop() = 0;
    struct State {
        bool running = false;
        bool failed = false;  // It could not look at all that it was to.
        std::string text;     // A sentence for people.
    };
    virtual State state() const = 0;
};

}  // namespace quire::memory
