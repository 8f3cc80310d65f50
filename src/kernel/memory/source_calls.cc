// Sources at work: each has one block, and feeds it whenever it has something new to say.
//
// A source speaks from any thread. The first word posts one write to the block's strand; words that
// come before that write begins are part of it, so that a busy source costs one write at a time.
#include "kernel/memory/source_calls.h"

#include <algorithm>
#include <utility>

#include "kernel/memory/memory_body.h"
#include "memory/memory_reader.h"
#include "memory/schema_form.h"
#include "memory/source.h"

namespace quire::kernel {
namespace {

Caller caller_of(const memory::Source& source) {
    return {{policy::ActorKind::source, source.name()}, 0, {}};
}

}  // namespace

// One source and its block. It is told from any thread that there is something to write; what is
// told while that waits for its turn is one writing.
class Feeding : public std::enable_shared_from_this<Feeding> {
public:
    Feeding(std::shared_ptr<MemoryCalls::Body> memory, memory::Source& source)
        : memory_(std::move(memory)), source_(source) {}

    memory::Source& source() const { return source_; }
    // The reason why it feeds nothing; "" if it does, or is about to.
    std::string fault() const {
        return fault_.with([](const std::string& fault) { return fault; });
    }

    // Gets "" if the block is there, else the reason why it is not.
    using Told = Function<void(std::string)>;
    void start(MemoryCalls& calls, Told then) {
        Told told = [self = shared_from_this(), then = std::move(then)](std::string why) mutable {
            self->fault_.with([&](std::string& fault) { fault = why; });
            then(std::move(why));
        };
        const memory::MemoryBlock& block = source_.block();
        MemoryCreate what;
        what.label = block.label;
        what.schema = memory::to_value(block.schema);
        what.description = block.description;
        what.permission = block.permission;
        calls.create(caller_of(source_), std::move(what),
                     [self = shared_from_this(), &calls,
                      told = std::move(told)](Result<MemoryVersion> made) mutable {
                         if (made) return self->begin(std::move(told));
                         if (made.error().reason() != "label_exists")
                             return told(made.error().message());
                         self->take_up(calls, std::move(told));
                     });
    }

    // Runs work(document, opened, by) on the block's strand.
    template <class T, class Work>
    void with_block(Reply<T> reply, Work work) {
        memory_->run<T>(caller_of(source_), source_.block().label, std::move(reply),
                        std::move(work));
    }

private:
    // The block of that label is of an earlier start.
    void take_up(MemoryCalls& calls, Told told) {
        Reply<bool> then = [self = shared_from_this(), &calls,
                            told = std::move(told)](Result<bool> same) mutable {
            if (!same) return told(same.error().message());
            if (*same) return self->begin(std::move(told));
            const memory::MemoryBlock& block = self->source_.block();
            calls.convert(caller_of(self->source_), block.label,
                          {.schema = memory::to_value(block.schema), .accept_loss = true},
                          [self, told = std::move(told)](Result<MemoryConverted> made) mutable {
                              if (!made) return told(made.error().message());
                              self->begin(std::move(told));
                          });
        };
        with_block<bool>(std::move(then),
                         [self = shared_from_this()](LiveDocument&, const OpenedMemory& opened,
                                                     const Caller&) -> Result<bool> {
                             return opened.header.block.schema == self->source_.block().schema;
                         });
    }

    void begin(Told told) {
        source_.start([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->changed();
        });
        changed();
        told("");
    }

    void changed() {
        if (waits_.with([](bool& waits) { return std::exchange(waits, true); })) return;
        with_block<bool>(
            [self = shared_from_this()](const Result<bool>& done) {
                // It may not have come to the block.
                if (!done) self->waits_.with([](bool& waits) { waits = false; });
            },
            [self = shared_from_this()](LiveDocument& document, const OpenedMemory& opened,
                                        const Caller&) -> Result<bool> {
                self->waits_.with([](bool& waits) { waits = false; });
                return self->memory_->fed.feed(document, opened.header,
                                               self->memory_->kernel->parts().clock.wall_ms());
            });
    }

    const std::shared_ptr<MemoryCalls::Body> memory_;
    memory::Source& source_;
    sched::Guarded<bool> waits_;
    sched::Guarded<std::string> fault_;
};

struct SourceCalls::Body {
    MemoryCalls& calls;
    std::vector<std::shared_ptr<Feeding>> feedings;
};

SourceCalls::SourceCalls(MemoryCalls& memory) : body_(std::make_shared<Body>(Body{memory, {}})) {
    for (memory::Source* const source : memory.body_->fed.sources())
        body_->feedings.push_back(std::make_shared<Feeding>(memory.body_, *source));
}
SourceCalls::~SourceCalls() {
    stop();
}

void SourceCalls::start(Reply<std::vector<std::string>> reply) {
    struct Starting {
        sched::Guarded<std::pair<std::size_t, std::vector<std::string>>> left;
        Reply<std::vector<std::string>> reply;
    };
    const auto starting = std::make_shared<Starting>();
    starting->reply = std::move(reply);
    starting->left.with([&](auto& left) { left.first = body_->feedings.size() + 1; });
    const auto one_told = [starting](std::string why) {
        const auto all = starting->left.with([&](auto& left) {
            if (!why.empty()) left.second.push_back(std::move(why));
            return std::pair(--left.first == 0, left.second);
        });
        if (all.first) starting->reply(all.second);
    };
    for (const auto& feeding : body_->feedings) feeding->start(body_->calls, one_told);
    one_told("");
}

void SourceCalls::stop() {
    for (const auto& feeding : body_->feedings) feeding->source().stop();
}

std::vector<SourceRow> SourceCalls::list() const {
    std::vector<SourceRow> out;
    for (const auto& feeding : body_->feedings) {
        const memory::Source& source = feeding->source();
        memory::Source::State state = source.state();
        if (std::string fault = feeding->fault(); !fault.empty())
            state = {false, true, std::move(fault)};
        out.push_back({source.name(), source.block().label, std::move(state.text), state.running,
                       state.failed});
    }
    return out;
}

void SourceCalls::run(const std::string& name, Reply<void> reply) {
    const auto found =
        std::find_if(body_->feedings.begin(), body_->feedings.end(),
                     [&](const auto& feeding) { return feeding->source().name() == name; });
    if (found == body_->feedings.end()) {
        return reply(fail(Errc::not_found, "unknown_source",
                          cat("there is no source '", name,
                              "' here; quire sources lists those there are, and quire.toml has a "
                              "[sources.NAME] for each")));
    }
    const std::shared_ptr<Feeding>& feeding = *found;
    if (std::string fault = feeding->fault(); !fault.empty())
        return reply(fail(Errc::conflict, "source_has_no_block", std::move(fault)));
    feeding->with_block<bool>(
        [reply = std::move(reply)](const Result<bool>& begun) mutable {
            reply(begun ? Result<void>() : Failure(begun.error()));
        },
        [feeding](LiveDocument& document, const OpenedMemory& opened,
                  const Caller&) -> Result<bool> {
            const memory::MemoryReader reader(document.doc(), opened.header.block.schema);
            feeding->source().run(TRY(reader.value(memory::kConfigSection)));
            return true;
        });
}

}  // namespace quire::kernel
