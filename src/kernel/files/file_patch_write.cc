// The second half of a patch's run: writing, storing, and taking back.
//
//   write_from ─► give_from ─► store.commit ─► settle_from ─► end
//        └───────────┴──────────────┴──► take_back ─► put_back ─► end
//
// An edit and a creation register what undoes them on the disk with their transaction
// (OpenTransaction::on_stored()), and taking the transaction back runs that. A deletion is undone
// here, from the bytes that were read before it. A kernel that is killed in between leaves the
// files as they are by then; a commit's journal tells the next one.
#include <algorithm>

#include "kernel/files/file_gate.h"
#include "kernel/files/file_patch_run.h"

namespace quire::kernel {

void FileCalls::PatchRun::write_from(std::size_t i) {
    if (i == acts_.size()) return give_from(0);
    at(acts_[i].document, [self = shared_from_this(), i](LiveDocument& live) {
        Result<void> done = self->write(live, self->acts_[i]);
        if (!done) return self->take_back(std::move(done).error());
        self->write_from(i + 1);
    });
}

Result<void> FileCalls::PatchRun::write(LiveDocument& live, Act& act) {
    Part& part = parts_[act.part];
    if (act.kind == Kind::edit) return write_edit(live, act, part);
    if (act.kind == Kind::create) {
        const FileVersion made =
            TRY(files_->create(live, act.by, {act.path, std::move(part.bytes)}));
        act.written = true;
        part.out.block_id = made.block_id;
        part.out.version = made.version;
        return {};
    }
    if (!files_->gate.state(live)->missing)
        // A deletion is taken back from these bytes.
        act.before = TRY(files_->gate.files().read(act.path, kernel_.limits().block_bytes));
    const FileVersion gone = TRY(files_->erase(live, act.by, act.update));
    act.written = act.before.has_value();
    if (what_.parts[act.part].new_name.empty()) part.out.version = gone.version;
    return {};
}

Result<void> FileCalls::PatchRun::write_edit(LiveDocument& live, Act& act, Part& part) {
    TextEdit what{what_.operation,
                  [splices = std::move(part.splices)](
                      const seq::Rope&, std::uint64_t) mutable -> Result<edits::Planned> {
                      return edits::Planned{std::move(splices), {}};
                  }};
    if (act.block) {
        const BlockRef block = TRY(block_of(live, act));
        part.out.version = TRY(kernel_.edit(live, block, act.by, what)).version;
        return {};
    }
    if (const auto disk = files_->gate.state(live)) act.hash_before = disk->hash;
    const FileEdited made =
        TRY(saves() ? files_->edit_and_save(live, act.by, what) : files_->edit(live, act.by, what));
    act.written = saves() && !made.edited.no_op;
    part.out.version = made.edited.version;
    notes_.insert(notes_.end(), made.edited.notes.begin(), made.edited.notes.end());
    return {};
}

void FileCalls::PatchRun::give_from(std::size_t k) {
    if (k == documents_.size()) {
        if (given_.empty()) return end(answer());
        kernel_.count_commit();
        return kernel_.parts().store.commit(
            std::move(batch_), [self = shared_from_this()](Result<void> stored) {
                if (!stored) return self->take_back(std::move(stored).error());
                self->settle_from(0);
            });
    }
    at(documents_[k], [self = shared_from_this(), k](LiveDocument& live) {
        if (live.transaction().is_due()) {
            self->batch_.append(live.give());
            self->given_.insert(&live);
            // Closing waits for what is under way when it comes to this strand, and for no more.
            if (self->kernel_.is_closing()) return self->take_back(kernel_ending());
        }
        self->give_from(k + 1);
    });
}

void FileCalls::PatchRun::settle_from(std::size_t k) {
    if (k == documents_.size()) return end(answer());
    at(documents_[k], [self = shared_from_this(), k](LiveDocument& live) {
        if (self->given_.contains(&live)) live.given({});
        self->settle_from(k + 1);
    });
}

// A document whose transaction is not due was not changed. One that was gets the refusal as if the
// store had given it: its memory is thrown away and loaded anew.
void FileCalls::PatchRun::take_back(Error why, std::size_t k) {
    if (k == documents_.size()) return end(Failure(put_back(std::move(why))));
    at(documents_[k],
       [self = shared_from_this(), k, why = std::move(why)](LiveDocument& live) mutable {
           if (live.transaction().is_due()) {
               static_cast<void>(live.give());
               self->given_.insert(&live);
           }
           if (self->given_.contains(&live)) live.given(Failure(why));
           self->take_back(std::move(why), k + 1);
       });
}

Error FileCalls::PatchRun::put_back(Error why) {
    std::string left;
    bool any = false;
    fs::FileSystem& files = files_->gate.files();
    for (const Act& act : acts_) {
        if (!act.written) continue;
        any = true;
        if (act.before) static_cast<void>(files.create(act.path, act.before->bytes));
        const Result<fs::FileBytes> now = files.read(act.path, kernel_.limits().block_bytes);
        // Nothing is believed: each file is read again, and those that could not be given their
        // bytes back are named in the answer.
        const bool is_back =
            act.kind == Kind::create
                ? !now && now.error().code() == Errc::not_found
                : now && now->hash == (act.before ? act.before->hash : *act.hash_before);
        if (!is_back) cat_to(left, cat(left.empty() ? "" : ", ", act.path));
    }
    if (!any) return why;
    const std::string tail = left.empty()
                                 ? "The files that had been written have their bytes back"
                                 : cat("These could not be given their bytes back: ", left);
    Map details = why.details();
    if (!left.empty()) details.set("not_put_back", left);
    return {why.code(), why.reason(), cat(why.message(), ". ", tail), std::move(details)};
}

Patched FileCalls::PatchRun::answer() {
    Patched out;
    out.notes = std::move(notes_);
    for (Part& part : parts_) {
        out.diff += part.diff;
        out.blocks.push_back(std::move(part.out));
    }
    return out;
}

void FileCalls::PatchRun::let_go(std::size_t k, Function<void()> then) {
    if (k == documents_.size()) return then();
    at(documents_[k], [self = shared_from_this(), k,
                       then = std::move(then)](LiveDocument& live) mutable {
        // A document that was made for this call alone, and into which nothing has come.
        if (!live.is_stored() && (live.in_flight().refusal() || !live.loaded() || live.is_blank()))
            self->kernel_.catalog().drop(live.key());
        if (k < self->held_) live.doorway().release();
        self->let_go(k + 1, std::move(then));
    });
}

void FileCalls::PatchRun::end(Result<Patched> result) {
    let_go(0, [self = shared_from_this(), result = std::move(result)]() mutable {
        self->reply_(std::move(result));
    });
}

void FileCalls::PatchRun::refuse(Error why) {
    if (!Oversight::is_unasked(why) || by_.call == nullptr) return end(Failure(std::move(why)));
    let_go(0, [self = shared_from_this(), why = std::move(why)]() mutable {
        std::string path;
        if (const Value* told = why.details().find("path")) path = told->as_string();
        self->kernel_.oversight().ask(
            self->by_, target_of_file(path), std::move(why),
            [self](Error told) { self->reply_(Failure(std::move(told))); });
    });
}

}  // namespace quire::kernel
