// Saving files and deleting them: the calls that write to the disk what the document says.
//
// A save compares and swaps: it replaces the bytes that were last seen, and where the disk has
// others by then they are taken in and the save is tried again. While a conflict is open nothing is
// saved (file_conflicts.cc). A delete never takes away what its caller has not seen. An
// edit that is saved with its call (SaveWhen::on_commit) is all or nothing, on the disk too.
#include <set>

#include "crdt/doc/text.h"
#include "files/form.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_body.h"
#include "kernel/files/file_gate.h"

namespace quire::kernel {
namespace {

// How often a save meets a disk that changed between being read and being written before it gives
// up.
constexpr int kSaveTries = 3;
// How often a displaced file that is being written to is looked at again.
constexpr std::int64_t kLateAgainMs = 100;

}  // namespace

using policy::Operation;

void FileCalls::save(Caller by, std::string path, Reply<FileSaved> reply) {
    body_->run<FileSaved>(
        std::move(by), std::move(path), Body::saving(), std::move(reply),
        [body = body_](LiveDocument& document, const DiskUpdate&, const Caller& caller) {
            return body->save(document, caller);
        });
}

Result<FileSaved> FileCalls::Body::save(LiveDocument& document, const Caller& by) {
    kernel->flush(document, document.whole());
    // An edit may have come after the file was found to be gone.
    if (gate.state(document)->vanished) TRY(gate.take_in(document));
    // `disk_changed` from save_now() says that the bytes are not those that were last seen. They
    // are taken in, which may open a conflict, and the merged text is saved.
    for (int attempt = 0;; ++attempt) {
        const files::DiskState disk = *gate.state(document);
        if (disk.has_conflict()) {
            const bool is_known =
                conflicts.was_told(document, disk, by.actor) && !disk.has_deletion();
            return Conflicts::unresolved(
                document, disk, is_known ? "needs_resolution" : "disk_changed", "was not saved");
        }
        Result<FileSaved> saved = save_now(document, by, disk);
        if (saved || saved.error().reason() != "disk_changed" || attempt + 1 == kSaveTries)
            return saved;
        TRY(gate.take_in(document));
    }
}

// Writes the document's text to the disk if the disk does not have it.
Result<FileSaved> FileCalls::Body::save_now(LiveDocument& document, const Caller& by,
                                            const files::DiskState& disk) {
    const std::string bytes = TRY(bytes_of(document, disk));
    FileSaved result{version_of_file(document), bytes.size(), false, {}};
    if (!disk.missing && fs::Hash::of(bytes) == disk.hash) return result;
    TRY(by.check_approved([&] {
        const Result<std::string> before =
            disk.missing ? Result<std::string>(std::string()) : text_at(document, disk.version);
        const std::string after = document.doc().text(document.whole().content).rope().str();
        return file_diff(document, before.value_or(std::string()), after);
    }));
    fs::Saved saved = TRY(write(document, by, disk, bytes));
    result.written = true;
    result.notes = std::move(saved.notes);
    conflicts.forget(document.key());
    document.transaction().set_header(saved_state(document, disk, saved).encode());
    return result;
}

// The edit is planned and checked first, then its whole text goes to the disk, then the document
// changes; only the store can refuse it after that, and then the disk gets its bytes back. A kernel
// that is killed in between leaves the text on the disk, where it is taken in as any change there.
Result<FileEdited> FileCalls::Body::edit_and_save(LiveDocument& document, const Caller& by,
                                                  TextEdit& what) {
    kernel->flush(document, document.whole());
    if (gate.state(document)->vanished) TRY(gate.take_in(document));
    const files::DiskState disk = *gate.state(document);
    TRY(Conflicts::check_settled(document, disk));
    return edit_and_save(document, by, what, disk);
}

Result<FileEdited> FileCalls::Body::edit_and_save(LiveDocument& document, const Caller& by,
                                                  TextEdit& what, const files::DiskState& disk) {
    const BlockRef block = document.whole();
    const std::string& path = document.name();
    const Result<std::string> before = bytes_of(document, disk);
    std::optional<fs::Saved> saved;
    std::string replaced;  // The bytes that the save took from the disk.
    // It runs when the edit is planned, admitted and about to be made. The bytes that the disk
    // loses are kept until the store has the edit.
    what.before = [&](std::span<const text::Splice> splices) -> Result<void> {
        // Without unsaved edits the document itself gives the bytes back, and the disk need not be
        // read.
        const bool clean = before && fs::Hash::of(*before) == disk.hash;
        if (!disk.missing)
            replaced =
                clean ? *before : TRY(gate.files().read(path, kernel->limits().block_bytes)).bytes;
        std::string text = document.doc().text(block.content).rope().str();
        for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice)
            text.replace(splice->at.n, splice->erase.n, splice->insert);
        const std::string bytes = TRY(files::encode(disk.form, std::move(text), path));
        saved = TRY(write(document, by, disk, bytes));
        return {};
    };
    Edited edited = TRY(kernel->edit(document, block, by, what));
    if (saved) {
        edited.notes.insert(edited.notes.end(), saved->notes.begin(), saved->notes.end());
        document.transaction().set_header(saved_state(document, disk, *saved).encode());
        document.transaction().on_stored([&files = gate.files(), path,
                                          replaced = std::move(replaced), hash = saved->hash,
                                          made = disk.missing](Result<void>& stored) {
            if (stored) return;
            if (made) {
                static_cast<void>(files.remove(path, hash));
            } else {
                static_cast<void>(files.save(path, replaced, hash));
            }
        });
    }
    return FileEdited{version_of_file(document), std::move(edited)};
}

