#include "kernel/file_calls.h"

#include <algorithm>
#include <map>
#include <set>

#include "files/form.h"
#include "kernel/body.h"
#include "kernel/walk.h"
#include "memory/splices.h"
#include "sched/guarded.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// How often a save meets a disk that changed between being read and being written before it gives
// up.
constexpr int kSaveTries = 3;
constexpr std::size_t kListedFiles = 200'000;

FileVersion version_of_file(LiveDocument& document) {
    const BlockRef block = document.whole();
    return {document.name(), document.id_of(block).str(), block.state->version};
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

}  // namespace

struct FileCalls::Body : std::enable_shared_from_this<FileCalls::Body> {
    Body(std::shared_ptr<Kernel::Body> house, Kernel& calls, FileGate& rules)
        : kernel(std::move(house)), blocks(calls), gate(rules), door(kernel->parts().scheduler) {}

    std::shared_ptr<Kernel::Body> kernel;
    Kernel& blocks;
    FileGate& gate;
    // Names are looked up one after another, so that calls reach a document in the order they were
    // made.
    sched::Strand door;

    // Runs work(place) at the door.
    template <class T, class Work>
    void at_door(Reply<T> reply, std::string path, Work work) {
        door.post([self = shared_from_this(), reply = std::move(reply), path = std::move(path),
                   work = std::move(work)]() mutable {
            Result<fs::Place> place = self->gate.files().resolve(path);
            if (!place) return reply(Failure(std::move(place).error()));
            work(std::move(*place), std::move(reply));
        });
    }

    // What the caller has to be allowed: an operation, or to save.
    struct Need {
        Need(Operation wanted, bool save = false) : operation(wanted), to_save(save) {}
        Operation operation;
        bool to_save;
    };
    static Need saving() { return {Operation::append, true}; }

    // Whether the caller may do it there. If not, `reply` is told why, and a person was asked where
    // one can allow it.
    template <class T>
    bool admits(const Caller& by, const fs::Place& place, Need need, Reply<T>& reply) {
        const policy::Target target = target_of_file(place.path);
        const policy::Operations approved = kernel->approved(by, target);
        Result<void> allowed = need.to_save ? gate.admit_save(place, by.actor, approved)
                                            : gate.admit(place, need.operation, by.actor, approved);
        if (allowed) return true;
        if (!Kernel::Body::is_unasked(allowed.error())) {
            reply(Failure(std::move(allowed).error()));
            return false;
        }
        kernel->ask(
            by, target, std::move(allowed).error(),
            [reply = std::move(reply)](Error why) mutable { reply(Failure(std::move(why))); });
        return false;
    }

    // Loads the file's document where it is not, and runs work(document, reply) on its strand. The
    // caller may do what is needed, and what the disk has was taken in.
    template <class T, class Work>
    void with_file(Caller by, std::string path, Need need, Reply<T> reply, Work work) {
        at_door<T>(std::move(reply), std::move(path),
                   [self = shared_from_this(), by = std::move(by), need, work = std::move(work)](
                       fs::Place place, Reply<T> answer) mutable {
                       if (const auto file = require_text_file(place); !file)
                           return answer(Failure(file.error()));
                       if (!self->admits(by, place, need, answer)) return;
                       auto loaded = [self, work = std::move(work)](LiveDocument& live,
                                                                    Reply<T> last) mutable {
                           const Result<FileGate::TakenIn> taken = self->load(live);
                           if (!taken) return last(Failure(taken.error()));
                           work(live, *taken, std::move(last));
                       };
                       if (place.kind != fs::Kind::missing) {
                           return self->kernel->on_named<T>(std::move(by), {kFileKind, place.path},
                                                            Access::look, std::move(answer),
                                                            std::move(loaded));
                       }
                       auto document = self->kernel->catalog().find(kFileKind, place.path);
                       if (document == nullptr) return answer(no_such_file(place.path));
                       self->kernel->on_document<T>(std::move(by), std::move(document),
                                                    Access::look, std::move(answer),
                                                    std::move(loaded));
                   });
    }

