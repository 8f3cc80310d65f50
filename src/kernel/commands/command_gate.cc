// The plan and the frame of a command's commit; command_gate_write.cc has what it writes on the
// disk.
//
//  changes ── step_of() ──> steps, each with a way and a decision ── object() ──> GateResult
//  commit(): ask people ──> texts, as one patch ──> begin() ──> the rest, path by path
//
// Until begin() has written the journal nothing in the workspace is touched, so a refusal leaves it
// as it was. begin() is called by the patch, when every text can be written, or after it where
// there is no text. From then on a path that cannot be written becomes a note, and the others go
// on; after a kill the journal completes them.
//
// Texts are held in memory, up to kMostText. Other files are read when they are needed, up to
// kLargestFile each: for the digest, the journal and the write.
#include "kernel/commands/command_gate.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <set>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "files/form.h"
#include "fs/disk_entries.h"
#include "fs/hash.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_past.h"
#include "kernel/commands/entry_rules.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "stage/stage.h"
#include "text/diff.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

using policy::Operation;
using policy::Verdict;
using stage::ChangeKind;
using stage::StagedChange;

// All texts of one command, which are held in memory; the files beyond are written without documents.
constexpr std::size_t kMostText = std::size_t{256} << 20;
constexpr std::uint32_t kPermissions = 0777;

std::string word_of(const StagedChange& change) {
    switch (change.kind) {
        case ChangeKind::created:
        case ChangeKind::directory:
        case ChangeKind::special:
            return "created";
        case ChangeKind::modified:
            return "modified";
        case ChangeKind::deleted:
            return "deleted";
        case ChangeKind::mode:
            return "mode";
        case ChangeKind::link:
            return "link";
    }
    return "modified";
}

// Returns true if the link leads to a place in the workspace, by its words alone.
bool stays_inside(const StagedChange& link, const std::string& workspace) {
    const std::filesystem::path target = link.target;
    const auto full = target.is_absolute()
                          ? target
                          : std::filesystem::path(workspace) /
                                std::filesystem::path(link.path).parent_path() / target;
    const std::string at = full.lexically_normal().string();
    return at == workspace || at.starts_with(workspace + "/");
}

}  // namespace

CommandGate::~CommandGate() = default;
CommandGate::CommandGate(CommandGate&&) noexcept = default;

CommandGate::CommandGate(Parts parts, const stage::Stage& stage, std::vector<StagedChange> changes,
                         policy::Actor by)
    : parts_(parts),
      run_(stage),
      stage_(stage.directory()),
      upper_(stage.upper()),
      by_(std::move(by)) {
    for (StagedChange& change : changes) {
        Step step = step_of(std::move(change));
        // The link is still there when texts are planned.
        const bool follows_link = !steps_.empty() && steps_.back().change.was_link &&
                                  steps_.back().change.path == step.change.path;
        if (follows_link && step.way == Way::text) step.way = Way::plain;
        steps_.push_back(std::move(step));
        object(steps_.back());
    }
    find_late();
}

// A deletion may free the name of a new file, or of a directory above it. O(changes · depth · log
// changes).
void CommandGate::find_late() {
    std::set<std::string_view> gone;
    for (const Step& step : steps_) {
        if (step.change.kind == ChangeKind::deleted) gone.insert(step.change.path);
    }
    if (gone.empty()) return;
    for (Step& step : steps_) {
        if (step.change.kind != ChangeKind::created) continue;
        const std::string_view path = step.change.path;
        step.is_late = gone.contains(path);
        for (std::size_t at = path.find('/'); at != std::string_view::npos && !step.is_late;
             at = path.find('/', at + 1))
            step.is_late = gone.contains(path.substr(0, at));
    }
}

