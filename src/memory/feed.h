// Feed: a program part that has content for a memory block from outside, such as a compiler's
// findings. It owns the block's shape and every section except `config`: that one belongs to the
// block's readers, and the feed judges their edits before they take effect.
//
// A feed never writes. It returns the content of its sections, and the kernel writes it as
// source:NAME, calling the feed on the block's strand. So none of these functions may wait. To the
// rest of the house a feed and its block are a source (kernel/memory/fed_source.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/value.h"
#include "memory/memory_block.h"

namespace quire::memory {

inline constexpr std::string_view kConfigSection = "config";

// A feed's verdict on an edit of its config.
struct ConfigAnswer {
    // applied: in effect now. pending: in effect with the next run, which has begun. rejected: no
    // such config can be followed, and the edit is not made.
    enum class Kind { applied, pending, rejected };
    friend constexpr auto words_of(Kind) { return word_table("applied", "pending", "rejected"); }
    Kind kind = Kind::applied;
    // A sentence: the effect of the edit, or the reason for a rejection.
    std::string message;
    // Set for a rejection: the faulty field, its value, and the allowed values.
    std::string field = {};
    Value value = {};
    std::string allowed = {};
};

// The interface that the kernel calls.
class Feed {
public:
    virtual ~Feed() = default;
    virtual const std::string& name() const = 0;  // Acts as source:NAME.
    // The block: a Composite with a section `config`; all other sections are read-only and the
    // feed's.
    virtual const MemoryBlock& block() const = 0;

    // --- on the block's strand; `config` is all of that section, defaults filled in ---
    // The verdict on an edit after which the config reads so.
    virtual ConfigAnswer judge(const Value& config) = 0;
    // The wanted content: {section: {field: value}}. Missing members stay as they are.
    virtual Value feed(const Value& config) = 0;
    // Is called when a reader has read the block or set its config; begins the work that this asks
    // for.
    virtual void attend(const Value& config) = 0;
    // Looks at everything anew, now.
    virtual void run(const Value& config) = 0;

    // --- any thread ---
    // From now on the feed may call `changed` from any thread: feed() has new content.
    virtual void start(std::function<void()> changed) = 0;
    // Ends all work and never calls `changed` again. Returns at once.
    virtual void stop() = 0;
    struct State {
        bool running = false;
        bool failed = false;  // Something that it should look at could not be read.
        std::string text;     // One sentence for people.
    };
    virtual State state() const = 0;
};

}  // namespace quire::memory
