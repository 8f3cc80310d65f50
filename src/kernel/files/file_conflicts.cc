// Conflicts between a file and its document: listing them, settling them, and reconciling on
// request. They are made where the disk's changes are taken in (file_gate.cc).
//
// A settled conflict is an edit like any other: one version, which its actor can undo, admitted and
// approved as an edit. Only its record goes, so that the file can be saved. Where the document keeps
// its own text, the entry of history that says so has nothing to take back.
#include <algorithm>
#include <utility>

#include "crdt/doc/text.h"
#include "files/reconcile.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"
#include "kernel/files/conflict_region.h"
#include "kernel/files/file_body.h"
#include "kernel/files/file_gate.h"
#include "text/diff.h"
#include "text/merge3.h"

namespace quire::kernel {
namespace {

using files::Conflict;
using files::ConflictKind;
using policy::Operation;

std::string ids_of(const std::vector<Conflict>& conflicts) {
    std::string out;
    for (const Conflict& conflict : conflicts) out += cat(out.empty() ? "" : ", ", conflict.id());
    return out;
}

List id_list(const std::vector<Conflict>& conflicts) {
    List out;
    for (const Conflict& conflict : conflicts) out.emplace_back(conflict.id());
    return out;
}

// A part without text is the empty range at its line; at the end of a text that ends with a
// newline, that behind the last line.
text::LineRange lines_of(const seq::Rope& rope, TextPart part) {
    const bool at_end = part.begin == rope.bytes().n && rope.ends_with_newline();
    const std::size_t begin =
        at_end || rope.empty() ? rope.lines().n : rope.to_line(text::Byte{part.begin}).n;
    if (part.end == part.begin) return {{begin}, {begin}};
    return {{begin}, {rope.to_line(text::Byte{part.end - 1}).n + 1}};
}

// The terminator that the text uses: "\r\n" if it has no other.
std::string_view terminator_of(const seq::Rope& rope) {
    const std::size_t crlfs = rope.crlfs();
    return crlfs > 0 && crlfs == rope.newlines() ? "\r\n" : "\n";
}

// `text` as whole lines of the place: with a terminator if lines follow it, or if the text that it
// replaces had one.
std::string as_lines(std::string text, const seq::Rope& rope, TextPart part) {
    const bool follows = part.end < rope.bytes().n;
    const bool had_one = part.end > part.begin && !follows && rope.ends_with_newline();
    if (!text.empty() && text.back() != '\n' && (follows || had_one)) text += terminator_of(rope);
    return text;
}

Failure content_argument(std::string_view problem) {
    return invalid("invalid_arguments", cat("nothing was changed: ", problem));
}

// Which of the open conflicts a call settles. Errors: those of FileCalls::resolve().
Result<std::vector<std::size_t>> chosen(const files::DiskState& disk, const FileResolve& what) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < disk.conflicts.size(); ++i) {
        if (!what.conflict_id || disk.conflicts[i].id() == *what.conflict_id) out.push_back(i);
    }
    if (out.empty()) {
        Map details{{"path", what.path}, {"conflicts", id_list(disk.conflicts)}};
        if (what.conflict_id) details.set("conflict_id", *what.conflict_id);
        return fail(Errc::not_found, "invalid_reference",
                    disk.conflicts.empty()
                        ? cat(what.path, " has no open conflict: nothing is to be settled")
                        : cat(what.path, " has no open conflict ", *what.conflict_id, "; open are ",
                              ids_of(disk.conflicts)),
                    std::move(details));
    }
    const bool is_text = what.choice == ConflictChoice::text;
    if (is_text && !what.content)
        return content_argument("choice text needs content, the text that is to stand there");
    if (!is_text && what.content) return content_argument("content goes with choice text only");
    if (is_text && out.size() > 1) {
        return content_argument(cat("several conflicts are open (", ids_of(disk.conflicts),
                                    "); name the one that the content is for by conflict_id"));
    }
    return out;
}

