// A change goes to the strand of its file's document. There FileGate::take_in() compares the bytes
// and merges, and settle() decides whether anything is to be published, and as whose. Nothing waits
// here: `done` is called from the strand. A rename first claims the new name for the document; then
// it is an ordinary change at the new path.
//
//   take() ─► no document ──────────────────────────────────► publish
//        └──► rename() ─► take_into() ─► settle() on the strand ─► publish, if it is a change
#include "kernel/files/disk_intake.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/core/core.h"
#include "kernel/core/frame.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_gate.h"

namespace quire::kernel {
namespace {

Caller disk_caller() {
    return {{policy::ActorKind::source, "disk"}, 0, {}};
}

// A stamp need not be settled here: the question is which state of the file it speaks of, and not
// if its bytes may differ.
bool is_same_file(const fs::Stamp& a, const fs::Stamp& b) {
    return a.device == b.device && a.inode == b.inode && a.size == b.size &&
           a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns;
}

// The actor of the newest change whose text is on the disk. Edits that are not saved are newer.
std::string writer_of(LiveDocument& document, const files::DiskState& disk) {
    const auto is_on_disk = [&](const Unit& unit) {
        return std::ranges::all_of(unit.spans, [&](const crdt::IdSpan& span) {
            const auto saved = disk.version.find(span.peer);
            return saved != disk.version.end() && span.end <= saved->second;
        });
    };
    const Unit* const unit = document.whole().state->history.newest(is_on_disk);
    return unit == nullptr ? disk_caller().actor.str() : unit->actor;
}

// The meaning of a change on the disk for its document.
struct Taken {
    bool is_change = false;
    std::string block_id;
    std::string actor;
};

}  // namespace

struct DiskIntake::Body : std::enable_shared_from_this<DiskIntake::Body> {
    Body(std::shared_ptr<Core> core, FileGate& files, FileHub& events)
        : kernel(std::move(core)), gate(files), hub(events) {}

    std::shared_ptr<LiveDocument> document_of(const fs::TreeChange& change) const;
    Taken settle(LiveDocument& document, const fs::TreeChange& change, Evidence evidence) const;
    void take(fs::TreeChange change, Function<void()> done);
    void take_into(const std::shared_ptr<LiveDocument>& document, fs::TreeChange change,
                   Function<void()> done, Evidence evidence = Evidence::stamp);
    void rename(const std::shared_ptr<LiveDocument>& document, fs::TreeChange change,
                Function<void()> done);
    void rename_copies(const fs::TreeChange& change);
    void publish(const fs::TreeChange& change, std::string block_id, std::string actor) const;

