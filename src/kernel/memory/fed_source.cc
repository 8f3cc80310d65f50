// A feed speaks from any thread. The first word posts one write to the block's strand; words that
// come before that write begins are part of it, so that a busy feed costs one write at a time. A
// source starts by creating its block. If the label is its own already, the block is of an earlier
// start: it is taken up as it is, or converted where this version of the program has another
// schema, losses accepted, since the feed fills it anew. Only then does the feed begin to speak. A
// start that fails leaves its reason as the source's fault, and the kernel runs without this
// source.
#include "kernel/memory/fed_source.h"

#include <utility>

#include "base/concat.h"
#include "base/mapped_reply.h"
#include "kernel/core/kinds.h"
#include "kernel/memory/memory_body.h"
#include "memory/feed.h"
#include "memory/memory_reader.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

SourceVersion block_of(MemoryVersion&& block) {
    return {std::move(block.label), std::move(block.block_id), block.version};
}
SourceVersion row_block(MemoryRow&& row) {
    return block_of(std::move(row.block));
}
// Nothing is to be saved: each write of a feed is durable before it is answered.
OfBlock<SourceSaved> saved_of(MemoryRow&& row) {
    return {block_of(std::move(row.block)), {}};
}
OfBlock<HistoryPage> page_of(MemoryHistory&& made) {
    return {block_of(std::move(made.block)), std::move(made.page)};
}
OfBlock<BlockDiff> diff_of(MemoryDiff&& made) {
    BlockDiff diff{made.block.version, std::move(made.from), std::move(made.to),
                   std::move(made.diff)};
    return {block_of(std::move(made.block)), std::move(diff)};
}

}  // namespace

struct FedSource::Body : std::enable_shared_from_this<FedSource::Body> {
    Body(MemoryCalls& of, std::shared_ptr<MemoryCalls::Body> memory_body, memory::Feed& fills)
        : calls(of), memory(std::move(memory_body)), feed(fills) {}

    MemoryCalls& calls;
    const std::shared_ptr<MemoryCalls::Body> memory;
    memory::Feed& feed;
    // Set from the first word that is not yet in the block until its write begins.
    sched::Guarded<bool> waits;
    // The reason why it feeds nothing; "" if it does, or is about to.
    sched::Guarded<std::string> fault;

    Caller caller() const { return {actor(), 0, {}}; }
    policy::Actor actor() const { return {policy::ActorKind::source, feed.name()}; }
    const memory::MemoryBlock& block() const { return feed.block(); }

    // Runs work(document, opened, by) on the block's strand.
    template <class T, class Work>
    void with_block(Reply<T> reply, Work work) {
        memory->run<T>(caller(), block().label, std::move(reply), std::move(work));
    }

    void start(Reply<std::string> reply) {
        Reply<std::string> told = [self = shared_from_this(),
                                   reply = std::move(reply)](Result<std::string> why) mutable {
            std::string sentence = why ? std::move(*why) : why.error().message();
            self->fault.with([&](std::string& held) { held = sentence; });
            reply(std::move(sentence));
        };
        MemoryCreate what;
        what.label = block().label;
        what.schema = memory::to_value(block().schema);
        what.description = block().description;
        what.permission = block().permission;
        calls.create(caller(), std::move(what),
                     [self = shared_from_this(),
                      told = std::move(told)](Result<MemoryVersion> made) mutable {
                         if (made) return self->begin(std::move(told));
                         if (made.error().reason() != "label_exists")
                             return told(Failure(std::move(made).error()));
                         self->take_up(std::move(told));
                     });
    }

    // The block of that label is of an earlier start.
    void take_up(Reply<std::string> told) {
        Reply<bool> then = [self = shared_from_this(),
                            told = std::move(told)](Result<bool> same) mutable {
            if (!same) return told(Failure(std::move(same).error()));
            if (*same) return self->begin(std::move(told));
            self->calls.convert(
                self->caller(), self->block().label,
                {.schema = memory::to_value(self->block().schema), .accept_loss = true},
                [self, told = std::move(told)](Result<MemoryConverted> made) mutable {
                    if (!made) return told(Failure(std::move(made).error()));
                    self->begin(std::move(told));
                });
        };
        with_block<bool>(std::move(then),
                         [self = shared_from_this()](LiveDocument&, const OpenedMemory& opened,
                                                     const Caller&) -> Result<bool> {
                             return opened.header.block.schema == self->block().schema;
                         });
    }

    // The feed holds the source weakly. What it had to say before it was heard is fetched by the
    // first changed().
    void begin(Reply<std::string> told) {
        feed.start([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->changed();
        });
        changed();
        told(std::string());
    }

    // The flag is taken down before the values are read, so a word that comes while they are read
    // posts another write. A write that never came to the block takes it down too, or no word would
    // ever be heard again.
    void changed() {
        if (waits.with([](bool& held) { return std::exchange(held, true); })) return;
        with_block<bool>(
            [self = shared_from_this()](const Result<bool>& done) {
                // It may not have come to the block.
                if (!done) self->waits.with([](bool& held) { held = false; });
            },
            [self = shared_from_this()](LiveDocument& document, const OpenedMemory& opened,
                                        const Caller&) -> Result<bool> {
                self->waits.with([](bool& held) { held = false; });
                return self->memory->fed.feed(document, opened.header,
                                              self->memory->kernel->parts().clock.wall_ms());
            });
    }

    // The address by which the calls of memory find this block, and no other of the same label.
    std::string own(std::string address) const {
        if (!address.starts_with(kMemoryPrefix)) return address;
        return cat(kMemoryPrefix, actor().str(), "/", block().label);
    }

