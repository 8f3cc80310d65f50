// Staging and unstaging a file.
//
// Unstaging changes two documents in one transaction: the file gets the copy's changes as one edit,
// and the copy is deleted. The file's document has the lower key, because the copy was made from
// it; it is held first, then the copy, as everywhere (kernel/core/doorway.h). What is prepared of
// the copy is stored in the batch of the file.
#include "kernel/files/file_stage.h"

#include <optional>
#include <utility>

#include "base/bytes.h"
#include "crdt/doc/text.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_body.h"
#include "kernel/files/file_gate.h"
#include "memory/splices.h"
#include "text/diff.h"
#include "text/merge3.h"

namespace quire::kernel {
namespace {

using policy::Operation;

constexpr std::uint8_t kFormat = 1;

// The text that was there before is not the work of the actor who copies it.
policy::Actor copier() {
    return {policy::ActorKind::system, "stage"};
}

Failure not_staged(const std::string& path) {
    return fail(Errc::not_found, "not_staged",
                cat("you have not staged ", path, "; file stage makes a private copy of it"),
                {{"path", path}});
}

// The text of a file, to be copied.
struct Seed {
    StageState from;
    std::string path;
    std::string text;
    std::uint64_t version = 0;
};

// Entries for making and ending a copy. An undo does not touch them: they have no text of their own
// to take back.
Unit stage_unit(const policy::Actor& by, std::string description) {
    Unit unit;
    unit.actor = by.str();
    unit.description = std::move(description);
    unit.kind = UnitKind::take_back;
    return unit;
}

// Fills a new copy. Its versions go on from the file's, so that an edit that expects the version it
// has read is right in both. Errors: conflict "already_staged".
Result<FileVersion> plant(LiveDocument& copy, const Caller& by, const Seed& seed,
                          Catalog& catalog) {
    // The name of a copy is its path and owner, so a second stage of the path comes to the same
    // document.
    if (!copy.is_blank()) {
        return fail(Errc::conflict, "already_staged",
                    cat("you have staged ", seed.path,
                        " already; file unstage merges that copy in or drops it"),
                    {{"path", seed.path}});
    }
    const BlockRef block = copy.whole();
    copy.begin(copier());
    if (!seed.text.empty()) {
        memory::apply(copy.doc(), block.content, text::minimal_splices("", seed.text));
        copy.commit(copier(), "stage");
    }
    copy.transaction().set_header(seed.from.encode());
    copy.record(block, stage_unit(by.actor, "stage"), seed.version);
    follow_record(copy, catalog);
    return version_of_file(copy);
}

// Deletes the copy in its pending transaction. Its text and history stay in the store.
void end_stage(LiveDocument& copy, const policy::Actor& by, std::string description,
               Catalog& catalog) {
    copy.begin(by);
    copy.record(copy.whole(), stage_unit(by, std::move(description)));
    copy.transaction().set_deleted(true);
    copy.transaction().on_stored([&catalog, record = copy.record()](Result<void>& stored) {
        if (stored) catalog.settle_deletion(record);
    });
}

}  // namespace

Bytes StageState::encode() const {
    ByteWriter out;
    out.byte(kFormat);
    out.u64_le(file);
    files::write(out, base);
    return std::move(out).take();
}

Result<StageState> StageState::decode(const Bytes& bytes) {
    ByteReader in(bytes);
    if (in.byte("format") != kFormat) in.fail("format");
    StageState state;
    state.file = in.u64_le("file");
    state.base = files::read_version(in);
    if (!in.at_end()) in.fail("end");
    if (!in.ok()) return in.error();
    return state;
}

Name name_of_stage(const std::string& path, const policy::Actor& owner) {
    return {kStageKind, path, owner.str()};
}

Failure is_staged(const std::string& path, std::string_view what) {
    return fail(Errc::conflict, "staged",
                cat(path, " ", what,
                    ": you have staged it, and your calls on it go to your private copy. file "
                    "unstage with apply: true merges the copy in, with false drops it"),
                {{"path", path}});
}

Unstaged merge_stage(const std::string& base, const std::string& ours, const std::string& theirs) {
    // Overlaps are replaced from the last to the first, so that the places of those before stay
    // true.
    text::Merged merged = text::merge3(base, ours, theirs, text::Side::ours, text::Side::ours);
    for (auto tie = merged.ties.rbegin(); tie != merged.ties.rend(); ++tie) {
        const std::string_view both =
            std::string_view(base).substr(tie->begin.n, tie->end.n - tie->begin.n);
        merged.text.replace(tie->at.n, tie->ours.size(),
                            text::keep_both(both, tie->ours, tie->theirs, text::Side::ours));
    }
    return {std::move(merged.text), merged.ties.size()};
}

void FileCalls::stage(Caller by, std::string path, Reply<FileVersion> reply) {
    // Two strands: the text is read on that of the file and planted on that of the copy. In between
    // others may edit the file, which is what the base version is for.
    Reply<Seed> copy = [core = body_->kernel, by,
                        reply = std::move(reply)](Result<Seed> seed) mutable {
        if (!seed) return reply(Failure(std::move(seed).error()));
        DocumentName name{name_of_stage(seed->path, by.actor)};
        core->run<FileVersion>(
            by, std::move(name), Access::admitted, std::move(reply),
            [core, seed = std::move(*seed)](LiveDocument& live, const Caller& caller) {
                return plant(live, caller, seed, core->catalog());
            });
    };
    body_->run<Seed>(
        std::move(by), std::move(path), {Operation::read, Body::Staged::passed}, std::move(copy),
        [body = body_](LiveDocument& document, const DiskUpdate&, const Caller&) -> Result<Seed> {
            const BlockRef block = document.whole();
            body->kernel->flush(document, block);
            return Seed{{document.key(), version_of(document)},
                        document.name(),
                        document.doc().text(block.content).rope().str(),
                        block.state->version};
        });
}

// One call of FileCalls::unstage().
class FileCalls::Unstaging : public std::enable_shared_from_this<FileCalls::Unstaging> {
public:
    Unstaging(std::shared_ptr<Body> files, Caller by, std::string path, Reply<FileUnstaged> reply)
        : files_(std::move(files)),
          kernel_(*files_->kernel),
          by_(std::move(by)),
          path_(std::move(path)),
          reply_(std::move(reply)) {}