// The text that the choice puts in the place of a conflict; none where the document keeps its own.
// Errors: conflict "needs_resolution".
Result<std::optional<std::string>> settled_text(const Conflict& conflict, const FileResolve& what,
                                                const std::string& now) {
    switch (what.choice) {
        case ConflictChoice::agent:
            return std::optional<std::string>();
        case ConflictChoice::disk:
            return std::optional(conflict.disk);
        case ConflictChoice::text:
            return std::optional(*what.content);
        case ConflictChoice::merge:
            break;
    }
    if (conflict.kind == ConflictKind::deletion) {
        return fail(Errc::conflict, "needs_resolution",
                    cat(what.path,
                        " is gone from the disk, and a deletion cannot be merged with edits. "
                        "Choose agent to keep the text, or disk to delete the file here too"),
                    {{"path", what.path}, {"conflict_id", conflict.id()}});
    }
    return std::optional(text::keep_both(conflict.base, now, conflict.disk, text::Side::theirs));
}

// Checks that the disk has nothing in the place of a file whose edits are to be kept. Error: conflict
// "path_changed" {path}.
Result<void> check_vacant(fs::FileSystem& files, const std::string& path) {
    const fs::Place place = TRY(files.resolve(path));
    if (!place.linked() && (place.kind == fs::Kind::missing || place.kind == fs::Kind::file))
        return {};
    const std::string what = place.linked()                      ? cat("a link to ", place.path)
                             : place.kind == fs::Kind::directory ? std::string("a directory")
                                                                 : std::string("no file");
    return fail(Errc::conflict, "path_changed",
                cat(path, " is ", what,
                    " on the disk now, so that its text has no place there. Move "
                    "that away to keep the text, or choose disk to drop it"),
                {{"path", path}});
}

std::vector<store::DocumentKey> file_documents(const Catalog& catalog) {
    std::vector<store::DocumentKey> keys = catalog.keys();
    std::erase_if(keys, [&](store::DocumentKey key) {
        const auto record = catalog.record(key);
        return !record || record->kind != kFileKind;
    });
    return keys;
}

}  // namespace

bool FileCalls::Conflicts::was_told(const LiveDocument& document, const files::DiskState& disk,
                                    const policy::Actor& actor) {
    return told_.with([&](auto& all) {
        // Knowledge of a conflict is of one content of the disk. Other bytes there are news for
        // everybody.
        Told& told = all[document.key()];
        if (told.hash != disk.hash) told.actors.clear();
        told.hash = disk.hash;
        return !told.actors.insert(actor.str()).second;
    });
}

void FileCalls::Conflicts::forget(store::DocumentKey document) {
    told_.with([&](auto& all) { all.erase(document); });
}

Result<void> FileCalls::Conflicts::check_settled(LiveDocument& document,
                                                 const files::DiskState& disk) {
    if (!disk.has_conflict()) return {};
    return unresolved(document, disk, disk.has_deletion() ? "disk_changed" : "needs_resolution",
                      "was not changed");
}

Failure FileCalls::Conflicts::unresolved(LiveDocument& document, const files::DiskState& disk,
                                         std::string_view reason, std::string_view what) {
    const std::string& path = document.name();
    return fail(
        Errc::conflict, std::string(reason),
        cat(path, " ", what, ": ",
            disk.has_deletion()
                ? "it was deleted on disk, and the document has edits that are not saved. file "
                  "resolve with choice agent keeps them, and a save then writes the file anew; "
                  "choice disk drops them"
                : "disk and document changed the same words. The document shows its own; file "
                  "conflicts shows both sides, and file resolve settles them with choice disk, "
                  "agent, merge or text",
            " (open: ", ids_of(disk.conflicts), ")"),
        {{"path", path}, {"conflicts", id_list(disk.conflicts)}});
}

void FileCalls::conflicts(Caller by, std::optional<std::string> path,
                          Reply<std::vector<FileConflict>> reply) {
    using All = std::vector<FileConflict>;
    if (path) {
        return body_->read<All>(
            by, std::move(*path), std::move(reply),
            [body = body_, by](LiveDocument& document) -> Result<All> {
                return body->conflicts.list(document, by.actor);
            },
            Body::by_name(Operation::read, Body::Staged::passed));
    }
    auto all = std::make_shared<All>();
    std::make_shared<Walk>(
        body_->kernel, by, file_documents(body_->kernel->catalog()),
        Walk::Round{[body = body_, by, all](LiveDocument& live) {
                        if (live.record().deleted) return true;
                        for (FileConflict& one : body->conflicts.list(live, by.actor))
                            all->push_back(std::move(one));
                        return true;
                    },
                    [all, reply = std::move(reply)](Result<void> done) mutable {
                        if (!done) return reply(Failure(std::move(done).error()));
                        reply(std::move(*all));
                    },
                    Access::read, Walk::passing_over})
        ->next();
}

