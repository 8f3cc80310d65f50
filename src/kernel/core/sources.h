// Sources: the sources of a workspace, started, listed and told to look anew.
#pragma once

#include <string>
#include <vector>

#include "kernel/core/source.h"

namespace quire::kernel {

// The sources outlive it and all its replies. It owns none of them: cli/compose does.
class Sources {
public:
    explicit Sources(std::vector<Source*> all) : all_(std::move(all)) {}

    const std::vector<Source*>& all() const { return all_; }
    // The source whose block is, or would be, at that address; null for none.
    Source* of(const std::string& address) const;

    // Starts all. Replies when each has its blocks, with a sentence for each that feeds nothing.
    // Side by side: one that is slow or cannot feed holds up none of the others.
    void start(Reply<std::vector<std::string>> reply);
    void stop();
    // Makes the source of that id look anew, or the one that matches the name as an address. Replies
    // with its id. Errors: not_found "unknown_source"; those of Source::reconcile().
    void run(const Caller& by, const std::string& name, Reply<std::string> reply) const;

private:
    std::vector<Source*> all_;
};

}  // namespace quire::kernel