CommandGate::Step CommandGate::step_of(StagedChange change) {
    Step step;
    step.change = std::move(change);
    const StagedChange& made = step.change;
    switch (made.kind) {
        case ChangeKind::created:
        case ChangeKind::link:
        case ChangeKind::directory:
        case ChangeKind::special:
            step.operation = Operation::create;
            break;
        case ChangeKind::deleted:
            step.operation = Operation::erase;
            break;
        case ChangeKind::modified:
        case ChangeKind::mode:
            step.operation = Operation::overwrite;
            break;
    }
    step.way = Way::entry;
    step.is_git = is_of_git(made.path);
    const bool is_file = !made.is_directory && !made.was_link &&
                         (made.kind == ChangeKind::created || made.kind == ChangeKind::modified ||
                          made.kind == ChangeKind::deleted);
    if (is_file && made.is_based) compare_with_base(step);
    if (is_file && step.is_git) {
        step.way = Way::plain;
    } else if (is_file) {
        plan_file(step);
    }
    // Only texts can be merged.
    if (step.is_merge && step.way != Way::text) step.change.raced = true;
    // The change was made of certain bytes, as of a merge that was planned before. Others now mean
    // it is stale.
    if (!made.seen.empty()) {
        const auto now = parts_.gate.files().read(made.path, kLargestFile);
        step.change.raced = made.raced || !now || now->hash.hex() != made.seen;
    }
    step.decision = decide_entry(parts_.gate, made.path, made.is_directory, step.operation, by_);
    const auto refuse = [&](std::string why) {
        step.decision.verdict = Verdict::deny;
        step.decision.why = std::move(why);
    };
    if (step.is_git && (made.kind == ChangeKind::link || made.was_link))
        refuse("it is a link in the repository of git");
    // Under "audit" a refusal is only told, except for what is refused always.
    if (made.kind == ChangeKind::link && !stays_inside(made, parts_.workspace))
        refuse(cat("the link leads out of the workspace, to ", made.target));
    const auto refuse_always = [&](std::string why) {
        step.is_never = true;
        refuse(std::move(why));
    };
    if (made.kind == ChangeKind::special) refuse_always("it is a fifo, a socket or a device");
    if (made.kind != ChangeKind::deleted && (made.mode & ~kPermissions) != 0 && !made.is_directory)
        refuse_always("it has a set-user-id, set-group-id or sticky bit");
    // The refusal is that of the rules, which protect these paths from everybody.
    if (policy::is_of_quire(made.path)) step.is_never = true;
    result_.changes.push_back(
        {made.is_directory ? made.path + "/" : made.path, word_of(made), "", false});
    step.shown = result_.changes.size() - 1;
    return step;
}

// A generation has the file as the command read it. A deletion is of what was read.
void CommandGate::compare_with_base(Step& step) const {
    StagedChange& made = step.change;
    if (made.raced || made.kind == ChangeKind::created) return;
    Result<std::string> base = run_.base_bytes(made.path, kLargestFile);
    const Result<fs::FileBytes> now = parts_.gate.files().read(made.path, kLargestFile);
    if (base && now && fs::Hash::of(*base) == now->hash) return;
    step.is_merge = true;
    made.raced = !base || !now || made.kind == ChangeKind::deleted;
    if (made.raced) return;
    made.seen = now->hash.hex();
    made.made_of = std::move(*base);
}

