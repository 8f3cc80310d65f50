// OutputBlock: the conversation block that holds a command's output. It can be read and searched while the
// command runs, after it has ended, and after a restart.
//
// A block keeps its history, so endless output would fill the disk. Therefore the block holds only the
// last kMostKept bytes or so, and it is written a few times a second. After kMostHistory bytes it is no
// longer updated; when the command ends, the block gets the end of its output.
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

// Used by one thread at a time.
class OutputBlock {
public:
    static constexpr std::size_t kMostKept = std::size_t{1} << 20;
    static constexpr std::size_t kMostHistory = std::size_t{8} << 20;
    // The conversation that contains these blocks.
    static constexpr std::string_view kConversation = "shell";

    // Creates the block. Waits until it is durable. Errors: those of Kernel::create().
    static Result<OutputBlock> make(Kernel& kernel, Clock& clock, const Caller& by,
                                    const CommandOrder& what);

    const std::string& id() const { return id_; }
    // Bytes of either stream, in any pieces. A character may be split over two of them.
    void add(std::string_view bytes);
    // Writes pending output if it is time to. Does not wait.
    void turn();
    // Writes the pending output and sets the status. `tail` is the end of the whole output.
    void end(std::string_view tail, bool went_well);
    // Sets the status of an ended block back to running.
    void resume();

private:
    OutputBlock(Kernel& kernel, Clock& clock, std::string id);
    void flush(bool all);
    void trim();
    // Replaces the whole text of the block.
    void rewrite(std::string text);

    Kernel* kernel_;
    Clock* clock_;
    std::string id_;
    Caller by_;
    // Not sent to the kernel yet; less than a piece of append.
    std::string pending_;
    // The bytes that the block has, counted here: never less than it really has.
    std::size_t in_block_ = 0;
    std::size_t written_ = 0;  // Counts the bytes in the block's history.
    bool is_behind_ = false;   // The block lacks some of the output.
    std::int64_t next_ms_ = 0;
};

}  // namespace quire::kernel
