// Files by their paths: reading, editing, creating, listing and status. Saving and deleting are in
// file_saves.cc. A file's document is edited as any other (Core::edit); what is peculiar to files is
// how a call finds its document (file_body.h) and that the disk has a say (file_gate.h).
//
// Calls that name one file run as enter() or run() of file_body.h: the path is resolved at the
// door, permission is decided for every name on the way, then the work runs on the document's
// strand. Calls about all files walk their documents, one after another.
#include "kernel/files/file_calls.h"

#include <algorithm>
#include <map>

#include "crdt/doc/text.h"
#include "edits/splice_diff.h"
#include "edits/text_change.h"
#include "files/form.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"
#include "kernel/files/file_body.h"
#include "memory/splices.h"
#include "text/diff.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// A walk over the directory ends after so many entries, and the list says that it is truncated.
constexpr std::size_t kListedFiles = 200'000;

}  // namespace

FileVersion version_of_file(LiveDocument& document) {
    const BlockRef block = document.whole();
    return {document.name(), document.id_of(block).str(), block.state->version};
}

Result<std::string> bytes_of(LiveDocument& document, const files::DiskState& disk) {
    return files::encode(disk.form, document.doc().text(document.whole().content).rope().str(),
                         document.name());
}

bool is_saved(LiveDocument& document, const files::DiskState& disk) {
    const Result<std::string> bytes = bytes_of(document, disk);
    return bytes && fs::Hash::of(*bytes) == disk.hash;
}

std::string file_diff(const LiveDocument& document, std::string_view before,
                      std::string_view after) {
    const std::string name = text::escape_hidden(document.name());
    return text::unified_diff(before, after, {.from = cat("a/", name), .to = cat("b/", name)});
}

std::string file_diff(const LiveDocument& document, const seq::Rope& before,
                      const seq::Rope& after) {
    // The ropes share what is alike, so one splice of the rest is found without a look at the whole
    // text.
    const edits::UnlikePart part = edits::unlike_part(before, after);
    const text::Splice splice{
        {part.begin}, {part.old_end - part.begin}, after.slice({part.begin}, {part.new_end})};
    const std::string name = text::escape_hidden(document.name());
    return edits::splice_diff(before, {&splice, 1},
                              {.from = cat("a/", name), .to = cat("b/", name)});
}

Failure no_such_file(const std::string& path) {
    return fail(
        Errc::not_found, "file_not_found",
        cat("there is no file ", path, "; file list shows those there are, file create makes one"),
        {{"path", path}});
}

Result<void> require_text_file(const fs::Place& place) {
    if (place.kind != fs::Kind::directory && place.kind != fs::Kind::other) return {};
    const bool directory = place.kind == fs::Kind::directory;
    return invalid(
        "not_a_file",
        cat(place.path.empty() ? "." : place.path,
            directory ? " is a directory; file list with the pattern '" : " is not a file",
            directory ? cat(place.path.empty() ? "" : place.path + "/", "**' shows what is in it")
                      : ""),
        {{"kind", directory ? "directory" : "other"}, {"path", place.path}});
}

FileCalls::FileCalls(Kernel& kernel, FileGate& gate, SaveWhen save)
    : body_(std::make_shared<Body>(kernel.core(), gate, save)) {}

void FileCalls::set_save(SaveWhen save) {
    body_->save_when.with([&](SaveWhen& when) { when = save; });
}

bool FileCalls::saves_on_commit() const {
    return body_->saves_on_commit();
}

void FileCalls::read(Caller by, std::string path, edits::Window window, Reply<FileRead> reply) {
    body_->read<FileRead>(by, std::move(path), std::move(reply),
                          [body = body_, by, window](LiveDocument& document) -> Result<FileRead> {
                              BlockText text =
                                  TRY(body->kernel->read(document, document.whole(), by, window));
                              return FileRead{version_of_file(document), std::move(text)};
                          });
}

void FileCalls::open(Caller by, std::string path, Reply<FileVersion> reply) {
    body_->read<FileVersion>(
        std::move(by), std::move(path), std::move(reply),
        [](LiveDocument& document) { return Result<FileVersion>(version_of_file(document)); });
}