// Reads both sides of a file. What has no document, or cannot have one, goes the plain way.
void CommandGate::plan_file(Step& step) {
    const StagedChange& made = step.change;
    step.way = Way::plain;
    // Nobody could name its document.
    if (!utf8::is_valid(made.path) || text_bytes_ > kMostText) return;
    fs::FileSystem& files = parts_.gate.files();
    edits::FilePatch patch;
    patch.name = cat("file:", made.path);
    edits::WholeText whole;
    files::Form form;
    const auto declared = parts_.gate.rules()->paths.encoding(made.path);
    if (made.kind != ChangeKind::created) {
        Result<fs::FileBytes> before = files.read(made.path, parts_.file_bytes);
        if (!before) return;
        step.before = before->hash.hex();
        Result<files::Decoded> text = files::decode(std::move(before->bytes), made.path, declared);
        if (!text) return;
        form = text->form;
        whole.before = std::move(text->text);
        if (made.made_of) {
            Result<files::Decoded> shown = files::decode(*made.made_of, made.path, declared);
            if (shown) whole.before = std::move(shown->text);
        }
    }
    if (made.kind == ChangeKind::deleted) {
        patch.action = edits::PatchAction::erase;
        step.patch = std::move(patch);
        step.way = Way::text;
        return;
    }
    Result<std::string> bytes = stage::staged_bytes(upper_, made.path, parts_.file_bytes);
    if (!bytes) return;
    step.after = fs::Hash::of(*bytes).hex();
    Result<files::Decoded> text = files::decode(*bytes, made.path, declared);
    if (!text) return;
    whole.after = std::move(text->text);
    if (made.kind == ChangeKind::created) {
        // A new file is written in the form that the command chose.
        if (text->form != files::Form{}) return;
        patch.action = edits::PatchAction::create;
    } else {
        const Result<std::string> again = files::encode(form, whole.after, made.path);
        // A save of the document would write other bytes than the command has left.
        if (!again || *again != *bytes) return;
        if (whole.after.starts_with(whole.before)) step.operation = Operation::append;
    }
    text_bytes_ += whole.before.size() + whole.after.size();
    patch.whole = std::move(whole);
    step.patch = std::move(patch);
    step.way = Way::text;
}

// O(log hidden): the hidden files are sorted, so those below a path follow each other.
bool CommandGate::is_unseen(const StagedChange& change) const {
    if (change.kind == ChangeKind::deleted) return false;
    if (std::ranges::binary_search(parts_.hidden, change.path)) return true;
    // A directory stays with a file in it that the command did not see.
    if (change.is_directory) return false;
    const std::string below = cat(change.path, "/");
    const auto first = std::ranges::lower_bound(parts_.hidden, below);
    return first != parts_.hidden.end() && first->starts_with(below);
}

// A race and an unseen file are notes and no objections: no rule forbids the change, and no person
// can allow it.
void CommandGate::object(Step& step) {
    if (step.change.raced) {
        result_.notes.push_back(cat(step.change.path,
                                    " changed in the workspace meanwhile, so what the ",
                                    parts_.operation, " made of it was not committed"));
        step.way = Way::none;
        return;
    }
    if (is_unseen(step.change)) {
        result_.notes.push_back(cat(step.change.path, " is there, and the ", parts_.operation,
                                    " could not see it, so what it wrote there was not committed"));
        step.way = Way::none;
        return;
    }
    if (step.decision.verdict == Verdict::allow) return;
    auto& list = step.decision.verdict == Verdict::deny ? result_.violations : result_.escalations;
    list.push_back({result_.changes[step.shown].path, step.operation,
                    std::string(name_of(step.decision.permission)), step.decision.why, ""});
}

bool CommandGate::is_outdated() const {
    return std::ranges::any_of(steps_,
                               [](const Step& step) { return step.change.raced || step.is_merge; });
}

// A person's yes is for this digest, so it has all that they have seen: paths, permissions, bytes
// and links.
Result<std::string> CommandGate::effects() const {
    std::string all;
    for (const Step& step : steps_) {
        const StagedChange& made = step.change;
        std::string content = made.target;
        if (made.kind == ChangeKind::created || made.kind == ChangeKind::modified)
            content = TRY(stage::staged_bytes(upper_, made.path, kLargestFile));
        // The bytes that are replaced or deleted belong to it: a person has seen those alone.
        std::string before = step.before;
        const bool replaces = made.kind == ChangeKind::modified || made.kind == ChangeKind::deleted;
        if (before.empty() && replaces && !made.is_directory && !made.was_link) {
            const auto now = parts_.gate.files().read(made.path, kLargestFile);
            if (now) before = now->hash.hex();
        }
        // A path may contain any byte but zero, so its length comes first.
        cat_to(all, cat(made.path.size(), " ", made.path, "\n", word_of(made), " ", made.mode, " ",
                        fs::Hash::of(content).hex(), " ", before, "\n"));
    }
    return fs::Hash::of(all).hex();
}