Result<FileAppended> FileCalls::Body::append(LiveDocument& document, const Caller& by,
                                             std::string text) {
    TextEdit what{
        "append",
        [text = std::move(text)](const seq::Rope& rope, std::uint64_t) -> Result<edits::Planned> {
            if (text.empty()) return edits::Planned{};
            return edits::Planned{{{rope.bytes(), {0}, text}}, {}};
        },
        true};
    FileEdited made = TRY(edit(document, by, what));
    Appended appended{made.edited.version, true, made.edited.line_count, {}};
    if (!made.edited.no_op) appended.change = std::move(made.edited.change);
    return FileAppended{std::move(made.file), std::move(appended)};
}

Result<fs::Saved> FileCalls::Body::write(LiveDocument& document, const Caller& by,
                                         const files::DiskState& disk, const std::string& bytes) {
    const fs::Place place{document.name(), {}, fs::Kind::file};
    const policy::Operations approved = kernel->oversight().approved(by, document);
    // A file that is gone is made anew, and that is another permission.
    if (disk.missing) {
        TRY(gate.admit(place, Operation::create, by.actor, approved));
        return gate.files().create(document.name(), bytes);
    }
    // An append-only actor may save only if the new content starts with what is on disk.
    const Result<void> allowed = gate.admit(place, Operation::overwrite, by.actor, approved);
    if (!allowed) {
        const fs::FileBytes there =
            TRY(gate.files().read(document.name(), kernel->limits().block_bytes));
        // Other bytes than were last seen are left to the save, which refuses them as disk_changed.
        if (there.hash == disk.hash && !bytes.starts_with(there.bytes))
            return Failure(allowed.error());
    }
    fs::Saved saved = TRY(gate.files().save(document.name(), bytes, disk.hash));
    gate.recent_saves().add_save(document.key(), disk.version, saved.stamp);
    if (saved.displaced != nullptr) {
        gate.late_writes().keep(document.name(), std::move(saved.displaced));
        look_after_displaced(document.name(), LateWrites::kKeptMs);
    }
    return saved;
}

void FileCalls::Body::look_after_displaced(const std::string& path, std::int64_t delay_ms) {
    kernel->parts().scheduler.post_after(delay_ms, [weak = weak_from_this(), path] {
        const auto self = weak.lock();
        if (self != nullptr && self->gate.take_late_writes(path))
            self->look_after_displaced(path, kLateAgainMs);
    });
}

