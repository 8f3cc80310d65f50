// SourceCalls: the sources of a workspace as people run them, and what keeps their blocks fed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"

namespace quire::kernel {

class MemoryCalls;

struct SourceRow {
    std::string name;
    std::string label;  // Its block's.
    std::string state;  // A sentence.
    bool running = false;
    bool failed = false;
};

class SourceCalls {
public:
    // The sources are those that the memory was made with; all outlive this.
    explicit SourceCalls(MemoryCalls& memory);
    SourceCalls(const SourceCalls&) = delete;
    SourceCalls& operator=(const SourceCalls&) = delete;
    ~SourceCalls();

    // Makes the blocks that are not there yet, gives those that are there the shape they have now,
    // and starts the sources. Replies when each has its block; with the sentences of those that
    // have none, whose labels are taken by blocks of others.
    void start(Reply<std::vector<std::string>> reply);
    // Nothing is run from here on; it returns at once.
    void stop();

    std::vector<SourceRow> list() const;
    // Everything that has changed is looked at again; the reply comes when that is begun. Errors:
    // not_found "unknown_source"; those of the memory.
    void run(const std::string& name, Reply<void> reply);

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