void FileCalls::text(Caller by, std::string path, Reply<WholeText> reply) {
    body_->read<WholeText>(by, std::move(path), std::move(reply),
                           [body = body_, by](LiveDocument& document) {
                               return body->kernel->text(document, document.whole(), by);
                           });
}

void FileCalls::edit(Caller by, std::string path, std::string operation, edits::Plan plan,
                     Reply<FileEdited> reply) {
    body_->run<FileEdited>(std::move(by), std::move(path), Operation::overwrite, std::move(reply),
                           [body = body_, what = TextEdit{std::move(operation), std::move(plan)}](
                               LiveDocument& document, DiskUpdate, const Caller& caller) mutable {
                               return body->edit(document, caller, what);
                           });
}

Result<FileEdited> FileCalls::Body::edit(LiveDocument& document, const Caller& by, TextEdit& what) {
    // A private copy is never saved, whatever the settings say.
    if (saves(document)) return edit_and_save(document, by, what);
    Edited edited = TRY(kernel->edit(document, document.whole(), by, what));
    return FileEdited{version_of_file(document), std::move(edited)};
}

void FileCalls::append(Caller by, std::string path, std::string text, Reply<FileAppended> reply) {
    if (text.size() > body_->kernel->limits().operation_bytes)
        return reply(too_large("the text", body_->kernel->limits().operation_bytes));
    // Saving needs the whole text at once. Without it the append goes through the block's buffer,
    // where a stream of them shares its flushes.
    if (body_->saves_on_commit()) {
        return body_->run<FileAppended>(
            std::move(by), std::move(path), Operation::append, std::move(reply),
            [body = body_, text = std::move(text)](LiveDocument& document, DiskUpdate,
                                                   const Caller& caller) mutable {
                return body->append(document, caller, std::move(text));
            });
    }
    body_->enter<FileAppended>(
        std::move(by), std::move(path), Operation::append, std::move(reply),
        [text = std::move(text)](Visit<FileAppended> visit, DiskUpdate) mutable {
            LiveDocument& document = *visit.document;
            Core& kernel = *visit.kernel;
            Reply<Appended> appended = [file = version_of_file(document),
                                        reply =
                                            std::move(visit.reply)](Result<Appended> made) mutable {
                if (!made) return reply(Failure(std::move(made).error()));
                file.version = made->version;
                reply(FileAppended{std::move(file), std::move(*made)});
            };
            kernel.append({std::move(static_cast<Entry&>(visit)), std::move(appended)},
                          document.whole(), std::move(text), Ack::durable);
        });
}

void FileCalls::create(Caller by, FileCreate what, Reply<FileVersion> reply) {
    Body::create_at_door(body_, std::move(by), std::move(what), std::move(reply));
}

void FileCalls::Body::create_at_door(const std::shared_ptr<Body>& body, Caller by, FileCreate what,
                                     Reply<FileVersion> reply) {
    // The content is checked before the path is looked at: it needs no permission and no disk.
    if (const auto fits = body->kernel->check_new(what.content); !fits)
        return reply(Failure(fits.error()));
    if (const auto text = files::decode(what.content, what.path); !text) {
        return reply(Failure(Error(text.error()).within("nothing was created")));
    }
    std::string path = what.path;
    body->at_door<FileVersion>(
        std::move(reply), std::move(path),
        [body, by, what = std::move(what)](fs::Place place, Reply<FileVersion> answer) mutable {
            if (place.path.empty()) return answer(Failure(require_text_file(place).error()));
            // Permission comes before existence, so that a caller without it does not learn what is
            // there.
            if (!body->admits(by, place, Operation::create, answer)) return;
            if (place.kind != fs::Kind::missing) {
                return answer(
                    fail(Errc::conflict, "file_exists",
                         cat(place.path, " exists already. Read it and edit it, or choose ",
                             "another name"),
                         {{"path", place.path}}));
            }
            body->kernel->run<FileVersion>(
                by, DocumentName{{kFileKind, place.path}}, Access::admitted, std::move(answer),
                [body, what = std::move(what)](LiveDocument& document, const Caller& caller) {
                    return body->create(document, caller, what);
                });
        });
}