    std::string fault_now() const {
        return fault.with([](const std::string& held) { return held; });
    }
};

std::vector<std::unique_ptr<FedSource>> FedSource::all_of(MemoryCalls& memory) {
    std::vector<std::unique_ptr<FedSource>> out;
    for (memory::Feed* const feed : memory.body_->fed.feeds())
        out.emplace_back(new FedSource(std::make_shared<Body>(memory, memory.body_, *feed)));
    return out;
}
FedSource::~FedSource() {
    stop_watch();
}

SourceSpec FedSource::spec() const {
    return {.source_id = body_->feed.name(),
            .name = body_->feed.name(),
            .description = body_->block().description,
            .base = body_->block().label,
            .names = "label",
            .actor = body_->actor(),
            .schema = memory::to_value(body_->block().schema),
            .permission_rules = {{"**", body_->block().permission}},
            .required_tools = required_by_feeds(),
            .is_watching = body_->fault_now().empty()};
}

SourceState FedSource::state() const {
    if (std::string fault = body_->fault_now(); !fault.empty())
        return {false, true, std::move(fault)};
    memory::Feed::State state = body_->feed.state();
    return {state.running, state.failed, std::move(state.text)};
}

// A label counts only with the prefix "memory:", since a plain one may name an agent's own block;
// the block's id always does.
bool FedSource::matches(const std::string& address) const {
    if (address.starts_with(kMemoryPrefix)) {
        const std::string_view label = std::string_view(address).substr(kMemoryPrefix.size());
        return label == body_->block().label ||
               label == cat(body_->actor().str(), "/", body_->block().label);
    }
    const Result<conversation::BlockId> id = conversation::BlockId::parse(address);
    if (!id) return false;
    const auto record = body_->memory->kernel->catalog().record(id->document);
    return record && record->kind == kMemoryKind && record->name == body_->block().label &&
           record->owner == body_->actor().str();
}

policy::Permission FedSource::permission_for(const policy::Actor& by, const std::string&) const {
    return by == body_->actor() ? policy::Permission::admin : body_->block().permission;
}

std::vector<SourceBlock> FedSource::blocks(const Caller& by) const {
    std::vector<SourceBlock> out;
    for (const store::DocumentRecord& record :
         body_->memory->kernel->catalog().named(kMemoryKind, body_->block().label)) {
        const Result<OpenedMemory> opened = open_memory(record, by.actor, record.name);
        if (!opened || opened->header.owner != body_->actor()) continue;
        out.push_back({conversation::BlockId{record.key, -1, 0}.str(), record.name});
    }
    return out;
}

void FedSource::load(const Caller& by, std::string address, Reply<SourceVersion> reply) {
    body_->calls.find(by, body_->own(std::move(address)), mapped(std::move(reply), row_block));
}

void FedSource::create(const Caller&, SourceCreate, Reply<SourceVersion> reply) {
    reply(fail(Errc::denied, "source_owned",
               cat("Permission denied: the source '", body_->feed.name(),
                   "' has one block, which it creates itself"),
               {{"source", body_->feed.name()}}));
}

void FedSource::save(const Caller& by, std::string address, Reply<OfBlock<SourceSaved>> reply) {
    body_->calls.find(by, body_->own(std::move(address)), mapped(std::move(reply), saved_of));
}

void FedSource::erase(const Caller& by, std::string address, Reply<SourceVersion> reply) {
    body_->calls.erase(by, body_->own(std::move(address)), mapped(std::move(reply), block_of));
}

void FedSource::history(const Caller& by, std::string address, std::size_t limit,
                        std::string cursor, Reply<OfBlock<HistoryPage>> reply) {
    body_->calls.history(by, body_->own(std::move(address)), limit, std::move(cursor),
                         mapped(std::move(reply), page_of));
}

void FedSource::diff(const Caller& by, std::string address, std::optional<std::string> from,
                     std::optional<std::string> to, Reply<OfBlock<BlockDiff>> reply) {
    body_->calls.diff(by, body_->own(std::move(address)), std::move(from), std::move(to),
                      mapped(std::move(reply), diff_of));
}

// Denied "memory_block", once the block is found: it is rolled back by the tool `context`.
void FedSource::rollback(const Caller& by, std::string address, std::string,
                         Reply<OfBlock<Edited>> reply) {
    body_->memory->look<OfBlock<Edited>>(
        by, body_->own(std::move(address)), std::move(reply),
        [](LiveDocument& document, const OpenedMemory&, const Caller&) -> Result<OfBlock<Edited>> {
            return is_memory(document);
        });
}

void FedSource::start_watch(Reply<std::string> reply) {
    body_->start(std::move(reply));
}

void FedSource::stop_watch() {
    body_->feed.stop();
}

// The feed is given the config as it is now, and works on its own thread. Its result comes by
// changed().
void FedSource::reconcile(const Caller&, Reply<void> reply) {
    if (std::string fault = body_->fault_now(); !fault.empty())
        return reply(fail(Errc::conflict, "source_has_no_block", std::move(fault)));
    body_->with_block<bool>(
        [reply = std::move(reply)](const Result<bool>& begun) mutable {
            reply(begun ? Result<void>() : Failure(begun.error()));
        },
        [body = body_](LiveDocument& document, const OpenedMemory& opened,
                       const Caller&) -> Result<bool> {
            const memory::MemoryReader reader(document.doc(), opened.header.block.schema);
            body->feed.run(TRY(reader.value(memory::kConfigSection)));
            return true;
        });
}

std::vector<RequiredTool> required_by_feeds() {
    return {{"context", {"view", "set_field"}}};
}

}  // namespace quire::kernel