    Result<FileGate::TakenIn> load(LiveDocument& document) {
        if (document.record().deleted) return no_such_file(document.name());
        Result<FileGate::TakenIn> taken = gate.take_in(document);
        if (!taken) {
            // A name that never led to a text is not a block.
            if (document.is_blank()) kernel->catalog().drop(document.key());
            return taken;
        }
        // Gone from the disk, and nothing in the document that was not there: gone.
        const std::optional<files::DiskState> now = gate.state(document);
        if (now && now->missing && now->hash == hash_of(document, *now))
            return no_such_file(document.name());
        return taken;
    }

    static std::string bytes_of(LiveDocument& document, const files::DiskState& disk) {
        return files::encode(disk.form, document.doc().text(document.whole().content).rope().str());
    }
    static fs::Hash hash_of(LiveDocument& document, const files::DiskState& disk) {
        return fs::Hash::of(bytes_of(document, disk));
    }

    void create(LiveDocument& document, const Caller& by, const std::string& content,
                Reply<FileVersion> reply);
    void save(LiveDocument& document, const Caller& by, Reply<FileSaved> reply);
    // By document: of which bytes on the disk who was told. Forgotten with the kernel: then they
    // are told again.
    using Told = std::map<store::DocumentKey, std::pair<fs::Hash, std::set<std::string>>>;
    sched::Guarded<Told> told;
    bool was_told(const LiveDocument& document, const files::DiskState& disk,
                  const policy::Actor& actor);
    Result<fs::Saved> write(LiveDocument& document, const Caller& by, const files::DiskState& disk,
                            const std::string& bytes);
    void erase(LiveDocument& document, const Caller& by, FileGate::TakenIn taken,
               Reply<FileVersion> reply);
    std::string unsaved_by_others(LiveDocument& document, const Caller& by,
                                  const files::DiskState& disk);
    Result<FileStatus> status(LiveDocument& document, const policy::Actor& actor);
    Result<FileList> list(const fs::Listing& all, const Caller& by,
                          const std::optional<text::Glob>& pattern, std::size_t limit);
};

FileCalls::FileCalls(Kernel& kernel, FileGate& gate)
    : body_(std::make_shared<Body>(kernel.body_, kernel, gate)) {}

void FileCalls::read(Caller by, std::string path, std::optional<text::LineRange> range,
                     Reply<FileRead> reply) {
    body_->with_file<FileRead>(
        by, std::move(path), Operation::read, std::move(reply),
        [body = body_, by, range](LiveDocument& document, FileGate::TakenIn taken,
                                  Reply<FileRead> answer) {
            FileVersion file = version_of_file(document);
            const std::string id = file.block_id;
            auto then = [file = std::move(file),
                         answer = std::move(answer)](Result<BlockText> text) mutable {
                if (!text) return answer(Failure(std::move(text).error()));
                file.version = text->info.version;
                answer(FileRead{std::move(file), std::move(*text)});
            };
            // What was taken in just now is read in a turn of its own: where the store refuses it,
            // the document is made anew first, and takes it in again.
            if (taken.changed) return body->blocks.read(by, id, range, std::move(then));
            body->kernel->read(document, document.whole(), range, std::move(then));
        });
}

void FileCalls::edit(Caller by, std::string path, std::string operation, edits::Plan plan,
                     Reply<FileEdited> reply) {
    body_->with_file<FileEdited>(
        by, std::move(path), Operation::overwrite, std::move(reply),
        [body = body_, by, operation = std::move(operation), plan = std::move(plan)](
            LiveDocument& document, FileGate::TakenIn, Reply<FileEdited> answer) mutable {
            FileVersion file = version_of_file(document);
            const std::string id = file.block_id;
            body->blocks.edit(by, id, std::move(operation), std::move(plan),
                              [file = std::move(file),
                               answer = std::move(answer)](Result<Edited> edited) mutable {
                                  if (!edited) return answer(Failure(std::move(edited).error()));
                                  file.version = edited->version;
                                  answer(FileEdited{std::move(file), std::move(*edited)});
                              });
        });
}

void FileCalls::append(Caller by, std::string path, std::string text, Reply<FileAppended> reply) {
    body_->with_file<FileAppended>(
        by, std::move(path), Operation::append, std::move(reply),
        [body = body_, by, text = std::move(text)](LiveDocument& document, FileGate::TakenIn,
                                                   Reply<FileAppended> answer) mutable {
            FileVersion file = version_of_file(document);
            const std::string id = file.block_id;
            body->blocks.append(by, id, std::move(text), Ack::durable,
                                [file = std::move(file),
                                 answer = std::move(answer)](Result<Appended> appended) mutable {
                                    if (!appended)
                                        return answer(Failure(std::move(appended).error()));
                                    file.version = appended->version;
                                    answer(FileAppended{std::move(file), std::move(*appended)});
                                });
        });
}