    void start(bool apply) {
        files_->at_door<FileUnstaged>(
            std::move(reply_), path_,
            [self = shared_from_this(), apply](fs::Place place, Reply<FileUnstaged> answer) {
                self->path_ = place.path;
                self->copy_ =
                    self->kernel_.catalog().find(name_of_stage(place.path, self->by_.actor));
                if (self->copy_ == nullptr) return answer(not_staged(place.path));
                if (apply) return self->apply(std::move(answer));
                self->drop(std::move(answer));
            });
    }

private:
    // Dropping needs no file: it may be gone, and the copy is ended all the same.
    void drop(Reply<FileUnstaged> reply) {
        kernel_.run<FileUnstaged>(
            by_, ThisDocument{copy_}, Access::admitted, std::move(reply),
            [self = shared_from_this()](LiveDocument& live,
                                        const Caller& by) -> Result<FileUnstaged> {
                if (live.record().deleted) return not_staged(self->path_);
                self->kernel_.flush(live, live.whole());
                end_stage(live, by.actor, "dropped", self->kernel_.catalog());
                return FileUnstaged{version_of_file(live), {}};
            });
    }

    // At the door. The file may have got another name since.
    void apply(Reply<FileUnstaged> reply) {
        Catalog& catalog = kernel_.catalog();
        Result<StageState> from = StageState::decode(catalog.record(copy_->key())->header);
        if (!from) return reply(Failure(std::move(from).error()));
        from_ = std::move(*from);
        const auto record = catalog.record(from_.file);
        if (!record || record->deleted) return reply(file_is_gone());
        const Result<fs::Place> place = files_->gate.files().resolve(record->name);
        if (!place) return reply(Failure(place.error()));
        if (!files_->admits(by_, *place, Operation::overwrite, reply)) return;
        kernel_.enter<FileUnstaged>(by_, ThisDocument{catalog.find(from_.file)}, Access::admitted,
                                    std::move(reply),
                                    [self = shared_from_this()](Visit<FileUnstaged> visit) {
                                        self->hold_file(std::move(visit));
                                    });
    }

    void hold_file(Visit<FileUnstaged> visit) {
        LiveDocument& file = *visit.document;
        file.doorway().hold();
        visit.alone = true;
        visit_.emplace(std::move(visit));
        file.in_flight().when_durable([self = shared_from_this()](Result<void> durable) {
            if (!durable) return self->visit_->answer(Failure(std::move(durable).error()));
            self->hold_copy();
        });
    }