GateResult CommandGate::commit(const Caller& by, shell::Enforcement level) {
    const bool is_strict = level == shell::Enforcement::strict;
    if (is_strict && !result_.violations.empty()) return std::move(result_);
    std::vector<Step*> texts, escalated;
    if (level != shell::Enforcement::audit) judge_git();
    for (Step& step : steps_) {
        if (step.way == Way::none) continue;
        if (level == shell::Enforcement::audit && !step.is_never &&
            step.decision.verdict != Verdict::allow) {
            // A forbidden text has no way through the documents.
            if (step.way == Way::text) step.way = Way::plain;
        } else if (step.decision.verdict == Verdict::deny) {
            step.way = Way::none;
        } else if (step.decision.verdict == Verdict::escalate) {
            escalated.push_back(&step);
        }
    }
    // Everything that a person must allow is asked for at once, with the diff; without an answer
    // nothing of it is done, and under "strict" nothing at all.
    std::vector<Step*> asked;
    for (Step& step : steps_) {
        if (step.way != Way::text) continue;
        const bool waits = step.decision.verdict == Verdict::escalate;
        // One patch asks for all texts before it writes any, and this one is written after that.
        if (step.is_late && waits) step.way = Way::plain;
        if (step.is_late) continue;
        (waits && !is_strict ? asked : texts).push_back(&step);
    }
    std::erase_if(escalated, [](const Step* step) { return step->way == Way::text; });
    is_strict_ = is_strict;
    ask_about(by, escalated);
    const Result<fs::DiskEntries> entries = fs::DiskEntries::open(parts_.workspace);
    if (!entries) {
        fail_with(entries.error());
        return std::move(result_);
    }
    // This asks about the texts too, where something else waits under "strict", and begins nothing then.
    if (Result<void> done = commit_texts(by, texts, *entries); !done) {
        fail_with(std::move(done).error());
        // The texts have been taken back, and so is the rest.
        if (is_strict && begun_) {
            take_back(*entries);
            return std::move(result_);
        }
    }
    Result<void> begun = begin(by, *entries);
    if (!begun) {
        fail_with(std::move(begun).error());
        take_back(*entries);
        return std::move(result_);
    }
    if (Result<void> done = commit_texts(by, asked, *entries); !done)
        fail_with(std::move(done).error());
    commit_rest(by, *entries);
    finish_past();
    return std::move(result_);
}

// A person sees this in place of a diff. Permissions have three octal digits: other bits are
// refused.
std::string CommandGate::described(const Step& step) const {
    const StagedChange& made = step.change;
    const auto size_of = [](const auto& bytes) { return bytes ? bytes->size() : std::size_t{0}; };
    const auto after = stage::staged_bytes(upper_, made.path, kLargestFile);
    switch (made.kind) {
        case ChangeKind::directory:
            return cat("new directory ", made.path, "\n");
        case ChangeKind::link:
            return cat("link ", made.path, " to ", made.target, "\n");
        case ChangeKind::mode: {
            constexpr std::array<char, 8> kOctal = {'0', '1', '2', '3', '4', '5', '6', '7'};
            std::string mode;
            for (const unsigned shift : {6U, 3U, 0U}) mode += kOctal.at((made.mode >> shift) & 7U);
            return cat("permissions of ", made.path, " become ", mode, "\n");
        }
        case ChangeKind::deleted:
            return cat(made.is_directory ? "directory "
                       : made.was_link   ? "link "
                                         : "file ",
                       made.path, " is deleted\n");
        case ChangeKind::created:
        case ChangeKind::modified:
        case ChangeKind::special:
            break;
    }
    if (step.patch && step.patch->whole) {
        const std::string shown = text::escape_hidden(made.path);
        return text::unified_diff(step.patch->whole->before, step.patch->whole->after,
                                  {.from = "/dev/null", .to = cat("b/", shown)});
    }
    return cat("file ", made.path, ", which is no text, ",
               made.kind == ChangeKind::created ? "is new and has " : "becomes ", size_of(after),
               " bytes with the hash ", after ? fs::Hash::of(*after).hex() : std::string("unknown"),
               "\n");
}

