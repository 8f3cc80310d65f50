// SourceCalls: the sources of a workspace, started, listed and run, and the feeding of their
// blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"

namespace quire::kernel {

class MemoryCalls;

// A row of the list of sources.
struct SourceRow {
    std::string name;
    std::string label;  // Its block's.
    std::string state;  // A sentence.
    bool running = false;
    bool failed = false;
};

// A source reports a change from any thread; the block is then fed on its strand.
class SourceCalls {
public:
    // The sources are those that the memory was made with; all outlive this.
    explicit SourceCalls(MemoryCalls& memory);
    SourceCalls(const SourceCalls&) = delete;
    SourceCalls& operator=(const SourceCalls&) = delete;
    ~SourceCalls();

    // Creates missing blocks of sources, updates the shape of existing ones, and starts the
    // sources. Replies when each source has its block, with a sentence for each source that has
    // none because another block has its label.
    void start(Reply<std::vector<std::string>> reply);
    // Stops the sources and returns at once; running checks end soon.
    void stop();

    std::vector<SourceRow> list() const;
    // Makes a source look again at everything that changed. Replies when the run has begun.
    // Errors: not_found "unknown_source"; those of the memory.
    void run(const std::string& name, Reply<void> reply);

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