void FileCalls::create(Caller by, std::string path, std::string content, Reply<FileVersion> reply) {
    if (const auto fits = body_->kernel->check_new(content); !fits)
        return reply(Failure(fits.error()));
    if (const auto text = files::decode(content, path); !text) {
        return reply(Failure(Error(text.error()).within("nothing was created")));
    }
    body_->at_door<FileVersion>(
        std::move(reply), std::move(path),
        [body = body_, by, content = std::move(content)](fs::Place place,
                                                         Reply<FileVersion> answer) mutable {
            if (place.path.empty()) return answer(Failure(require_text_file(place).error()));
            if (!body->admits(by, place, Operation::create, answer)) return;
            if (place.kind != fs::Kind::missing) {
                return answer(
                    fail(Errc::conflict, "file_exists",
                         cat(place.path, " exists already. Read it and edit it, or choose ",
                             "another name"),
                         {{"path", place.path}}));
            }
            body->kernel->on_named<FileVersion>(
                by, {kFileKind, place.path}, Access::look, std::move(answer),
                [body, by, content = std::move(content)](LiveDocument& document,
                                                         Reply<FileVersion> last) {
                    body->create(document, by, content, std::move(last));
                });
        });
}

void FileCalls::Body::create(LiveDocument& document, const Caller& by, const std::string& content,
                             Reply<FileVersion> reply) {
    const BlockRef block = document.whole();
    kernel->flush(document, block);
    // The disk decides whether the name is free; the document follows.
    const Result<fs::Saved> saved = gate.files().create(document.name(), content);
    if (!saved) {
        if (document.is_blank()) kernel->catalog().drop(document.key());
        return reply(Failure(saved.error()));
    }
    files::Decoded decoded = *files::decode(content, document.name());
    crdt::Doc& doc = document.doc();
    document.begin(by.actor);
    memory::apply(doc, block.content,
                  text::minimal_splices(doc.text(block.content).rope().str(), decoded.text));
    Unit unit;
    unit.actor = by.actor.str();
    unit.description = "create";
    unit.kind = UnitKind::take_back;  // Undoing the content would leave the file: file delete takes
                                      // back both.
    unit.spans = {document.commit(by.actor, "create")};
    document.record(block, std::move(unit));
    document.set_header(
        files::DiskState{saved->hash, saved->stamp, decoded.form, version_of(document), false}
            .encode());
    kernel->submit(
        document, version_of_file(document),
        Reply<FileVersion>([self = shared_from_this(), path = document.name(), hash = saved->hash,
                            reply = std::move(reply)](Result<FileVersion> made) mutable {
            // A refused call leaves nothing behind.
            if (!made) static_cast<void>(self->gate.files().remove(path, hash));
            reply(std::move(made));
        }));
}

void FileCalls::save(Caller by, std::string path, Reply<FileSaved> reply) {
    body_->with_file<FileSaved>(
        by, std::move(path), Body::saving(), std::move(reply),
        [body = body_, by](LiveDocument& document, FileGate::TakenIn, Reply<FileSaved> answer) {
            body->save(document, by, std::move(answer));
        });
}

// Whether a save of the actor's was refused for what the disk has now; from now on one was.
bool FileCalls::Body::was_told(const LiveDocument& document, const files::DiskState& disk,
                               const policy::Actor& actor) {
    return told.with([&](Told& all) {
        auto& [hash, actors] = all[document.key()];
        if (hash != disk.hash) actors.clear();
        hash = disk.hash;
        return !actors.insert(actor.str()).second;
    });
}

