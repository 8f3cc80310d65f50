// One patch over several files and blocks: all of it or nothing.
//
// A part of the patch becomes acts: an edit, a creation, a deletion; a move is a deletion and a
// creation. The run goes through five phases, each over all acts before the next begins:
//
//     find    at the door: every path is resolved and its permission decided
//     hold    every document, the lowest key first, so that no two runs wait for each other;
//             the disk's changes are taken in and stored
//     plan    every act is planned and checked; what fails is told together
//     write   edits, then creations, then deletions: on the disk where they belong there, and in
//             the documents
//     store   what all documents changed, in one batch
//
// Until `write` nothing has happened. If an act fails there, or the store refuses the batch, every
// document's transaction is thrown away as a refused one is (LiveDocument::given()), which gives
// the disk its bytes back, and deleted files are written anew. Each step runs on the strand of its
// document; the run itself is touched by one thread at a time.
#include <algorithm>
#include <set>

#include "crdt/doc/text.h"
#include "edits/splice_diff.h"
#include "files/form.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_patch_run.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// Returns true if all that the patch is known to do is to add to the end.
bool appends(const edits::FilePatch& patch) {
    return patch.whole && patch.whole->after.starts_with(patch.whole->before);
}

// A text after ascending splices that count in it.
std::string spliced(std::string text, const std::vector<text::Splice>& splices) {
    for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice)
        text.replace(splice->at.n, splice->erase.n, splice->insert);
    return text;
}

}  // namespace

void FileCalls::patch(Caller by, PatchRequest what, Reply<Patched> reply) {
    std::make_shared<PatchRun>(body_, std::move(by), std::move(what), std::move(reply))->start();
}

void FileCalls::PatchRun::start() {
    files_->door.post([self = shared_from_this()] {
        Result<void> found = self->find();
        if (!found) return self->refuse(std::move(found).error());
        self->hold_from(0);
    });
}

Result<void> FileCalls::PatchRun::find() {
    for (std::size_t i = 0; i < what_.parts.size(); ++i) TRY(add_acts(i));
    std::set<std::string> seen;
    for (Act& act : acts_) {
        TRY(reach(act));
        const edits::FilePatch& patch = what_.parts[act.part];
        const std::string name = act.block ? act.block->str() : act.path;
        // Two acts on one text would both be planned on the text as it is now, and their places
        // would not fit together.
        if (!seen.insert(name).second) {
            return edits::invalid_patch(
                patch.patch_line,
                cat("the patch names ", name, " twice. Put all its hunks into one section"));
        }
        documents_.push_back(act.document);
    }
    std::sort(documents_.begin(), documents_.end(),
              [](const Document& a, const Document& b) { return a->key() < b->key(); });
    documents_.erase(std::unique(documents_.begin(), documents_.end()), documents_.end());
    return {};
}

Result<void> FileCalls::PatchRun::add_acts(std::size_t i) {
    edits::FilePatch& patch = what_.parts[i];
    Act act;
    act.part = i;
    act.by = by_;
    TRY(locate(patch, act));
    const bool is_move = !patch.new_name.empty();
    if (act.block) {
        if (is_move || patch.action == edits::PatchAction::erase) {
            return edits::invalid_patch(patch.patch_line,
                                        cat(act.block->str(),
                                            " is a block of a conversation, which a patch can "
                                            "neither delete nor move"));
        }
    } else if (is_move || patch.action == edits::PatchAction::erase) {
        act.kind = Kind::erase;
    } else if (patch.action == edits::PatchAction::create) {
        act.kind = Kind::create;
    }
    acts_.push_back(act);
    // The deletion stands before the creation of its move: it is planned first, and leaves the
    // bytes that the creation writes.
    if (!is_move) return {};
    act.kind = Kind::create;
    act.path = patch.new_name;
    acts_.push_back(std::move(act));
    return {};
}