std::vector<FileConflict> FileCalls::Conflicts::list(LiveDocument& document,
                                                     const policy::Actor& by) {
    std::vector<FileConflict> out;
    const std::optional<files::DiskState> disk = files_.gate.state(document);
    if (!disk || disk->conflicts.empty()) return out;
    // The list tells its caller of the conflicts: a save is from now on refused as
    // needs_resolution.
    was_told(document, *disk, by);
    files_.kernel->flush(document, document.whole());
    const crdt::Handle content = document.whole().content;
    const seq::Rope rope = document.doc().text(content).rope();
    for (const Conflict& conflict : disk->conflicts) {
        const TextPart part = place_of(document.doc(), conflict.region, content);
        out.push_back({conflict.id(), document.name(), conflict.kind, lines_of(rope, part),
                       conflict.base, rope.slice({part.begin}, {part.end}), conflict.disk,
                       conflict.actor, conflict.since_ms});
    }
    return out;
}

void FileCalls::resolve(Caller by, FileResolve what, Reply<FileResolved> reply) {
    std::string path = what.path;
    body_->run<FileResolved>(
        std::move(by), std::move(path), Body::by_name(Operation::overwrite, Body::Staged::refused),
        std::move(reply),
        [body = body_, what = std::move(what)](LiveDocument& document, const DiskUpdate&,
                                               const Caller& caller) mutable {
            return body->conflicts.resolve(document, caller, what);
        });
}

Result<FileResolved> FileCalls::Conflicts::resolve(LiveDocument& document, const Caller& by,
                                                   FileResolve& what) {
    const BlockRef block = document.whole();
    files_.kernel->flush(document, block);
    what.path = document.name();
    files::DiskState disk = *files_.gate.state(document);
    const std::vector<std::size_t> settled = TRY(chosen(disk, what));
    if (disk.has_deletion() && what.choice != ConflictChoice::disk)
        TRY(check_vacant(files_.gate.files(), what.path));
    // The text may have been edited since the conflict was met, so each place is looked up now.
    // Splices are the smallest ones within a place: characters that stay keep their authors and
    // their cursors.
    const seq::Rope rope = document.doc().text(block.content).rope();
    std::vector<text::Splice> splices;
    for (const std::size_t i : settled) {
        const Conflict& conflict = disk.conflicts[i];
        if (conflict.kind == ConflictKind::deletion && what.choice == ConflictChoice::disk)
            return take_deletion(document, by);
        const TextPart part = place_of(document.doc(), conflict.region, block.content);
        const std::string now = rope.slice({part.begin}, {part.end});
        std::optional<std::string> text = TRY(settled_text(conflict, what, now));
        if (!text) continue;
        std::string lines = as_lines(std::move(*text), rope, part);
        for (text::Splice& splice : text::minimal_splices(now, lines)) {
            splice.at.n += part.begin;
            splices.push_back(std::move(splice));
        }
        if (conflict.kind != ConflictKind::lines) break;  // It is the whole text.
    }
    // Regions that later edits brought together are settled with the first of them.
    std::ranges::stable_sort(splices, {}, [](const text::Splice& splice) { return splice.at.n; });
    std::size_t done = 0;
    std::erase_if(splices, [&](const text::Splice& splice) {
        const bool overlaps = splice.at.n < done;
        if (!overlaps) done = splice.at.n + splice.erase.n;
        return overlaps;
    });
    // Conflicts are taken out from the last one, so that the numbers of those before stay right. A
    // deletion that is settled leaves nothing to open again; the others are kept in case the
    // version is undone.
    for (auto i = settled.rbegin(); i != settled.rend(); ++i) {
        const auto at = disk.conflicts.begin() + static_cast<std::ptrdiff_t>(*i);
        if (at->kind == ConflictKind::deletion) {
            disk.vanished = false;
        } else {
            disk.settled.push_back({std::move(*at)});
        }
        disk.conflicts.erase(at);
    }
    return settle(document, by, std::move(splices), std::move(disk));
}

