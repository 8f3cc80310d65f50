// The run of one patch over several files and blocks; file_patch.cc says how it goes.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conversation/block.h"
#include "kernel/files/file_body.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_patch.h"
#include "store/store.h"

namespace quire::kernel {

// One call of FileCalls::patch(). Each step runs on the strand of its document, or at the door.
class FileCalls::PatchRun : public std::enable_shared_from_this<FileCalls::PatchRun> {
public:
    PatchRun(std::shared_ptr<Body> files, Caller by, PatchRequest what, Reply<Patched> reply)
        : files_(std::move(files)),
          kernel_(*files_->kernel),
          by_(std::move(by)),
          what_(std::move(what)),
          reply_(std::move(reply)),
          parts_(what_.parts.size()) {}

    void start();

private:
    using Document = std::shared_ptr<LiveDocument>;
    enum class Kind : std::uint8_t { edit, create, erase };

    // One change of one file or block. A move is two: the old file is deleted, a new one created.
    // `by` is the caller with the refusal that a person could lift, if this act meets one: each act
    // has its own.
    struct Act {
        Kind kind = Kind::edit;
        std::size_t part = 0;
        std::string path = {};  // "" for a block of a conversation.
        std::optional<conversation::BlockId> block = {};
        Caller by = {};
        Document document = nullptr;
        DiskUpdate update = {};
        bool written = false;                      // The disk was changed.
        std::optional<fs::FileBytes> before = {};  // The bytes of a deleted file.
        std::optional<fs::Hash> hash_before = {};  // The hash of a file that is edited.
    };
    // The plan of one part of the patch, and its result.
    struct Part {
        std::vector<text::Splice> splices = {};
        std::string bytes = {};  // The content of a file that is created.
        PlannedPart planned = {};
        std::string diff = {};
        PatchedBlock out = {};
    };

    // --- find (file_patch.cc) ---
    // Resolves all names and sorts the documents. At the door. Errors: those of the three below;
    // "invalid_patch" for a name that is given twice.
    Result<void> find();
    Result<void> add_acts(std::size_t i);
    // Sets what the part names: a path, or a block. Errors: "invalid_patch", "memory_block".
    Result<void> locate(const edits::FilePatch& patch, Act& act);
    // Resolves an act's path, decides its permission, and finds its document.
    Result<void> reach(Act& act);

    // --- hold ---
    // Holds the documents from number `k` on, then plans.
    void hold_from(std::size_t k);
    // Takes in the disk's changes and the appends that wait.
    Result<void> prepare(LiveDocument& live);
    Result<BlockRef> block_of(LiveDocument& live, const Act& act);

    // --- plan ---
    // Plans the acts from number `i` on, each on its strand, also after one has failed.
    void plan_from(std::size_t i);
    edits::EditLimits limits() const;
    // Returns true if files are saved with the call.
    bool saves() const { return what_.to_disk || files_->saves_on_commit(); }
    Result<void> plan(LiveDocument& live, Act& act);
    Result<void> plan_create(LiveDocument& live, const Act& act, const edits::FilePatch& patch,
                             Part& part);
    // Says where the error is, and gathers the hunks that fail.
    void note_failure(const Act& act, Error error);
    // All acts are planned: refuses what failed, asks a person, ends a dry run, or begins to write.
    void planned();
    // Asks a person about every act that needs it. The first is the call's refusal.
    void ask_from(std::size_t i);

    // --- write (file_patch_write.cc) ---
    // From here on the disk changes; the first failure leads to take_back().
    void write_from(std::size_t i);
    Result<void> write(LiveDocument& live, Act& act);
    Result<void> write_edit(LiveDocument& live, Act& act, Part& part);

    // --- store ---
    // Gathers what the documents from number `k` on have changed, and stores it.
    void give_from(std::size_t k);
    // Tells the documents from number `k` on that their parts are stored.
    void settle_from(std::size_t k);
    // Undoes what was written: no document keeps its transaction, and the disk gets its bytes
    // back.
    void take_back(Error why, std::size_t k = 0);
    // Writes deleted files anew, and says what the disk has now.
    Error put_back(Error why);

    // --- the end ---
    Patched answer();
    // Releases the documents from number `k` on. Those that were made for this call and are still
    // blank give up their names.
    void let_go(std::size_t k, Function<void()> then);
    void end(Result<Patched> result);
    // Ends a call that has changed nothing. A person is asked about what only they may allow.
    void refuse(Error why);

    // Runs work(live) on the document's strand.
    template <class Work>
    static void at(const Document& document, Work work) {
        document->strand().post(
            [document, work = std::move(work)]() mutable { work(*document); });
    }

    const std::shared_ptr<Body> files_;
    Core& kernel_;
    const Caller by_;
    PatchRequest what_;
    Reply<Patched> reply_;
    std::vector<Part> parts_;
    std::vector<Act> acts_;
    std::vector<Document> documents_;  // Those of the acts, by key.
    std::size_t held_ = 0;             // So many of them are held.
    std::optional<std::size_t> failed_part_;
    std::optional<Error> failure_;
    List failed_hunks_;
    std::optional<Error> asked_;
    List approvals_;
    store::Batch batch_;
    std::set<const LiveDocument*> given_;
    std::vector<std::string> notes_;
};

}  // namespace quire::kernel