void FileCalls::Body::save(LiveDocument& document, const Caller& by, Reply<FileSaved> reply) {
    kernel->flush(document, document.whole());
    for (int attempt = 0; attempt < kSaveTries; ++attempt) {
        const files::DiskState disk = *gate.state(document);
        const auto refuse = [&](std::string_view what) {
            return reply(fail(Errc::conflict, "disk_changed",
                              cat(document.name(), " was not saved: ", what),
                              {{"path", document.name()}}));
        };
        // Each actor is told once.
        const bool news = (disk.vanished || disk.conflict) && !was_told(document, disk, by.actor);
        if (news && disk.vanished) {
            return refuse(
                "it was deleted on disk since it was read, and your edits are still in the "
                "document. Save again to write the file anew");
        }
        if (news) {
            return refuse(
                "it was changed on disk where you changed it too. The document shows your text "
                "there; the disk's is in its history. Read it, edit it if need be, and save again");
        }
        const std::string bytes = bytes_of(document, disk);
        FileSaved result{version_of_file(document), bytes.size(), false, {}};
        if (!disk.missing && fs::Hash::of(bytes) == disk.hash) {
            return kernel->answer(document, std::move(result), std::move(reply));
        }
        Result<fs::Saved> saved = write(document, by, disk, bytes);
        if (!saved && saved.error().reason() == "disk_changed" && attempt + 1 < kSaveTries) {
            const Result<FileGate::TakenIn> again = gate.take_in(document);
            if (!again) return reply(Failure(again.error()));
            continue;
        }
        if (!saved) return reply(Failure(std::move(saved).error()));
        told.with([&](Told& all) { all.erase(document.key()); });
        result.written = true;
        result.notes = std::move(saved->notes);
        document.set_header(
            files::DiskState{saved->hash, saved->stamp, disk.form, version_of(document), false}
                .encode());
        return kernel->submit(document, std::move(result), std::move(reply));
    }
}

Result<fs::Saved> FileCalls::Body::write(LiveDocument& document, const Caller& by,
                                         const files::DiskState& disk, const std::string& bytes) {
    TRY(files::decode(bytes,
                      document.name()));  // A NUL would make it a file that cannot be read back.
    const fs::Place place{document.name(), {}, fs::Kind::file};
    const policy::Operations approved = kernel->approved(by, document);
    if (disk.missing) {
        TRY(gate.admit(place, Operation::create, by.actor, approved));
        return gate.files().create(document.name(), bytes);
    }
    // Who may only append may only save what begins with the bytes that are there.
    const Result<void> allowed = gate.admit(place, Operation::overwrite, by.actor, approved);
    if (!allowed) {
        const fs::FileBytes there =
            TRY(gate.files().read(document.name(), kernel->limits().block_bytes));
        if (there.hash == disk.hash && !bytes.starts_with(there.bytes))
            return Failure(allowed.error());
    }
    return gate.files().save(document.name(), bytes, disk.hash);
}

void FileCalls::erase(Caller by, std::string path, Reply<FileVersion> reply) {
    body_->at_door<FileVersion>(
        std::move(reply), path,
        [body = body_, by, path](fs::Place place, Reply<FileVersion> answer) {
            if (place.linked()) {
                return answer(
                    invalid("is_a_link",
                            cat(path, " is reached by a link; nothing was deleted. Delete ",
                                place.path, " by its own name"),
                            {{"path", place.path}}));
            }
            body->with_file<FileVersion>(by, path, Operation::erase, std::move(answer),
                                         [body, by](LiveDocument& document, FileGate::TakenIn taken,
                                                    Reply<FileVersion> last) {
                                             body->erase(document, by, taken, std::move(last));
                                         });
        });
}

