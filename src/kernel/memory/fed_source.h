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
    bool matches(const std::string& address) const override;
    policy::Permission permission_for(const policy::Actor& by,
                                      const std::string& name) const override;
    std::vector<SourceBlock> blocks(const Caller& by) const override;
    void load(const Caller& by, std::string address, Reply<SourceVersion> reply) override;
    // Denied "source_owned": its block is there from the start.
    void create(const Caller& by, SourceCreate what, Reply<SourceVersion> reply) override;
    // Every write to memory is durable when it is answered, so there is nothing to save.
    void save(const Caller& by, std::string address, Reply<OfBlock<SourceSaved>> reply) override;
    // For the source's own actor; denied "source_owned" for others.
    void erase(const Caller& by, std::string address, Reply<SourceVersion> reply) override;
    void history(const Caller& by, std::string address, std::size_t limit, std::string cursor,
                 Reply<OfBlock<HistoryPage>> reply) override;
    void diff(const Caller& by, std::string address, std::optional<std::string> from,
              std::optional<std::string> to, Reply<OfBlock<BlockDiff>> reply) override;
    void rollback(const Caller& by, std::string address, std::string version_id,
                  Reply<OfBlock<Edited>> reply) override;
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