void FileCalls::open_once(Caller by, std::string path, std::string token,
                          Reply<BlockVersion> reply) {
    body_->kernel->once(
        by, token,
        [body = body_, by, path = std::move(path), token](Reply<BlockVersion> made) mutable {
            body->run<BlockVersion>(by, std::move(path), Operation::read, std::move(made),
                                    [token](LiveDocument& document, DiskUpdate,
                                            const Caller& caller) -> Result<BlockVersion> {
                                        FileVersion file = version_of_file(document);
                                        // The token is stored with the document, and makes no
                                        // version.
                                        keep_token(document, caller.actor, token, file.block_id);
                                        return BlockVersion{std::move(file.block_id), file.version};
                                    });
        },
        std::move(reply));
}

void FileCalls::create_once(Caller by, FileCreate what, Reply<BlockVersion> reply) {
    const std::string token = what.client_token;
    body_->kernel->once(
        by, token,
        [body = body_, by, what = std::move(what)](Reply<BlockVersion> made) mutable {
            Body::create_at_door(body, by, std::move(what),
                                 [made = std::move(made)](Result<FileVersion> file) mutable {
                                     if (!file) return made(Failure(std::move(file).error()));
                                     made(BlockVersion{std::move(file->block_id), file->version});
                                 });
        },
        std::move(reply));
}

Result<void> FileCalls::Body::check_create(LiveDocument& document, const Caller& by,
                                           const FileCreate& what) {
    // A document may have the name already: that of a file which is gone from the disk.
    const std::optional<files::DiskState> before = gate.state(document);
    const std::string others =
        before && !what.overwrite ? unsaved_by_others(document, by.actor, *before) : "";
    if (others.empty()) return {};
    return fail(Errc::conflict, "unsaved_edits",
                cat(document.name(),
                    " was not created: it is gone from the disk, and its block "
                    "has edits by ",
                    others,
                    " that are not saved. file save writes them to the "
                    "disk anew; create with overwrite: true replaces them, and they stay in "
                    "the history"),
                {{"path", document.name()}, {"actors", others}});
}

Result<FileVersion> FileCalls::Body::create(LiveDocument& document, const Caller& by,
                                            const FileCreate& what) {
    const BlockRef block = document.whole();
    kernel->flush(document, block);
    TRY(check_create(document, by, what));
    TRY(by.check_approved([&] { return file_diff(document, "", what.content); }));
    // The disk decides whether the name is free; the document follows. A kernel that is killed
    // between the two leaves a file on the disk that is loaded as any other when it is first used.
    const fs::Saved saved = TRY(gate.files().create(document.name(), what.content));
    record_creation(document, by.actor, *files::decode(what.content, document.name()), saved);
    keep_token(document, by.actor, what.client_token, document.id_of(block).str());
    remove_if_refused(document, saved);
    return version_of_file(document);
}

void FileCalls::Body::record_creation(LiveDocument& document, const policy::Actor& by,
                                      const files::Decoded& made, const fs::Saved& saved) {
    const BlockRef block = document.whole();
    crdt::Doc& doc = document.doc();
    document.begin(by);
    // The document may have the text of the file that was there before.
    memory::apply(doc, block.content,
                  text::minimal_splices(doc.text(block.content).rope().str(), made.text));
    Unit unit;
    unit.actor = by.str();
    unit.description = kFileCreated;
    // Its content alone is not undone, for that would leave an empty file (file_undo.cc).
    unit.kind = UnitKind::take_back;
    unit.spans = {document.commit(by, kFileCreated)};
    document.record(block, std::move(unit));
    files::DiskState after = gate.state(document).value_or(files::DiskState{});
    after.form = made.form;
    document.transaction().set_header(saved_state(document, after, saved).encode());
}