Result<void> FileCalls::PatchRun::locate(const edits::FilePatch& patch, Act& act) {
    const std::string& name = patch.name;
    if (name.empty()) {
        return edits::invalid_patch(patch.patch_line,
                                    "the patch does not say for which file it is. Begin it "
                                    "with --- NAME and +++ NAME, the same name twice");
    }
    act.path = name.starts_with(kFilePrefix) ? name.substr(kFilePrefix.size()) : name;
    if (name.starts_with(kFilePrefix)) return {};
    if (name.starts_with(kMemoryPrefix)) {
        return fail(Errc::denied, "memory_block",
                    cat(name, " is a memory block, which a patch cannot change. Use context"),
                    {{"label", name.substr(kMemoryPrefix.size())}});
    }
    const Result<conversation::BlockId> id = conversation::BlockId::parse(name);
    const Document document = id ? kernel_.catalog().find(id->document) : nullptr;
    if (document == nullptr) return {};
    if (is_file_text(document->kind())) {
        act.path = document->name();
        return {};
    }
    act.path.clear();
    act.block = *id;
    act.document = document;
    return {};
}

Result<void> FileCalls::PatchRun::reach(Act& act) {
    if (act.block) return {};
    const fs::Place place = TRY(files_->gate.files().resolve(act.path));
    if (place.path.empty()) return require_text_file({"", {}, fs::Kind::directory});
    if (act.kind != Kind::create) TRY(require_text_file(place));
    const edits::FilePatch& patch = what_.parts[act.part];
    const Operation needed = act.kind == Kind::edit
                                 ? (appends(patch) ? Operation::append : Operation::overwrite)
                             : act.kind == Kind::create ? Operation::create
                                                        : Operation::erase;
    const std::string given = std::exchange(act.path, place.path);
    TRY(files_->admit(act.by, place, needed));
    // A patch of a file that its caller has staged changes the private copy, as every edit does; a
    // copy cannot be created or deleted by its path.
    if (auto copy = files_->copy_of(place.path, by_)) {
        if (act.kind != Kind::edit) return is_staged(place.path, "was not changed");
        act.block = conversation::BlockId{copy->key(), -1, 0};
        act.document = std::move(copy);
        return {};
    }
    const Name name{kFileKind, place.path};
    if (act.kind == Kind::create) {
        if (place.kind != fs::Kind::missing) {
            return fail(Errc::conflict, "file_exists",
                        cat(place.path, " exists already. Patch it, or choose another name"),
                        {{"path", place.path}});
        }
    } else if (place.kind == fs::Kind::missing) {
        if (kernel_.catalog().find(name) == nullptr) return no_such_file(place.path);
    } else if (act.kind == Kind::erase && place.linked()) {
        return invalid("is_a_link",
                       cat(given, " is reached by a link. Name ", place.path, " itself"),
                       {{"path", place.path}});
    }
    act.document = kernel_.catalog().find_or_make(name);
    return {};
}

void FileCalls::PatchRun::hold_from(std::size_t k) {
    if (k == documents_.size()) return plan_from(0);
    Reply<void> then = [self = shared_from_this(), k](Result<void> held) {
        if (!held) return self->refuse(std::move(held).error());
        self->hold_from(k + 1);
    };
    kernel_.enter<void>(
        by_, ThisDocument{documents_[k]}, Access::admitted, std::move(then),
        [self = shared_from_this(), k](Visit<void> visit) {
            LiveDocument& held = *visit.document;
            held.doorway().hold();
            self->held_ = k + 1;
            held.in_flight().when_durable(
                [self, visit = std::move(visit)](Result<void> durable) mutable {
                    LiveDocument& live = *visit.document;
                    Result<void> ready = durable ? self->prepare(live) : std::move(durable);
                    // A change of the disk that was taken in is stored before anything is planned,
                    // so it stays even if the patch is refused.
                    if (!ready || !live.transaction().is_due())
                        return visit.answer(std::move(ready));
                    live.submit([visit = std::move(visit)](Result<void> stored) mutable {
                        visit.answer(std::move(stored));
                    });
                });
        });
}

