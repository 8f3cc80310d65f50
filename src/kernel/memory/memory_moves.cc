// Archive, load and swap: memory blocks between what is in context and what is out of it. A block
// that is moved keeps its id, its history and who may do what with it; its label and its type
// change.
#include "base/utf8.h"
#include "kernel/core/kinds.h"
#include "kernel/core/take_back.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/memory_record.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// The name that a document has within a transaction that exchanges two: no label has control
// characters.
constexpr std::string_view kNoLabel = "\x01";
// The bytes of a label that leave room for what is added to it. Characters take four bytes at most,
// so a quarter as many characters always fit.
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

// The move of one block, in its pending transaction, as a step of undo. `partner`: the other block
// of a swap. What is archived is in no context, so it is not pinned any more. The former label is
// kept, for an undo is asked for by it.
void move_to(LiveDocument& document, OpenedMemory& opened, const policy::Actor& by,
             const MemoryMove& to, store::DocumentKey partner = 0) {
    RecordState before = record_state(document);
    opened.header.type = to.type;
    if (to.type == MemoryType::archival) opened.header.pinned = false;
    if (to.label != before.name) opened.header.former_label = before.name;
    document.begin(by);
    document.transaction().set_record({to.label, false, encode(opened.header)});
    record_change(document, by, cat(to.word, " ", to.label), std::move(before), {}, partner);
}

