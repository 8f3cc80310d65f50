// OutputBlock: the block of a conversation in which a command's output can be read and searched, also
// when the command has ended and after a restart.
//
// A block keeps its history, so a command that writes without end would fill the disk. The block has the
// end of the output, and is written to a few times a second; a command that has written kMostHistory
// bytes is not followed any more, and when it ends, the block gets the end of what it wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/core/caller.h"

namespace quire {
class Clock;
}

namespace quire::kernel {

class Kernel;
struct CommandOrder;

// Bytes that are no text are shown as U+FFFD.
std::string as_text(std::string_view bytes);

// Used by one thread at a time.
class OutputBlock {
public:
    static constexpr std::size_t kMostKept = std::size_t{1} << 20;
    static constexpr std::size_t kMostHistory = std::size_t{8} << 20;
    // The conversation that has these blocks.
    static constexpr std::string_view kConversation = "shell";

    // Makes the block. Blocks until it is durable. Errors: those of Kernel::create().
    static Result<OutputBlock> make(Kernel& kernel, Clock& clock, const Caller& by,
                                    const CommandOrder& what);

    const std::string& id() const { return id_; }
    void add(std::string_view bytes);
    // Writes what is due. Does not wait.
    void turn();
    // Writes the rest. `tail` is the end of all that was written.
    void end(std::string_view tail, bool went_well);
    // Goes on with a block that has ended.
    void resume();

private:
    OutputBlock(Kernel& kernel, Clock& clock, std::string id);
    void flush(bool all);
    void trim();
    // Replaces the block's text by `text`, which may be its own end.
    void rewrite(std::string text);

    Kernel* kernel_;
    Clock* clock_;
    std::string id_;
    Caller by_;
    std::string pending_;
    std::size_t in_block_ = 0;
    std::size_t written_ = 0;  // To the block's history.
    bool is_behind_ = false;   // The block lacks some of the output.
    std::int64_t next_ms_ = 0;
};

}  // namespace quire::kernel