    // The copy is entered as a call of its own, while the visit to the file waits, held. Its answer
    // is only a signal, which goes back to the file's strand.
    void hold_copy() {
        Reply<void> taken = [self = shared_from_this()](Result<void> held) {
            self->visit_->document->strand().post([self, held = std::move(held)]() mutable {
                if (!held) return self->visit_->answer(Failure(std::move(held).error()));
                self->merge();
            });
        };
        kernel_.enter<void>(by_, ThisDocument{copy_}, Access::admitted, std::move(taken),
                            [self = shared_from_this()](Visit<void> visit) {
                                LiveDocument& copy = *visit.document;
                                copy.doorway().hold();
                                copy.in_flight().when_durable(
                                    [self, visit = std::move(visit)](Result<void> durable) mutable {
                                        Result<void> given =
                                            durable ? self->give_copy() : std::move(durable);
                                        if (!given) self->copy_->doorway().release();
                                        visit.answer(std::move(given));
                                    });
                            });
    }

    // On the strand of the copy, held and idle.
    Result<void> give_copy() {
        if (copy_->record().deleted) return not_staged(path_);
        const BlockRef block = copy_->whole();
        kernel_.flush(*copy_, block);
        text_ = copy_->doc().text(block.content).rope().str();
        end_stage(*copy_, by_.actor, "unstaged", kernel_.catalog());
        batch_ = copy_->give();
        return {};
    }

    // On the strand of the file, held and idle.
    void merge() {
        LiveDocument& file = *visit_->document;
        Result<FileUnstaged> made = kernel_.is_closing() ? Failure(kernel_ending()) : merged(file);
        if (!made) {
            let_copy_go(Failure(made.error()));
            return kernel_.finish(std::move(*visit_), std::move(made));
        }
        file.transaction().batch().append(std::move(batch_));
        kernel_.count_commit();
        file.submit([self = shared_from_this(),
                     made = std::move(made)](const Result<void>& stored) mutable {
            self->let_copy_go(stored);
            self->visit_->answer(stored ? std::move(made) : Failure(stored.error()));
        });
    }

    Result<FileUnstaged> merged(LiveDocument& file) {
        if (file.record().deleted) return file_is_gone();
        TRY(files_->load(file));
        const BlockRef block = file.whole();
        kernel_.flush(file, block);
        const std::string base = TRY(text_at(file, from_.base));
        const std::string ours = file.doc().text(block.content).rope().str();
        // A file that is never merged can still be unstaged if only one side has changed, or both
        // in the same way.
        if (files_->gate.is_never_merged(file.name()) && base != ours && base != text_ &&
            ours != text_) {
            return fail(Errc::conflict, "needs_resolution",
                        cat(file.name(),
                            " was changed since you staged it, and the settings say that it is "
                            "never merged. Copy what you need from your private copy, and drop it "
                            "with apply: false"),
                        {{"path", file.name()}});
        }
        Unstaged merged = merge_stage(base, ours, text_);
        TextEdit what{"unstage",
                      [text = std::move(merged.text)](const seq::Rope& rope,
                                                      std::uint64_t) -> Result<edits::Planned> {
                          return edits::Planned{text::minimal_splices(rope.str(), text), {}, true};
                      }};
        FileEdited edited = TRY(files_->edit(file, visit_->by, what));
        if (merged.overlaps > 0) {
            edited.edited.notes.push_back(
                cat(merged.overlaps, merged.overlaps == 1 ? " place was" : " places were",
                    " changed on both sides since you staged the file. Both texts stand there: "
                    "read it, and edit what should not stay"));
        }
        return FileUnstaged{std::move(edited.file), std::move(edited.edited)};
    }

    // The copy is deleted if the batch was stored; otherwise it is loaded as it was.
    void let_copy_go(const Result<void>& stored) {
        copy_->strand().post([copy = copy_, stored] {
            copy->given(stored);
            copy->doorway().release();
        });
    }

    Failure file_is_gone() const {
        return fail(Errc::not_found, "file_not_found",
                    cat("the file that you staged as ", path_,
                        " was deleted, so there is nothing to merge into. Your private copy stays: "
                        "read it, create the file anew with what you need, and drop it with "
                        "apply: false"),
                    {{"path", path_}});
    }

    const std::shared_ptr<Body> files_;
    Core& kernel_;
    Caller by_;
    std::string path_;
    Reply<FileUnstaged> reply_;
    std::shared_ptr<LiveDocument> copy_;
    StageState from_;
    std::optional<Visit<FileUnstaged>> visit_;  // To the file.
    std::string text_;                          // The copy's.
    store::Batch batch_;                        // The copy's end.
};

void FileCalls::unstage(Caller by, std::string path, bool apply, Reply<FileUnstaged> reply) {
    std::make_shared<Unstaging>(body_, std::move(by), std::move(path), std::move(reply))
        ->start(apply);
}

}  // namespace quire::kernel