Result<void> FileCalls::PatchRun::prepare(LiveDocument& live) {
    for (Act& act : acts_) {
        if (act.document.get() != &live) continue;
        if (!act.block && !DocumentName{{kFileKind, act.path}}.is_meant(kernel_.catalog(), live)) {
            return fail(Errc::conflict, "path_changed",
                        cat(act.path, " was deleted or moved meanwhile. Repeat the call"),
                        {{"path", act.path}});
        }
        if (act.kind == Kind::edit || act.kind == Kind::erase) {
            if (!act.block) act.update = TRY(files_->load(live));
        }
        kernel_.flush(live, TRY(block_of(live, act)));
    }
    return {};
}

Result<BlockRef> FileCalls::PatchRun::block_of(LiveDocument& live, const Act& act) {
    if (!act.block) return live.whole();
    return kernel_.find_block(live, *act.block, by_.actor, Access::overwrite, false);
}

void FileCalls::PatchRun::plan_from(std::size_t i) {
    if (i == acts_.size()) return planned();
    at(acts_[i].document, [self = shared_from_this(), i](LiveDocument& live) {
        Act& act = self->acts_[i];
        // Planning goes on after a failure, so that one answer names all hunks that do not fit; but
        // a move whose hunks fail creates nothing.
        const bool failed_before = self->failed_part_ == act.part;
        Result<void> done = failed_before ? Result<void>() : self->plan(live, act);
        if (!done) {
            self->failed_part_ = act.part;
            self->note_failure(act, std::move(done).error());
        }
        self->plan_from(i + 1);
    });
}

edits::EditLimits FileCalls::PatchRun::limits() const {
    const Limits& set = kernel_.limits();
    edits::EditLimits out;
    out.block_bytes = set.block_bytes;
    out.operation_bytes = set.operation_bytes;
    return out;
}

Result<void> FileCalls::PatchRun::plan(LiveDocument& live, Act& act) {
    const edits::FilePatch& patch = what_.parts[act.part];
    Part& part = parts_[act.part];
    const std::string shown = text::escape_hidden(act.block ? act.block->str() : act.path);
    const text::UnifiedOptions names{.from = cat("a/", shown), .to = cat("b/", shown)};
    if (act.kind == Kind::create) return plan_create(live, act, patch, part);

    const BlockRef block = TRY(block_of(live, act));
    const seq::Rope& text = live.doc().text(block.content).rope();
    edits::PatchedText planned = TRY(edits::plan_patch(patch, text, what_.numbering, limits()));
    TRY(kernel_.check_size(text, {planned.splices, {}}));
    for (const text::Splice& splice : planned.splices) TRY(check_savable(live, splice.insert));
    // `planned` is for the journal of a commit (PatchRequest::before): the bytes that the disk has
    // and those that it will get.
    part.out = {live.id_of(block).str(), act.path, block.state->version, std::move(planned.hunks)};
    part.planned.version = block.state->version;
    if (const auto disk = files_->gate.state(live); disk && !disk->missing)
        part.planned.before = disk->hash.hex();
    if (act.kind == Kind::edit) {
        if (!act.block && saves()) {
            const files::DiskState disk = *files_->gate.state(live);
            // While a conflict is open a text cannot be saved; without a save it may be edited.
            TRY(Conflicts::check_settled(live, disk));
            part.planned.after =
                TRY(files::encode(disk.form, spliced(text.str(), planned.splices), act.path));
        }
        part.diff = edits::splice_diff(text, planned.splices, names);
        part.splices = std::move(planned.splices);
        return {};
    }
    TRY(files_->check_erase(live, act.by, act.update));
    if (patch.new_name.empty()) {
        part.diff = text::unified_diff(text.str(), "", {.from = names.from, .to = "/dev/null"});
        return {};
    }
    const std::string to = text::escape_hidden(patch.new_name);
    part.diff =
        cat("diff --git ", names.from, " b/", to, "\nrename from ", shown, "\nrename to ", to, "\n",
            edits::splice_diff(text, planned.splices, {.from = names.from, .to = cat("b/", to)}));
    part.bytes = TRY(files::encode(files_->gate.state(live)->form,
                                   spliced(text.str(), planned.splices), act.path));
    return {};
}

