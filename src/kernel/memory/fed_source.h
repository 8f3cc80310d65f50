// FedSource: a feed (memory/feed.h) and the one memory block that it fills, as a source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/core/source.h"

namespace quire::kernel {

class MemoryCalls;

// A feed speaks from any thread; its block is then fed on its strand.
class FedSource final : public Source {
public:
    // One source for each feed that the memory was made with. The memory and its feeds outlive them.
    static std::vector<std::unique_ptr<FedSource>> all_of(MemoryCalls& memory);
    FedSource(const FedSource&) = delete;
    FedSource& operator=(const FedSource&) = delete;
    ~FedSource() override;

    SourceSpec spec() const override;
    SourceState state() const override;
    bool matches(const std::string& name) const override;
    policy::Permission permission_for(const policy::Actor& by,
                                      const std::string& name) const override;
    std::vector<SourceBlock> blocks(const Caller& by) const override;
    // Creates the block where it is missing, gives an existing one its shape, and starts the feed.
    void start_watch(Reply<std::string> reply) override;
    void stop_watch() override;
    // Replies when the feed has begun. Errors also: those of the memory.
    void reconcile(const Caller& by, Reply<void> reply) override;

private:
    struct Body;
    explicit FedSource(std::shared_ptr<Body> body) : body_(std::move(body)) {}
    std::shared_ptr<Body> body_;
};

// Agents read a feed's block, and set its config, by `context`.
std::vector<RequiredTool> required_by_feeds();

}  // namespace quire::kernel
