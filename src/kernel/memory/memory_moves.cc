// Archive, load and swap: memory blocks between what is in context and what is out of it. A block
// that is moved keeps its id, its history and who may do what with it; its label and its type
// change.
#include "base/utf8.h"
#include "kernel/memory/memory_body.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// The name that a document has within a transaction that exchanges two: no label has control
// characters.
constexpr std::string_view kNoLabel = "\x01";
// The longest label that still has room for what is added to it.
constexpr std::size_t kStem = 150;

Failure core_block(const std::string& label) {
    return fail(Errc::denied, "core_block",
                cat("'", label,
                    "' is a core block and cannot be archived: core blocks are always in context"),
                {{"label", label}});
}

Failure is_archived(const std::string& label, bool archived) {
    return fail(Errc::conflict, archived ? "archived" : "not_archived",
                cat("'", label,
                    archived ? "' is archived already; context load brings it back"
                             : "' is not an archival block; context list with type "
                               "archival shows those there are"),
                {{"label", label}});
}

Result<void> may_archive(const OpenedMemory& opened, Operation operation) {
    TRY(policy::permit(opened.rights, operation));
    const std::string& label = opened.header.block.label;
    if (opened.header.type == MemoryType::core) return core_block(label);
    if (opened.header.type == MemoryType::archival) return is_archived(label, true);
    return {};
}

Result<void> may_load(const OpenedMemory& opened) {
    TRY(policy::permit(opened.rights, Operation::overwrite));
    if (opened.header.type != MemoryType::archival)
        return is_archived(opened.header.block.label, false);
    return {};
}

// The move of one block, in its pending transaction.
void move_to(LiveDocument& document, OpenedMemory& opened, const policy::Actor& by,
             const MemoryMove& to, Catalog& catalog) {
    opened.header.type = to.type;
    if (to.type == MemoryType::archival) opened.header.pinned = false;
    document.begin(by);
    document.record_quietly(document.whole(), memory_entry(by, cat(to.word, " ", to.label)));
    document.rename(to.label);
    put_header(document, opened.header, catalog);
}

// "notes_archived_1700000000", or with a number after it where there is one of that name.
std::string claim_free_label(Catalog& catalog, const LiveDocument& document,
                             std::int64_t now_ms) {
    const std::string stem =
        cat(utf8::prefix(document.name(), kStem / 4), "_archived_", now_ms / 1000);
    for (std::size_t i = 1;; ++i) {
        std::string name = i == 1 ? stem : cat(stem, "_", i);
        if (catalog.claim_name(name_of_memory(document, name), document.key())) return name;
    }
}

// Gives one block another label, which has been claimed for it, and another type. Until that is
// stored the block goes by both labels.
MemoryVersion move(LiveDocument& document, OpenedMemory& opened, const policy::Actor& by,
                   const MemoryMove& to, Catalog& catalog) {
    move_to(document, opened, by, to, catalog);
    document.on_stored([&catalog, name = name_of_memory(document, to.label),
                        key = document.key()](Result<void>& stored) {
        if (stored) {
            catalog.settle_name(name, key);
        } else {
            catalog.unclaim_name(name, key);
        }
    });
    return version_of_memory(document);
}

}  // namespace

void MemoryCalls::archive(Caller by, std::string label, std::optional<std::string> archival_label,
                          Reply<MemoryMoved> reply) {
    if (archival_label) {
        if (const Result<void> right = check_label(*archival_label); !right)
            return reply(Failure(right.error()));
    }
    body_->run_alone<MemoryMoved>(
        std::move(by), label, std::move(reply),
        [body = body_, archival_label = std::move(archival_label)](
            LiveDocument& document, OpenedMemory& opened,
            const Caller& caller) -> Result<MemoryMoved> {
            // It goes out of everybody's context, as a block that is deleted does.
            TRY(may_archive(opened, Operation::erase));
            TRY(body->fed.check_owned(opened.header, caller.actor, "archive"));
            Catalog& catalog = body->kernel->catalog();
            const std::string before = document.name();
            if (archival_label &&
                !catalog.claim_name(name_of_memory(document, *archival_label), document.key()))
                return label_exists(*archival_label);
            const std::int64_t now_ms = body->kernel->parts().clock.wall_ms();
            const std::string under =
                archival_label ? *archival_label : claim_free_label(catalog, document, now_ms);
            MemoryVersion moved = move(document, opened, caller.actor,
                                       {MemoryType::archival, under, "archive"}, catalog);
            moved.label = before;
            return MemoryMoved{std::move(moved), under};
        });
}