void FileCalls::keep_commit(Caller by, FileCommit what, Reply<FileVersion> reply) {
    Catalog& catalog = body_->kernel->catalog();
    const Name name{kFileKind, what.path};
    const bool is_deleted = what.kind == FileCommit::Kind::deleted;
    auto document = catalog.find(name);
    if (document == nullptr && is_deleted) document = catalog.find_deleted(kFileKind, what.path);
    if (document == nullptr && is_deleted) return reply(no_such_file(what.path));
    if (document == nullptr) document = catalog.find_or_make(name);
    body_->kernel->run<FileVersion>(
        std::move(by), ThisDocument{std::move(document)}, Access::admitted, std::move(reply),
        [body = body_, what = std::move(what)](LiveDocument& live, const Caller& caller) {
            return body->keep_commit(live, caller.actor, what);
        });
}

Result<FileVersion> FileCalls::Body::keep_commit(LiveDocument& document, const policy::Actor& by,
                                                 const FileCommit& what) {
    const std::string& path = document.name();
    const BlockRef block = document.whole();
    const auto& units = block.state->history.units();
    // A commit that reached the store before the kernel was killed left a unit of this actor,
    // younger than the version that the commit found. A deletion shows in the record.
    const auto own = std::find_if(units.rbegin(), units.rend(), [&](const Unit& unit) {
        return unit.actor == by.str() && unit.version > what.version;
    });
    FileVersion out = version_of_file(document);
    const bool is_known =
        what.kind == FileCommit::Kind::deleted ? document.record().deleted : own != units.rend();
    if (is_known) {
        if (own != units.rend()) out.version = own->version;
        return out;
    }
    // A text that somebody has changed since is merged; with a file that was made or deleted there
    // is nothing to merge.
    if (what.is_other && what.kind != FileCommit::Kind::changed) {
        return fail(Errc::conflict, "path_changed", cat(path, " was changed meanwhile"),
                    {{"path", path}});
    }
    kernel->flush(document, block);
    if (what.kind == FileCommit::Kind::deleted) {
        record_deletion(document, by);
        return version_of_file(document);
    }
    const files::Decoded text =
        TRY(files::decode(what.bytes, path, gate.rules()->paths.encoding(path)));
    if (what.kind == FileCommit::Kind::created) {
        // The stamp for the document's record comes from the disk, so the bytes there have to be
        // those of the commit.
        const fs::FileBytes made = TRY(gate.files().read(path, kernel->limits().block_bytes));
        if (made.hash != fs::Hash::of(what.bytes)) {
            return fail(Errc::conflict, "path_changed", cat(path, " was changed meanwhile"),
                        {{"path", path}});
        }
        record_creation(document, by, text, {made.hash, made.stamp, {}});
        return version_of_file(document);
    }
    crdt::Doc& doc = document.doc();
    const auto splices = text::minimal_splices(doc.text(block.content).rope().str(), text.text);
    if (splices.empty()) return no_such_file(path);
    document.begin(by);
    memory::apply(doc, block.content, splices);
    Unit unit;
    unit.actor = by.str();
    unit.description = what.operation;
    unit.spans = {document.commit(by, what.operation)};
    document.record(block, std::move(unit));
    return version_of_file(document);
}

void FileCalls::Body::remove_if_refused(LiveDocument& document, const fs::Saved& saved) {
    document.transaction().on_stored(
        [&files = gate.files(), path = document.name(), hash = saved.hash](Result<void>& stored) {
            if (!stored) static_cast<void>(files.remove(path, hash));
        });
}

void FileCalls::status(Caller by, std::optional<std::string> path,
                       Reply<std::vector<FileStatus>> reply) {
    using All = std::vector<FileStatus>;
    if (path) {
        body_->at_door<All>(
            std::move(reply), *path,
            [body = body_, by, path = *path](fs::Place place, Reply<All> answer) mutable {
                // A file that is known is looked at as it is, without taking in the disk: the
                // answer tells of a change there. Any other is loaded first.
                const auto look = [body](LiveDocument& document,
                                         const Caller& caller) -> Result<All> {
                    return All{TRY(body->status(document, caller.actor))};
                };
                if (auto known = body->kernel->catalog().find(Name{kFileKind, place.path})) {
                    if (!body->admits(by, place, Operation::read, answer)) return;
                    return body->kernel->look<All>(by, ThisDocument{std::move(known)},
                                                   Access::admitted, std::move(answer), look);
                }
                body->read<All>(by, path, std::move(answer),
                                [look, by](LiveDocument& document) { return look(document, by); },
                                {Operation::read, Body::Staged::passed});
            });
        return;
    }
    auto all = std::make_shared<All>();
    std::make_shared<Walk>(
        body_->kernel, by, body_->kernel->catalog().keys(),
        Walk::Round{[body = body_, by, all](LiveDocument& live) {
                        if (live.kind() != kFileKind) return true;
                        if (Result<FileStatus> one = body->status(live, by.actor))
                            all->push_back(std::move(*one));
                        return true;
                    },
                    [all, reply = std::move(reply)](Result<void> done) mutable {
                        if (!done) return reply(Failure(std::move(done).error()));
                        reply(std::move(*all));
                    },
                    Access::look, Walk::passing_over})
        ->next();
}