// Who else has edits in the document that are not on the disk: names, with commas between.
std::string FileCalls::Body::unsaved_by_others(LiveDocument& document, const Caller& by,
                                               const files::DiskState& disk) {
    if (!gate.dirty(document)) return {};
    std::set<std::string> actors;
    for (const Unit& unit : document.whole().state->history.units()) {
        if (unit.kind != UnitKind::content || unit.state != UnitState::done ||
            unit.actor == by.actor.str() || unit.actor.starts_with("source:")) {
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

void FileCalls::Body::erase(LiveDocument& document, const Caller& by, FileGate::TakenIn taken,
                            Reply<FileVersion> reply) {
    const BlockRef block = document.whole();
    kernel->flush(document, block);
    const files::DiskState disk = *gate.state(document);
    // A file that is read here for the first time was not changed behind anyone's back.
    if (taken.changed && !taken.first) {
        return reply(fail(
            Errc::conflict, "disk_changed",
            cat(document.name(),
                " was not deleted: it was changed on disk since it was last read. Read it, and ",
                "delete it again if that is still right"),
            {{"path", document.name()}}));
    }
    if (const std::string others = unsaved_by_others(document, by, disk); !others.empty()) {
        return reply(fail(Errc::conflict, "unsaved_edits",
                          cat(document.name(), " was not deleted: it has edits by ", others,
                              " that are not saved. Save the file first, or let them undo"),
                          {{"path", document.name()}, {"actors", others}}));
    }
    if (!disk.missing) {
        const Result<void> removed = gate.files().remove(document.name(), disk.hash);
        if (!removed) return reply(Failure(removed.error()));
    }
    Unit unit;
    unit.actor = by.actor.str();
    unit.description = "delete";
    unit.kind = UnitKind::take_back;
    document.begin(by.actor);
    document.record(block, std::move(unit));
    document.mark_deleted();
    kernel->submit(document, version_of_file(document),
                   Reply<FileVersion>([house = kernel, key = document.key(), path = document.name(),
                                       reply = std::move(reply)](Result<FileVersion> gone) mutable {
                       if (gone) {
                           house->catalog().forget_name(key);
                           return reply(std::move(gone));
                       }
                       reply(Failure(std::move(gone).error().within(
                           cat(path,
                               " is gone from the disk, but its deletion could not be "
                               "recorded, so that its block and history stay"))));
                   }));
}

void FileCalls::status(Caller by, std::optional<std::string> path,
                       Reply<std::vector<FileStatus>> reply) {
    using All = std::vector<FileStatus>;
    if (path) {
        body_->at_door<All>(
            std::move(reply), *path,
            [body = body_, by, path = *path](fs::Place place, Reply<All> answer) {
                const auto look = [body, by](LiveDocument& document, Reply<All> last) {
                    Result<FileStatus> one = body->status(document, by.actor);
                    if (!one) return last(Failure(std::move(one).error()));
                    body->kernel->answer(document, All{std::move(*one)}, std::move(last));
                };
                if (auto known = body->kernel->catalog().find(kFileKind, place.path)) {
                    if (!body->admits(by, place, Operation::read, answer)) return;
                    return body->kernel->on_document<All>(by, std::move(known), Access::look,
                                                          std::move(answer), look);
                }
                body->with_file<All>(by, path, Operation::read, std::move(answer),
                                     [look](LiveDocument& document, FileGate::TakenIn,
                                            Reply<All> last) { look(document, std::move(last)); });
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
                    Access::look})
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
    status.conflict = disk && disk->conflict;
    return status;
}

void FileCalls::list(Caller by, std::optional<text::Glob> pattern, std::size_t limit,
                     Reply<FileList> reply) {
    body_->door.post([body = body_, by = std::move(by), pattern = std::move(pattern), limit,
                      reply = std::move(reply)]() mutable {
        const Result<fs::Listing> all = body->gate.files().list(kListedFiles);
        if (!all) return reply(Failure(all.error()));
        reply(body->list(*all, by, pattern, limit));
    });
}

Result<FileList> FileCalls::Body::list(const fs::Listing& all, const Caller& by,
                                       const std::optional<text::Glob>& pattern,
                                       std::size_t limit) {
    FileList list;
    list.skipped_names = all.skipped_names;
    list.truncated = all.truncated;
    std::multimap<store::DocumentKey, std::size_t> loaded;  // Which entries each is, by its links.
    for (const fs::Entry& entry : all.entries) {
        if (pattern && !pattern->matches(entry.path)) continue;
        if (list.files.size() == limit) {
            list.truncated = true;
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
        if (const auto document = kernel->catalog().find(kFileKind, place.path)) {
            out.block_id = conversation::BlockId{document->key(), -1, 0}.str();
            loaded.emplace(document->key(), list.files.size());
        }
        list.files.push_back(std::move(out));
    }
    if (loaded.empty()) return list;
    // None is asked itself, so none has to be read in for a list.
    for (const store::BlockRecord& block : TRY(kernel->parts().store.whole_blocks(kFileKind))) {
        const auto [first, last] = loaded.equal_range(block.document);
        std::for_each(first, last,
                      [&](const auto& at) { list.files[at.second].version = block.version; });
    }
    return list;
}

}  // namespace quire::kernel