// Asks for all of them before it returns, so a person gets one round of questions. Each is a
// request of its own, because an approval names one path.
void CommandGate::ask_about(const Caller& by, const std::vector<Step*>& steps) {
    Overseer& overseer = Overseer::of(parts_.kernel);
    for (Step* const step : steps) {
        const std::string path = utf8::repaired(step->change.path);
        const policy::Target target = target_of_file(path);
        if (overseer.approved(by, target).has(step->operation)) continue;
        step->way = Way::none;
        Error refusal(Errc::escalation_required, "escalation_required",
                      cat(path,
                          " was not changed: it needs a person's approval. Ask for one, then make "
                          "the same call again"),
                      {{"path", path},
                       {"operation", name_of(step->operation)},
                       {"permission", name_of(step->decision.permission)}});
        std::promise<Error> told;
        overseer.ask(by, target, Caller::with_diff(std::move(refusal), described(*step)),
                     [&](Error why) { told.set_value(std::move(why)); });
        Error why = told.get_future().get();
        if (const Value* const id = why.details().find("approval_id")) {
            for (GateObjection& each : result_.escalations) {
                const bool is_it = each.path == result_.changes[step->shown].path &&
                                   each.operation == step->operation;
                if (is_it) each.approval_id = id->as_string();
            }
        }
        fail_with(std::move(why));
    }
}

// The first failure is the one that the caller can act on.
void CommandGate::fail_with(Error why) {
    if (!result_.failure) result_.failure = std::move(why);
}

// The patch asks for those of its texts at once that nobody has approved. Its error has one id, or
// a list of ids; an approval itself has the path that it is for.
void CommandGate::note_approvals(const Error& refusal) {
    const Value* const id = refusal.details().find("approval_id");
    const Value* const ids = refusal.details().find("approval_ids");
    if (id == nullptr) return;
    const Approvals& approvals = Overseer::of(parts_.kernel).approvals();
    for (const Value& each : ids != nullptr ? ids->as_list() : List{*id}) {
        const Result<policy::Approval> approval = approvals.find(each.as_string());
        if (!approval) continue;
        // A text is the only change of its path that can wait.
        const std::string& path = approval->ask.target.name;
        for (GateObjection& objection : result_.escalations) {
            if (objection.path == path) objection.approval_id = approval->id;
        }
    }
}

// `steps` lose their patches. The planned texts are in the journal before the patch writes the
// first of them, and are withdrawn if it writes none.
Result<void> CommandGate::commit_texts(const Caller& by, const std::vector<Step*>& steps,
                                       const fs::DiskEntries& entries) {
    if (steps.empty()) return {};
    PatchRequest request;
    request.to_disk = true;
    request.operation = parts_.operation;
    request.before = [&](const std::vector<PlannedPart>& planned) -> Result<void> {
        if (journal_ == nullptr) journal_ = std::make_unique<Journal>();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (!steps[i]->is_late) journal_->entries.push_back(text_entry(*steps[i], planned[i]));
        }
        return begun_ ? write_journal(stage_, *journal_) : begin(by, entries);
    };
    for (Step* const step : steps) request.parts.push_back(std::move(*step->patch));
    std::promise<Result<Patched>> promise;
    std::future<Result<Patched>> answer = promise.get_future();
    parts_.files.patch(by, std::move(request),
                       [&promise](Result<Patched> made) { promise.set_value(std::move(made)); });
    Result<Patched> made = answer.get();
    if (!made) {
        if (made.error().code() == Errc::escalation_required) note_approvals(made.error());
        withdraw_texts(steps);
        return Failure(std::move(made).error());
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CommandChange& shown = result_.changes[steps[i]->shown];
        shown.committed = true;
        shown.block_id = made->blocks[i].block_id;
        shown.version = made->blocks[i].version;
    }
    result_.diff += made->diff;
    result_.notes.insert(result_.notes.end(), made->notes.begin(), made->notes.end());
    return {};
}

}  // namespace quire::kernel