void FileCalls::erase(Caller by, std::string path, Reply<FileVersion> reply) {
    body_->at_door<FileVersion>(
        std::move(reply), path,
        [body = body_, by, path](fs::Place place, Reply<FileVersion> answer) {
            // A delete of a link would have to mean the link or its target. The caller is told to
            // name the file.
            if (place.linked()) {
                return answer(
                    invalid("is_a_link",
                            cat(path, " is reached by a link; nothing was deleted. Delete ",
                                place.path, " by its own name"),
                            {{"path", place.path}}));
            }
            body->run<FileVersion>(
                by, path, {Operation::erase, Body::Staged::refused}, std::move(answer),
                [body](LiveDocument& document, DiskUpdate update, const Caller& caller) {
                    return body->erase(document, caller, update);
                });
        });
}

std::string FileCalls::Body::unsaved_by_others(LiveDocument& document, const policy::Actor& by,
                                               const files::DiskState& disk) {
    if (!gate.dirty(document)) return {};
    // Edits whose operations the version on the disk does not contain. O(history).
    std::set<std::string> actors;
    for (const Unit& unit : document.whole().state->history.units()) {
        if (unit.kind != UnitKind::content || unit.state != UnitState::done ||
            unit.actor == by.str() || unit.actor.starts_with("source:")) {
            continue;
        }
        for (const crdt::IdSpan& span : unit.spans) {
            const auto saved = disk.version.find(span.peer);
            if (saved == disk.version.end() || saved->second < span.end) actors.insert(unit.actor);
        }
    }
    std::string names;
    for (const std::string& actor : actors) names += cat(names.empty() ? "" : ", ", actor);
    return names;
}

Result<void> FileCalls::Body::check_erase(LiveDocument& document, const Caller& by,
                                          DiskUpdate update) {
    // A file that is read here for the first time was not changed behind anyone's back.
    if (update.changed && !update.first) {
        return fail(Errc::conflict, "disk_changed",
                    cat(document.name(),
                        " was not deleted: it was changed on disk since it was last read. Read "
                        "it, and delete it again if that is still right"),
                    {{"path", document.name()}});
    }
    const std::string others = unsaved_by_others(document, by.actor, *gate.state(document));
    if (others.empty()) return {};
    return fail(Errc::conflict, "unsaved_edits",
                cat(document.name(), " was not deleted: it has edits by ", others,
                    " that are not saved. Save the file first, or let them undo"),
                {{"path", document.name()}, {"actors", others}});
}

Result<FileVersion> FileCalls::Body::erase(LiveDocument& document, const Caller& by,
                                           DiskUpdate update) {
    kernel->flush(document, document.whole());
    const files::DiskState disk = *gate.state(document);
    TRY(check_erase(document, by, update));
    TRY(by.check_approved([&] {
        return file_diff(document, document.doc().text(document.whole().content).rope().str(), "");
    }));
    // The file goes only while it has the bytes that were last seen. A kernel that is killed before
    // the record is stored leaves a document whose file is missing, as after any deletion on the
    // disk.
    if (!disk.missing) TRY(gate.files().remove(document.name(), disk.hash));
    record_deletion(document, by.actor);
    return version_of_file(document);
}

void FileCalls::Body::record_deletion(LiveDocument& document, const policy::Actor& by) {
    Unit unit;
    unit.actor = by.str();
    unit.description = kFileDeleted;
    unit.kind = UnitKind::take_back;
    document.begin(by);
    document.record(document.whole(), std::move(unit));
    document.transaction().set_deleted(true);
    document.transaction().on_stored([&catalog = kernel->catalog(), record = document.record(),
                                      path = document.name()](Result<void>& stored) {
        if (stored) return catalog.settle_deletion(record);
        stored = Failure(std::move(stored).error().within(
            cat(path,
                " is gone from the disk, but its deletion could not be recorded, so that its "
                "block and history stay")));
    });
}

}  // namespace quire::kernel