void MemoryCalls::load(Caller by, std::string archival_label, std::optional<std::string> label,
                       Reply<MemoryVersion> reply) {
    if (label) {
        if (const Result<void> right = check_label(*label); !right)
            return reply(Failure(right.error()));
    }
    body_->run_alone<MemoryVersion>(
        std::move(by), archival_label, std::move(reply),
        [body = body_, label = std::move(label)](LiveDocument& document, OpenedMemory& opened,
                                                 const Caller& caller) -> Result<MemoryVersion> {
            const std::string under = label.value_or(document.name());
            TRY(may_load(opened));
            TRY(body->fed.check_owned(opened.header, caller.actor, "load"));
            Catalog& catalog = body->kernel->catalog();
            if (!catalog.claim_name(name_of_memory(document, under), document.key()))
                return label_exists(under);
            return move(document, opened, caller.actor, {MemoryType::working, under, "load"},
                        catalog);
        });
}

void MemoryCalls::rename(Caller by, TextLabel label, std::string to, Reply<MemoryVersion> reply) {
    if (const Result<void> right = check_label(to); !right) return reply(Failure(right.error()));
    body_->run_alone<MemoryVersion>(
        std::move(by), label, std::move(reply),
        [body = body_, to = std::move(to)](LiveDocument& document, OpenedMemory& opened,
                                           const Caller& caller) -> Result<MemoryVersion> {
            TRY(policy::permit(opened.rights, Operation::overwrite));
            TRY(body->fed.check_owned(opened.header, caller.actor, "rename"));
            Catalog& catalog = body->kernel->catalog();
            if (to == document.name() ||
                !catalog.claim_name(name_of_memory(document, to), document.key()))
                return label_exists(to);
            return move(document, opened, caller.actor, {opened.header.type, to, "rename"},
                        catalog);
        });
}

// --- swap ---

namespace {

// A swap on its way. The document with the lower key is held first, then the other; both are idle
// from then on, so that what is prepared of one can be stored in the batch of the other.
class Swap : public std::enable_shared_from_this<Swap> {
public:
    Swap(std::shared_ptr<MemoryCalls::Body> memory, Caller by,
         std::shared_ptr<LiveDocument> context, std::shared_ptr<LiveDocument> archival,
         std::string label, std::string archival_label, Function<void(Reply<MemoryMoved>)> again,
         Reply<MemoryMoved> reply)
        : memory_(std::move(memory)),
          kernel_(memory_->kernel),
          by_(std::move(by)),
          context_(std::move(context)),
          archival_(std::move(archival)),
          label_(std::move(label)),
          archival_label_(std::move(archival_label)),
          again_(std::move(again)),
          reply_(std::move(reply)),
          first_(context_->key() < archival_->key() ? context_ : archival_),
          second_(first_ == context_ ? archival_ : context_) {}

    void start() {
        hold(first_, [self = shared_from_this()](Result<void> held) {
            if (!held) return self->end(Failure(held.error()));
            self->hold(self->second_, [self](Result<void> both) {
                if (!both) {
                    self->release_first(Failure(both.error()));
                } else {
                    self->prepare();
                }
            });
        });
    }

private:
    using Moved = Result<MemoryMoved>;

    // On the document's strand, held and idle, if it may be moved.
    void hold(const std::shared_ptr<LiveDocument>& document, Reply<void> then) {
        kernel_->enter<void>(
            by_, ThisDocument{document}, Access::look, std::move(then),
            [self = shared_from_this()](Visit<void> visit) {
                LiveDocument& live = *visit.document;
                live.hold();
                live.when_durable(
                    [self, &live, visit = std::move(visit)](Result<void> durable) mutable {
                        Result<void> may = durable ? self->check(live) : std::move(durable);
                        if (!may) live.release();
                        visit.answer(std::move(may));
                    });
            });
    }

    Result<void> check(LiveDocument& live) {
        const bool is_archival = &live == archival_.get();
        std::string& wanted = is_archival ? archival_label_ : label_;
        if (!MemoryAddress{wanted, by_.actor}.is_meant(kernel_->catalog(), live)) {
            was_moved_ = true;
            return no_such_memory(wanted);
        }
        OpenedMemory opened = TRY(open_memory(live, by_, wanted, *kernel_));
        wanted = live.name();
        TRY(is_archival ? may_load(opened) : may_archive(opened, Operation::overwrite));
        TRY(memory_->fed.check_owned(opened.header, by_.actor, "swap"));
        (is_archival ? opened_archival_ : opened_context_) = std::move(opened);
        if (!opened_archival_ || !opened_context_) return {};
        const policy::Actor& owner = opened_context_->header.owner;
        if (owner == opened_archival_->header.owner) return {};
        return fail(Errc::denied, "permission_denied",
                    cat("Permission denied: a swap exchanges two labels of one owner; '", label_,
                        "' belongs to ", owner.str(), ", '", archival_label_, "' to ",
                        opened_archival_->header.owner.str()),
                    {{"label", label_}, {"archival_label", archival_label_}});
    }

