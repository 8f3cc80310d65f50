// Sources: the sources of a workspace, started, listed and told to look anew.
#pragma once

#include <string>
#include <vector>

#include "kernel/core/source.h"

namespace quire::kernel {

// The sources outlive it and all its replies.
class Sources {
public:
    explicit Sources(std::vector<Source*> all) : all_(std::move(all)) {}

    const std::vector<Source*>& all() const { return all_; }
    // The source whose block a name would be; null for none.
    const Source* of(const std::string& name) const;

    // Starts all. Replies when each has its blocks, with a sentence for each that feeds nothing.
    void start(Reply<std::vector<std::string>> reply);
    void stop();
    // Makes one look anew. Errors: not_found "unknown_source"; those of Source::reconcile().
    void run(const Caller& by, const std::string& source_id, Reply<void> reply) const;

private:
    std::vector<Source*> all_;
};

}  // namespace quire::kernel