// Returns "notes_archived_1700000000", followed by a number if that name is taken. Claiming
// decides, not looking: another call may claim the same name at the same time.
std::string claim_free_label(Catalog& catalog, const LiveDocument& document, std::int64_t now_ms) {
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
    move_to(document, opened, by, to);
    follow_record(document, catalog);
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

template <class Label>
void MemoryCalls::Body::rename(Caller by, const Label& label, std::string to,
                               Reply<MemoryVersion> reply) {
    if (const Result<void> right = check_label(to); !right) return reply(Failure(right.error()));
    run_alone<MemoryVersion>(
        std::move(by), label, std::move(reply),
        [body = shared_from_this(), to = std::move(to)](
            LiveDocument& document, OpenedMemory& opened,
            const Caller& caller) -> Result<MemoryVersion> {
            TRY(policy::permit(opened.rights, Operation::erase));
            TRY(body->fed.check_owned(opened.header, caller.actor, "rename"));
            Catalog& catalog = body->kernel->catalog();
            if (to == document.name() ||
                !catalog.claim_name(name_of_memory(document, to), document.key()))
                return label_exists(to);
            // A new name is no step of undo: another rename takes it back.
            document.begin(caller.actor);
            document.transaction().rename(to);
            document.record_quietly(document.whole(),
                                    memory_entry(caller.actor, cat("rename ", to)));
            follow_record(document, catalog);
            return version_of_memory(document);
        });
}

void MemoryCalls::rename(Caller by, std::string label, std::string to, Reply<MemoryVersion> reply) {
    body_->rename(std::move(by), label, std::move(to), std::move(reply));
}

void MemoryCalls::rename(Caller by, TextLabel label, std::string to, Reply<MemoryVersion> reply) {
    body_->rename(std::move(by), label, std::move(to), std::move(reply));
}

// --- swap ---

namespace {

// One call on two blocks: each gets the other's label, in one transaction. The document with the lower
// key is held first, then the other; both are idle from then on, so that what is prepared of one can
// be stored in the batch of the other. What each block becomes is the derived class's.
template <class T>
class Exchange : public std::enable_shared_from_this<Exchange<T>> {
public:
    using Document = std::shared_ptr<LiveDocument>;

    Exchange(std::shared_ptr<MemoryCalls::Body> memory, Caller by, Document one, Document other,
             Reply<T> reply)
        : memory_(std::move(memory)),
          kernel_(memory_->kernel),
          by_(std::move(by)),
          reply_(std::move(reply)),
          first_(one->key() < other->key() ? one : other),
          second_(first_ == one ? std::move(other) : std::move(one)) {}
    virtual ~Exchange() = default;

    void start() {
        hold(first_, [self = this->shared_from_this()](Result<void> held) {
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

protected:
    // Checks, on the strand of a document that is held and idle, that its part may be done.
    virtual Result<void> check(LiveDocument& live) = 0;
    // Does its part, in a transaction.
    virtual void move(LiveDocument& live) = 0;
    // The answer, once both parts are stored.
    virtual T made() = 0;
    // Returns true if the call was made anew, because one of the blocks was moved since it was
    // found.
    virtual bool again(Reply<T>& /*reply*/) { return false; }

    MemoryCalls::Body& memory() { return *memory_; }
    Core& kernel() { return *kernel_; }
    const Caller& by() const { return by_; }

private:
    // A document is idle when it is held and what it has submitted is durable. Its batch holds
    // nothing then, so its part of the exchange can be taken out whole and joined to the other's.
    void hold(const Document& document, Reply<void> then) {
        kernel_->template enter<void>(
            by_, ThisDocument{document}, Access::look, std::move(then),
            [self = this->shared_from_this()](Visit<void> visit) {
                LiveDocument& live = *visit.document;
                live.doorway().hold();
                live.in_flight().when_durable(
                    [self, &live, visit = std::move(visit)](Result<void> durable) mutable {
                        Result<void> may = durable ? self->check(live) : std::move(durable);
                        if (!may) live.doorway().release();
                        visit.answer(std::move(may));
                    });
            });
    }

    void part_of(LiveDocument& live) {
        move(live);
        keep_text(*memory_->texts, live, kernel_->parts().clock.wall_ms());
        renamed_.push_back(live.record());
    }

    // Runs on the strand of the second document.
    void prepare() {
        store::DocumentRecord room = second_->record();
        room.name = kNoLabel;  // Makes room for the other in the transaction.
        part_of(*second_);
        part_ = second_->give();
        part_.documents.insert(part_.documents.begin(), std::move(room));
        first_->strand().post([self = this->shared_from_this()] { self->store(); });
    }

    // Runs on the strand of the first document.
    void store() {
        // Closing waits for what was submitted before it came to this strand, and for no more.
        if (kernel_->is_closing()) return stored(Failure(kernel_ending()));
        part_of(*first_);
        join(first_->transaction().batch());
        kernel_->count_commit();
        first_->submit([self = this->shared_from_this()](const Result<void>& result) {
            self->stored(result);
        });
    }

    // The names change in the catalog only after they are stored, and both at once: no call finds
    // two blocks, or none, under one of the labels.
    void stored(const Result<void>& result) {
        if (result) {
            Catalog& catalog = kernel_->catalog();
            catalog.exchange_names(name_of_record(renamed_[0]), name_of_record(renamed_[1]));
            for (const store::DocumentRecord& each : renamed_)
                catalog.settle_header(each.key, each.header);
        }
        second_->strand().post([self = this->shared_from_this(), result] {
            self->second_->given(result);
            self->second_->doorway().release();
        });
        first_->doorway().release();
        end(result ? Result<T>(made()) : Failure(result.error()));
    }

    // Orders the records so that each label is released before the other block claims it.
    void join(store::Batch& batch) {
        batch.documents.insert(batch.documents.begin(), std::move(part_.documents.front()));
        part_.documents.erase(part_.documents.begin());
        batch.append(std::move(part_));
    }

    void release_first(Result<T> result) {
        first_->strand().post(
            [self = this->shared_from_this(), result = std::move(result)]() mutable {
                self->first_->doorway().release();
                self->end(std::move(result));
            });
    }

    void end(Result<T> result) {
        if (!again(reply_)) reply_(std::move(result));
    }

    std::shared_ptr<MemoryCalls::Body> memory_;
    std::shared_ptr<Core> kernel_;
    Caller by_;
    Reply<T> reply_;
    Document first_;
    Document second_;
    std::vector<store::DocumentRecord> renamed_;
    store::Batch part_;
};

class Swap final : public Exchange<MemoryMoved> {
public:
    Swap(std::shared_ptr<MemoryCalls::Body> memory, Caller by, const Document& context,
         const Document& archival, std::string label, std::string archival_label,
         Function<void(Reply<MemoryMoved>)> anew, Reply<MemoryMoved> reply)
        : Exchange(std::move(memory), std::move(by), context, archival, std::move(reply)),
          context_(context),
          archival_(archival),
          label_(std::move(label)),
          archival_label_(std::move(archival_label)),
          anew_(std::move(anew)) {}

private:
    Result<void> check(LiveDocument& live) override {
        const bool is_archival = &live == archival_.get();
        std::string& wanted = is_archival ? archival_label_ : label_;
        if (!MemoryAddress{wanted, by().actor}.is_meant(kernel().catalog(), live)) {
            was_moved_ = true;
            return no_such_memory(wanted);
        }
        OpenedMemory opened = TRY(open_memory(live, by(), wanted, kernel()));
        wanted = live.name();
        TRY(is_archival ? may_load(opened) : may_archive(opened, Operation::overwrite));
        TRY(memory().fed.check_owned(opened.header, by().actor, "swap"));
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

    void move(LiveDocument& live) override {
        if (&live == archival_.get()) {
            move_to(live, *opened_archival_, by().actor,
                    MemoryMove{MemoryType::working, label_, "swap"}, context_->key());
            moved_ = {version_of_memory(live), archival_label_};
        } else {
            move_to(live, *opened_context_, by().actor,
                    MemoryMove{MemoryType::archival, archival_label_, "swap"}, archival_->key());
        }
    }

    MemoryMoved made() override { return std::move(moved_); }
    bool again(Reply<MemoryMoved>& reply) override {
        if (was_moved_) anew_(std::move(reply));
        return was_moved_;
    }

    Document context_;
    Document archival_;
    std::string label_;
    std::string archival_label_;
    Function<void(Reply<MemoryMoved>)> anew_;
    bool was_moved_ = false;
    std::optional<OpenedMemory> opened_context_;
    std::optional<OpenedMemory> opened_archival_;
    MemoryMoved moved_;
};

// The undo, or the redo, of a swap, in both blocks. Both blocks must still have their half of the
// swap as it was left; otherwise one label would be taken from a block that has got it by another
// call since.
class SwapBack final : public Exchange<MemoryUndone> {
public:
    SwapBack(std::shared_ptr<MemoryCalls::Body> memory, Caller by, const Document& found,
             const Document& other, bool redo, Reply<MemoryUndone> reply)
        : Exchange(std::move(memory), std::move(by), found, other, std::move(reply)),
          found_(found),
          other_(other),
          redo_(redo) {}

private:
    Result<void> check(LiveDocument& live) override {
        const OpenedMemory opened = TRY(open_memory(live, by(), live.name(), kernel()));
        TRY(policy::permit(opened.rights, Operation::overwrite));
        const store::DocumentKey partner = (&live == found_.get() ? other_ : found_)->key();
        Unit* const unit = swap_of(live, partner);
        std::optional<RecordState> wanted;
        if (unit != nullptr) wanted = TRY(record_set_back(live, *unit->record, redo_));
        if (!wanted) {
            return fail(Errc::conflict, "version_conflict",
                        "the swap cannot be taken back: one of the two blocks was moved, deleted "
                        "or taken back since; swap them again instead");
        }
        (&live == found_.get() ? wanted_found_ : wanted_other_) = std::move(wanted);
        return {};
    }

    // The newest swap of the caller's with that block that can be taken back.
    Unit* swap_of(LiveDocument& live, store::DocumentKey partner) const {
        const UnitState state = redo_ ? UnitState::undone : UnitState::done;
        return live.whole().state->history.newest([&](const Unit& unit) {
            return unit.record && unit.record->partner == partner && unit.state == state &&
                   unit.kind == UnitKind::record && unit.actor == by().actor.str();
        });
    }

    void move(LiveDocument& live) override {
        const bool is_found = &live == found_.get();
        RecordState& wanted = *(is_found ? wanted_found_ : wanted_other_);
        Unit* const unit = swap_of(live, (is_found ? other_ : found_)->key());
        RecordChange change{record_state(live), wanted};
        live.begin(by().actor);
        live.transaction().set_record(std::move(wanted));
        end_take_back(live, live.whole(), by().actor,
                      {{unit}, redo_, false, {}, std::move(change)});
        if (is_found) undone_ = {version_of_memory(live), 1, 0, 0};
    }

    MemoryUndone made() override { return std::move(undone_); }

    Document found_;
    Document other_;
    bool redo_;
    std::optional<RecordState> wanted_found_;
    std::optional<RecordState> wanted_other_;
    MemoryUndone undone_;
};

}  // namespace

// Both blocks are found before either is held. One that was given another label in between makes
// the call begin anew.
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
    std::make_shared<Swap>(shared_from_this(), std::move(by), *context, *archival, std::move(label),
                           std::move(archival_label), std::move(again), std::move(reply))
        ->start();
}

void MemoryCalls::Body::take_swap_back(Caller by, std::shared_ptr<LiveDocument> found,
                                       store::DocumentKey partner, bool redo,
                                       Reply<MemoryUndone> reply) {
    auto other = kernel->catalog().find(partner);
    if (other == nullptr || other->kind() != kMemoryKind)
        return reply(no_such_memory(conversation::BlockId{partner, -1, 0}.str()));
    std::make_shared<SwapBack>(shared_from_this(), std::move(by), std::move(found),
                               std::move(other), redo, std::move(reply))
        ->start();
}

void MemoryCalls::swap(Caller by, std::string label, std::string archival_label,
                       Reply<MemoryMoved> reply) {
    body_->swap(std::move(by), std::move(label), std::move(archival_label), std::move(reply));
}

}  // namespace quire::kernel