    std::shared_ptr<Core> kernel;
    FileGate& gate;
    FileHub& hub;
};

DiskIntake::DiskIntake(Kernel& kernel, FileGate& gate, FileHub& hub)
    : body_(std::make_shared<Body>(kernel.core(), gate, hub)) {}

void DiskIntake::take(fs::TreeChange change, Function<void()> done) {
    body_->take(std::move(change), std::move(done));
}

std::optional<fs::Hash> DiskIntake::known_hash(const std::string& path) const {
    Catalog& catalog = body_->kernel->catalog();
    for (const store::DocumentRecord& record : catalog.named(kFileKind, path)) {
        if (const auto state = files::DiskState::decode(record.header)) return state->hash;
    }
    return std::nullopt;
}

void DiskIntake::check(const std::shared_ptr<LiveDocument>& document, Evidence evidence,
                       Function<void()> done) {
    const auto record = body_->kernel->catalog().record(document->key());
    if (!record || record->deleted) return done();
    fs::TreeChange change;
    change.path = record->name;
    // Nobody has seen the file change: it is published only if a look at it finds a change.
    change.is_unsure = true;
    body_->take_into(document, std::move(change), std::move(done), evidence);
}

// A file that was deleted through the kernel has given up its name.
std::shared_ptr<LiveDocument> DiskIntake::Body::document_of(const fs::TreeChange& change) const {
    Catalog& catalog = kernel->catalog();
    auto found = catalog.find(Name{kFileKind, change.path});
    if (found != nullptr || change.type != fs::ChangeType::deleted) return found;
    return catalog.find_deleted(kFileKind, change.path);
}

void DiskIntake::Body::take(fs::TreeChange change, Function<void()> done) {
    if (change.type == fs::ChangeType::renamed) {
        auto from = kernel->catalog().find(Name{kFileKind, change.from});
        if (from != nullptr) return rename(from, std::move(change), std::move(done));
    }
    const auto document = document_of(change);
    if (document != nullptr) return take_into(document, std::move(change), std::move(done));
    // Nobody knows its bytes, so that only a change of its times counts.
    if (!change.is_unsure) publish(change, "", gate.author_of(change.path, "").str());
    done();
}

// On the document's strand. The state before says if the change is one that was made by a save.
Taken DiskIntake::Body::settle(LiveDocument& document, const fs::TreeChange& change,
                               Evidence evidence) const {
    Taken out{false, document.id_of(document.whole()).str(), gate.author_of(change.path, "").str()};
    const std::optional<files::DiskState> before = gate.state(document);
    if (document.record().deleted) {
        // Another file may have had the name since.
        const bool is_own = before && is_same_file(before->stamp, change.stamp);
        out.is_change = true;
        if (!is_own) out.block_id.clear();
        const auto& units = document.whole().state->history.units();
        if (is_own && !units.empty()) out.actor = units.back().actor;
        return out;
    }
    if (!before) {
        // Its first call reads it.
        out.is_change = !change.is_unsure;
        return out;
    }
    const bool is_renamed = change.type == fs::ChangeType::renamed;
    // The disk has what was last seen there. So the change is a save through the kernel, whose
    // author the history knows, or one that was taken in by an earlier call.
    const bool is_known = !before->missing && change.type != fs::ChangeType::deleted &&
                          is_same_file(before->stamp, change.stamp);
    const Result<DiskUpdate> update = gate.take_in(document, evidence);
    const std::optional<files::DiskState> now = gate.state(document);
    if (!update || !now) {
        out.is_change = true;  // Its bytes are none that a document can have.
    } else if (is_renamed || update->changed || now->missing != before->missing) {
        out.is_change = true;
        if (update->changed) out.actor = update->author;
    } else if (now->missing) {
        out.is_change = change.type == fs::ChangeType::deleted;
    } else if (is_known) {
        out.is_change = !change.is_unsure;
        out.actor = writer_of(document, *now);
    }
    return out;
}

void DiskIntake::Body::take_into(const std::shared_ptr<LiveDocument>& document,
                                 fs::TreeChange change, Function<void()> done, Evidence evidence) {
    kernel->run<Taken>(
        disk_caller(), ThisDocument{document}, Access::admitted,
        [self = shared_from_this(), change, done = std::move(done)](Result<Taken> taken) mutable {
            if (taken && taken->is_change)
                self->publish(change, std::move(taken->block_id), std::move(taken->actor));
            done();
        },
        [self = shared_from_this(), change, evidence](LiveDocument& live, const Caller&) {
            return Result<Taken>(self->settle(live, change, evidence));
        });
}

// The document takes the new name, and then what is in the file there. If another document has that
// name, the two files stay what they are.
void DiskIntake::Body::rename(const std::shared_ptr<LiveDocument>& document, fs::TreeChange change,
                              Function<void()> done) {
    kernel->run_alone<bool>(
        disk_caller(), ThisDocument{document}, Access::admitted,
        [self = shared_from_this(), document, change,
         done = std::move(done)](Result<bool> renamed) mutable {
            if (renamed && *renamed) {
                self->rename_copies(change);
                return self->take_into(document, std::move(change), std::move(done));
            }
            // The name is another document's, or the document has moved on. One after the other, so
            // that subscribers see the old path go before the new one comes.
            fs::TreeChange gone = change, made = std::move(change);
            gone.type = fs::ChangeType::deleted;
            gone.path = std::exchange(gone.from, {});
            made.type = fs::ChangeType::created;
            made.from.clear();
            self->take(std::move(gone),
                       [self, made = std::move(made), done = std::move(done)]() mutable {
                           self->take(std::move(made), std::move(done));
                       });
        },
        [self = shared_from_this(), change](LiveDocument& live, const Caller& by) -> Result<bool> {
            Catalog& catalog = self->kernel->catalog();
            if (live.record().deleted || live.name() != change.from ||
                !catalog.claim_name(Name{kFileKind, change.path}, live.key()))
                return false;
            Unit unit;
            unit.actor = by.actor.str();
            unit.description = cat("rename ", change.path);
            // The disk moved the file, so an undo of texts must not move it back.
            unit.kind = UnitKind::take_back;
            live.begin(by.actor);
            live.transaction().rename(change.path);
            live.record_quietly(live.whole(), std::move(unit));
            follow_record(live, catalog);
            return true;
        });
}

// The private copies of a renamed file follow it. A kernel that ends before leaves them under the
// old path, where their owners still find them.
void DiskIntake::Body::rename_copies(const fs::TreeChange& change) {
    Catalog& catalog = kernel->catalog();
    for (const store::DocumentRecord& copy : catalog.named(kStageKind, change.from)) {
        kernel->run<bool>(
            disk_caller(), ThisDocument{catalog.find(copy.key)}, Access::admitted,
            [](const Result<bool>&) {},
            [self = shared_from_this(), change](LiveDocument& live, const Caller& by) {
                Catalog& names = self->kernel->catalog();
                const Name name{kStageKind, change.path, live.record().owner};
                if (live.record().deleted || !names.claim_name(name, live.key()))
                    return Result<bool>(false);
                live.begin(by.actor);
                live.transaction().rename(change.path);
                follow_record(live, names);
                return Result<bool>(true);
            });
    }
}

void DiskIntake::Body::publish(const fs::TreeChange& change, std::string block_id,
                               std::string actor) const {
    auto event = std::make_shared<FileEvent>(
        FileEvent{change.path, change.type, change.from, std::move(block_id), std::move(actor)});
    hub.publish({std::move(event)}, [](const FileEvent& each) {
        return 64 + each.path.size() + each.from.size() + each.block_id.size() + each.actor.size();
    });
}

}  // namespace quire::kernel