// Makes the edit that settles conflicts, with the state of the disk without them, and saves the file
// if every edit is. Those that it settles are the last of disk.settled; an undo of its version opens
// them again, as long as the disk is what it is now.
Result<FileResolved> FileCalls::Conflicts::settle(LiveDocument& document, const Caller& by,
                                                  std::vector<text::Splice> splices,
                                                  files::DiskState disk) {
    const BlockRef block = document.whole();
    const bool saves = files_.saves_on_commit() && !disk.has_conflict();
    const bool changes = !splices.empty();
    TextEdit what{
        "resolve",
        [splices = std::move(splices)](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
            return edits::Planned{splices, {}};
        }};
    Edited edited;
    // Three cases. A change that is saved with its call writes the disk before the document, all or
    // nothing. A change that is not saved is an edit. Without a change the document keeps its text,
    // and a save puts that on the disk.
    if (changes && saves) {
        edited = TRY(files_.edit_and_save(document, by, what, disk)).edited;
    } else {
        edited = TRY(files_.kernel->edit(document, block, by, what));
        std::optional<FileSaved> saved;
        if (saves) saved = TRY(files_.save_now(document, by, disk));
        if (!changes) {
            Unit unit;
            unit.actor = by.actor.str();
            unit.description = "resolve";
            // An undo can give back nothing but a conflict, and none once the file is saved.
            const bool can_reopen = std::ranges::any_of(
                disk.settled, [](const auto& each) { return each.version == 0; });
            if (!can_reopen || (saved && saved->written)) unit.kind = UnitKind::take_back;
            document.begin(by.actor);
            document.record(block, std::move(unit));
            edited.version = block.state->version;
            edited.no_op = false;
        }
        for (files::SettledConflict& each : disk.settled) {
            if (each.version == 0) each.version = edited.version;
        }
        if (!saved || !saved->written) document.transaction().set_header(disk.encode());
    }
    edited.notes.push_back(
        disk.has_conflict() ? cat("still open: ", ids_of(disk.conflicts))
        : saves             ? std::string("no conflict is left, and the file is saved")
                            : std::string("no conflict is left: file save writes it to the disk"));
    return FileResolved{version_of_file(document), std::move(edited)};
}

// The file stays deleted, and its edits go with it; they stay in the block's history.
Result<FileResolved> FileCalls::Conflicts::take_deletion(LiveDocument& document, const Caller& by) {
    const fs::Place place{document.name(), {}, fs::Kind::file};
    TRY(files_.gate.admit(place, Operation::erase, by.actor,
                          files_.kernel->oversight().approved(by, document)));
    TRY(by.check_approved([&] {
        return file_diff(document, document.doc().text(document.whole().content).rope().str(), "");
    }));
    files_.record_deletion(document, by.actor);
    FileResolved out{version_of_file(document), {}};
    out.edited.version = out.file.version;
    out.edited.notes.emplace_back("the file stays deleted, and its block with it");
    return out;
}

// One call of FileCalls::reconcile() that names paths: one file after another.
class FileCalls::Reconciling : public std::enable_shared_from_this<FileCalls::Reconciling> {
public:
    using All = std::vector<FileReconciled>;

    Reconciling(std::shared_ptr<Body> files, Caller by, std::vector<std::string> paths,
                Reply<All> reply)
        : files_(std::move(files)),
          by_(std::move(by)),
          paths_(std::move(paths)),
          reply_(std::move(reply)) {}