Result<void> FileCalls::PatchRun::plan_create(LiveDocument& live, const Act& act,
                                              const edits::FilePatch& patch, Part& part) {
    if (patch.new_name.empty()) {
        edits::PatchedText planned =
            TRY(edits::plan_patch(patch, seq::Rope(), what_.numbering, limits()));
        part.bytes = spliced("", planned.splices);
        TRY(kernel_.check_new(part.bytes));
        part.diff = text::unified_diff(
            "", part.bytes, {.from = "/dev/null", .to = cat("b/", text::escape_hidden(act.path))});
        part.out.hunks = std::move(planned.hunks);
    }
    if (part.bytes.size() > kernel_.limits().block_bytes)
        return too_large("the file", kernel_.limits().block_bytes, kGoOnElsewhere);
    TRY(files::decode(part.bytes, act.path));
    TRY(files_->check_create(live, act.by, {act.path, part.bytes}));
    part.out.path = act.path;
    part.out.block_id.clear();
    part.out.version = 0;
    return {};
}

// The error of a hunk, or of a merge, gets the name of its file; others have it.
void FileCalls::PatchRun::note_failure(const Act& act, Error error) {
    const std::string name = act.block ? act.block->str() : act.path;
    const char* const member = act.block ? "block_id" : "path";
    Value* const hunks = error.details().find("hunks");
    if (hunks != nullptr && hunks->is_list()) {
        for (Value& hunk : hunks->as_list()) {
            hunk.as_map().append(member, name);
            failed_hunks_.push_back(std::move(hunk));
        }
        error = std::move(error).within(name);
    } else if (what_.parts[act.part].whole && error.details().find(member) == nullptr) {
        error = std::move(error).within(name);
        error.details().set(member, name);
    }
    if (failure_) {
        failure_ = Error(failure_->code(), failure_->reason(),
                         cat(failure_->message(), "\n", error.message()), failure_->details());
    } else {
        failure_ = std::move(error);
    }
}

void FileCalls::PatchRun::planned() {
    if (failure_) {
        if (!failed_hunks_.empty()) failure_->details().set("hunks", std::move(failed_hunks_));
        return refuse(std::move(*failure_));
    }
    if (what_.dry_run) return end(answer());
    const auto asks = [](const Act& act) { return act.by.unapproved != nullptr; };
    if (std::any_of(acts_.begin(), acts_.end(), asks)) {
        // A person may take a day. No document is held for that long: the call ends, and is made
        // again with the approval.
        return let_go(0, [self = shared_from_this()] { self->ask_from(0); });
    }
    if (what_.before) {
        std::vector<PlannedPart> planned;
        for (Part& part : parts_) {
            planned.push_back(std::move(part.planned));
            if (!part.bytes.empty()) planned.back().after = part.bytes;
        }
        if (Result<void> ready = what_.before(planned); !ready)
            return refuse(std::move(ready).error());
    }
    // Edits, creations, deletions: what is hardest to take back comes last, when everything else
    // has worked.
    std::stable_sort(acts_.begin(), acts_.end(),
                     [](const Act& a, const Act& b) { return a.kind < b.kind; });
    write_from(0);
}

void FileCalls::PatchRun::ask_from(std::size_t i) {
    while (i < acts_.size() && acts_[i].by.unapproved == nullptr) ++i;
    if (i == acts_.size()) {
        if (approvals_.size() > 1) asked_->details().set("approval_ids", std::move(approvals_));
        return reply_(Failure(std::move(*asked_)));
    }
    kernel_.oversight().ask(by_, target_of_file(acts_[i].path),
                            Caller::with_diff(*acts_[i].by.unapproved, parts_[acts_[i].part].diff),
                            [self = shared_from_this(), i](Error why) {
                                // The others are of no use if nobody can be asked, or if one
                                // approval was denied.
                                if (why.code() != Errc::escalation_required)
                                    return self->reply_(Failure(std::move(why)));
                                if (const Value* id = why.details().find("approval_id"))
                                    self->approvals_.push_back(*id);
                                if (!self->asked_) self->asked_ = std::move(why);
                                self->ask_from(i + 1);
                            });
}

}  // namespace quire::kernel