Result<FileStatus> FileCalls::Body::status(LiveDocument& document, const policy::Actor& actor) {
    if (document.record().deleted) return no_such_file(document.name());
    kernel->flush(document, document.whole());
    FileStatus status;
    status.file = version_of_file(document);
    status.permission =
        gate.decide({document.name(), {}, fs::Kind::file}, Operation::read, actor).permission;
    status.dirty = gate.dirty(document);
    status.disk = TRY(gate.look(document));
    const std::optional<files::DiskState> disk = gate.state(document);
    status.conflict = disk && disk->has_conflict();
    status.staged = kernel->catalog().is_taken(name_of_stage(document.name(), actor));
    return status;
}

namespace {

// The page of the listing that the query asks for. Each page walks the whole directory again; pages
// go by path, so files that come and go meanwhile neither repeat an entry nor hide another. A link
// is listed by its own path, with the rights and the block of its target; one that leads to no file
// is left out.
Result<FileList> page_of(const fs::Listing& all, Core& kernel, FileGate& gate, const Caller& by,
                         const FileQuery& query) {
    FileList list;
    list.skipped_names = all.unnamed.size();
    list.truncated = all.truncated;
    std::multimap<store::DocumentKey, std::size_t> loaded;  // Which entries each is, by its links.
    for (const fs::Entry& entry : all.entries) {
        // A cursor is the path of the last file of the page before.
        if (!query.cursor.empty() && entry.path <= query.cursor) continue;
        if (query.pattern && !query.pattern->matches(entry.path)) continue;
        if (list.files.size() == query.limit) {
            list.truncated = true;
            list.next_cursor = list.files.back().path;
            break;
        }
        fs::Place place{entry.path, {}, fs::Kind::file};
        if (entry.is_link) {
            const Result<fs::Place> target = gate.files().resolve(entry.path);
            if (!target || target->kind != fs::Kind::file) continue;
            place = *target;
        }
        const policy::Decision decision = gate.decide(place, Operation::read, by.actor);
        if (decision.verdict != policy::Verdict::allow) continue;
        FileEntry out{entry.path, entry.size, decision.permission, "", {}};
        if (const auto document = kernel.catalog().find(Name{kFileKind, place.path})) {
            out.block_id = conversation::BlockId{document->key(), -1, 0}.str();
            loaded.emplace(document->key(), list.files.size());
        }
        list.files.push_back(std::move(out));
    }
    if (loaded.empty()) return list;
    // No document is asked itself, so that none has to be loaded for a list.
    for (const store::BlockRecord& block : TRY(kernel.parts().store.whole_blocks(kFileKind))) {
        const auto [first, last] = loaded.equal_range(block.document);
        std::for_each(first, last,
                      [&](const auto& at) { list.files[at.second].version = block.version; });
    }
    return list;
}

}  // namespace

void FileCalls::list(Caller by, FileQuery query, Reply<FileList> reply) {
    body_->door.post([body = body_, by = std::move(by), query = std::move(query),
                      reply = std::move(reply)]() mutable {
        const Result<fs::Listing> all = body->gate.files().list(
            kListedFiles, query.all ? fs::IgnoreNames() : body->gate.ignore_files());
        if (!all) return reply(Failure(all.error()));
        reply(page_of(*all, *body->kernel, body->gate, by, query));
    });
}

DiskAuthors& FileCalls::authors() {
    return body_->gate.authors();
}

}  // namespace quire::kernel