    // The first error ends the call; what was taken in of the files before it stays.
    void next() {
        if (done_.size() == paths_.size()) return reply_(std::move(done_));
        Reply<FileReconciled> one = [self = shared_from_this()](Result<FileReconciled> made) {
            if (!made) return self->reply_(Failure(std::move(made).error()));
            self->done_.push_back(std::move(*made));
            self->next();
        };
        files_->at_door<FileReconciled>(
            std::move(one), paths_[done_.size()],
            [self = shared_from_this()](fs::Place place, Reply<FileReconciled> answer) {
                self->visit(place, std::move(answer));
            });
    }

private:
    void visit(const fs::Place& place, Reply<FileReconciled> reply) {
        if (const auto file = require_text_file(place); !file) return reply(Failure(file.error()));
        Caller by = by_;
        if (!files_->admits(by, place, Operation::read, reply)) return;
        FileAddress at{{kFileKind, place.path}, nullptr};
        if (place.kind == fs::Kind::missing) {
            at.known = files_->kernel->catalog().find(Name{kFileKind, place.path});
            if (at.known == nullptr) return reply(no_such_file(place.path));
        }
        files_->kernel->run<FileReconciled>(
            std::move(by), std::move(at), Access::admitted, std::move(reply),
            [self = shared_from_this()](LiveDocument& document, const Caller& caller) {
                return self->files_->conflicts.reconcile(document, caller);
            });
    }

    const std::shared_ptr<Body> files_;
    const Caller by_;
    const std::vector<std::string> paths_;
    Reply<All> reply_;
    All done_;
};

void FileCalls::reconcile(Caller by, std::vector<std::string> paths,
                          Reply<std::vector<FileReconciled>> reply) {
    using All = std::vector<FileReconciled>;
    if (!paths.empty()) {
        return std::make_shared<Reconciling>(body_, std::move(by), std::move(paths),
                                             std::move(reply))
            ->next();
    }
    auto all = std::make_shared<All>();
    std::make_shared<Walk>(body_->kernel, by, file_documents(body_->kernel->catalog()),
                           Walk::Round{[body = body_, by, all](LiveDocument& live) {
                                           if (live.record().deleted) return true;
                                           Result<FileReconciled> one =
                                               body->conflicts.reconcile(live, by);
                                           if (one && one->result != ReconcileResult::no_change)
                                               all->push_back(std::move(*one));
                                           return true;
                                       },
                                       [all, reply = std::move(reply)](Result<void> done) mutable {
                                           if (!done)
                                               return reply(Failure(std::move(done).error()));
                                           reply(std::move(*all));
                                       },
                                       Access::look, Walk::passing_over})
        ->next();
}

Result<FileReconciled> FileCalls::Conflicts::reconcile(LiveDocument& document, const Caller& by) {
    if (document.record().deleted) return no_such_file(document.name());
    files_.kernel->flush(document, document.whole());
    // A reconcile trusts no stamp: that is what it is called for.
    TRY(files_.gate.take_in(document, Evidence::bytes));
    const DiskUpdate update = files_.gate.last_news(document);
    const files::DiskState disk = *files_.gate.state(document);
    FileReconciled out;
    out.path = document.name();
    out.block_id = version_of_file(document).block_id;
    if (!disk.has_conflict() && !update.is_news()) return out;
    out.change_type = disk.missing  ? DiskChange::deleted
                      : update.back ? DiskChange::created
                                    : DiskChange::modified;
    if (disk.has_conflict()) {
        was_told(document, disk, by.actor);
        out.result = ReconcileResult::needs_resolution;
        const std::string ours = document.doc().text(document.whole().content).rope().str();
        // Both sides are compared with the text that they come from, which the conflict records
        // give back: the version of the disk has the disk's words, and the document its own.
        std::string theirs = TRY(text_at(document, disk.version));
        const std::string base = files::common_base(theirs, disk.conflicts);
        if (disk.has_deletion()) theirs.clear();
        out.disk_changes = file_diff(document, base, theirs);
        out.agent_changes = file_diff(document, base, ours);
        return out;
    }
    out.result = ReconcileResult::resolved;
    out.final_version = document.whole().state->version;
    out.resolution = update.resolution.value_or(Resolution::disk_wins);
    if (!update.resolution) return out;
    const seq::Rope base = TRY(rope_at(document, update.base_version));
    out.disk_changes = file_diff(document, base, TRY(rope_at(document, update.disk_version)));
    out.agent_changes = file_diff(document, base, TRY(rope_at(document, update.agent_version)));
    return out;
}

}  // namespace quire::kernel