    void move(LiveDocument& live) {
        if (&live == archival_.get()) {
            move_to(live, *opened_archival_, by_.actor,
                    MemoryMove{MemoryType::working, label_, "swap"}, kernel_->catalog());
        } else {
            move_to(live, *opened_context_, by_.actor,
                    MemoryMove{MemoryType::archival, archival_label_, "swap"}, kernel_->catalog());
        }
        keep_text(*memory_->texts, live, kernel_->parts().clock.wall_ms());
        if (&live == context_.get()) return;
        moved_ = {version_of_memory(live), archival_label_};
    }

    // On the strand of the second.
    void prepare() {
        second_->rename(std::string(kNoLabel));  // Makes room for the other in the transaction.
        move(*second_);
        part_ = second_->give();
        first_->strand().post([self = shared_from_this()] { self->store(); });
    }

    // On the strand of the first.
    void store() {
        // Closing waits for what was submitted before it came to this strand, and for no more.
        if (kernel_->is_closing()) return stored(shutting_down());
        move(*first_);
        join(first_->batch());
        kernel_->count_commit();
        first_->submit(
            [self = shared_from_this()](const Result<void>& result) { self->stored(result); });
    }

    void stored(const Result<void>& result) {
        if (result) {
            const policy::Actor& owner = opened_context_->header.owner;
            kernel_->catalog().exchange_names(name_of_memory(owner, label_),
                                              name_of_memory(owner, archival_label_));
        }
        second_->strand().post([self = shared_from_this(), result] {
            self->second_->given(result);
            self->second_->release();
        });
        first_->release();
        end(result ? Moved(moved_) : Failure(result.error()));
    }

    // Order the records so that each label is released before the other block claims it.
    void join(store::Batch& batch) {
        std::vector<store::DocumentRecord> documents{part_.documents.front()};
        documents.insert(documents.end(), batch.documents.begin(), batch.documents.end());
        documents.insert(documents.end(), part_.documents.begin() + 1, part_.documents.end());
        batch.documents = std::move(documents);
        batch.peers.insert(batch.peers.end(), part_.peers.begin(), part_.peers.end());
        batch.blocks.insert(batch.blocks.end(), part_.blocks.begin(), part_.blocks.end());
        batch.units.insert(batch.units.end(), part_.units.begin(), part_.units.end());
        batch.texts.insert(batch.texts.end(), part_.texts.begin(), part_.texts.end());
    }

    void release_first(Moved result) {
        first_->strand().post([self = shared_from_this(), result = std::move(result)]() mutable {
            self->first_->release();
            self->end(std::move(result));
        });
    }

    // One of them was moved since it was found: both are looked for where they are now.
    void end(Moved result) {
        if (was_moved_) return again_(std::move(reply_));
        reply_(std::move(result));
    }

    std::shared_ptr<MemoryCalls::Body> memory_;
    std::shared_ptr<Core> kernel_;
    Caller by_;
    std::shared_ptr<LiveDocument> context_;
    std::shared_ptr<LiveDocument> archival_;
    std::string label_;
    std::string archival_label_;
    Function<void(Reply<MemoryMoved>)> again_;
    Reply<MemoryMoved> reply_;
    bool was_moved_ = false;
    std::shared_ptr<LiveDocument> first_;
    std::shared_ptr<LiveDocument> second_;
    std::optional<OpenedMemory> opened_context_;
    std::optional<OpenedMemory> opened_archival_;
    MemoryMoved moved_;
    store::Batch part_;
};

}  // namespace

void MemoryCalls::Body::swap(Caller by, std::string label, std::string archival_label,
                             Reply<MemoryMoved> reply) {
    Result<std::shared_ptr<LiveDocument>> context =
        MemoryAddress{label, by.actor}.find(kernel->catalog());
    if (!context) return reply(Failure(std::move(context).error()));
    Result<std::shared_ptr<LiveDocument>> archival =
        MemoryAddress{archival_label, by.actor}.find(kernel->catalog());
    if (!archival) return reply(Failure(std::move(archival).error()));
    if (*context == *archival) return reply(is_archived(label, false));
    auto again = [self = shared_from_this(), by, label,
                  archival_label](Reply<MemoryMoved> answer) mutable {
        self->swap(std::move(by), std::move(label), std::move(archival_label), std::move(answer));
    };
    std::make_shared<Swap>(shared_from_this(), std::move(by), std::move(*context),
                           std::move(*archival), std::move(label), std::move(archival_label),
                           std::move(again), std::move(reply))
        ->start();
}

void MemoryCalls::swap(Caller by, std::string label, std::string archival_label,
                       Reply<MemoryMoved> reply) {
    body_->swap(std::move(by), std::move(label), std::move(archival_label), std::move(reply));
}

}  // namespace quire::kernel
