// The gate of files: rules first, then the disk.
//
// A stamp that is unchanged costs one stat; a file whose bytes are those last seen, one read and one
// hash. Only other bytes are reconciled (files/reconcile.h): the disk's edit is made in a copy of
// the document at the version that the disk had, and merged. O(file) then.
#include "kernel/files/file_gate.h"

#include <algorithm>
#include <utility>

#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/versions.h"
#include "kernel/files/conflict_region.h"
#include "kernel/files/disk_authors.h"
#include "memory/splices.h"
#include "policy/attribution.h"

namespace quire::kernel {
namespace {

using policy::Operation;
using policy::Verdict;

policy::Actor disk() {
    return {policy::ActorKind::source, "disk"};
}
// Says in a history that a file's rules left no place for edits that were never saved.
constexpr const char* kDiskOverEdits = "disk, over edits that the rules do not allow any more";

policy::Actor reconciler() {
    return {policy::ActorKind::system, "reconcile"};
}

// The file is on the disk again.
void end_deletion(files::DiskState& state) {
    state.missing = state.vanished = false;
    std::erase_if(state.conflicts, [](const files::Conflict& conflict) {
        return conflict.kind == files::ConflictKind::deletion;
    });
}

// Opens conflicts again whose settling was undone, and closes those whose settling was redone.
// Returns true if there was any.
bool follow_undo(LiveDocument& document, files::DiskState& state) {
    if (state.settled.empty()) return false;
    History& history = document.whole().state->history;
    return state.follow_undo([&](std::uint64_t version) {
        const std::vector<Unit*> units = history.with_group_of(version);
        return !units.empty() && units.back()->state != UnitState::done;
    });
}

// Sets the regions of the conflicts anew, on characters that are there: an edit may have replaced
// those that they stood on. Every call passes here, so that there is one edit at most to follow.
// Returns true if a region changed.
bool follow_edits(LiveDocument& document, std::vector<files::Conflict>& conflicts) {
    const crdt::Handle content = document.whole().content;
    bool changed = false;
    for (files::Conflict& conflict : conflicts) {
        if (conflict.kind != files::ConflictKind::lines) continue;
        const TextPart part = place_of(document.doc(), conflict.region, content);
        files::Region region = region_of(document.doc(), content, part);
        changed = changed || region != conflict.region;
        conflict.region = region;
    }
    return changed;
}

Operation operation_of(Access access) {
    switch (access) {
        case Access::admitted:
        case Access::look:
        case Access::read:
            return Operation::read;
        case Access::append:
            return Operation::append;
        case Access::overwrite:
            return Operation::overwrite;
        case Access::erase:
            return Operation::erase;
    }
    return Operation::overwrite;
}

Failure path_changed(const std::string& path, const fs::Place& now) {
    return fail(Errc::conflict, "path_changed",
                cat(path, " was a file and is now a link to ", now.path, "; use that path"),
                {{"path", path}});
}

// A copy of the document at a version, which knows no other.
Result<crdt::Doc> copy_at(crdt::Doc& doc, const files::Version& version) {
    std::vector<crdt::IdSpan> known;
    known.reserve(version.size());
    for (const auto& [peer, end] : version) known.push_back({peer, 0, end});
    crdt::Doc copy(doc.peer());
    TRY(copy.import(doc.changes_in(known)));
    return copy;
}

}  // namespace

files::Version version_of(LiveDocument& document) {
    return document.doc().version().ends();
}

Result<seq::Rope> rope_at(LiveDocument& document, const files::Version& version) {
    const crdt::History history = document.doc().history();
    TRY(history.load());
    crdt::VersionVector known;
    for (const auto& [peer, end] : version) known.set(peer, end);
    return rope_at(document, document.whole().content, history.heads_of(known));
}

Result<std::string> text_at(LiveDocument& document, const files::Version& version) {
    return TRY(rope_at(document, version)).str();
}

files::DiskState saved_state(LiveDocument& document, const files::DiskState& before,
                             const fs::Saved& saved) {
    files::DiskState state;
    state.hash = saved.hash;
    state.stamp = saved.stamp;
    state.form = before.form;
    state.version = version_of(document);
    state.last_conflict = before.last_conflict;
    return state;
}

void FileGate::set_rules(FileRules rules) {
    auto made = std::make_shared<const FileRules>(std::move(rules));
    rules_.with([&](auto& held) { held = std::move(made); });
}

// A link must not open what the rules close, so every name on the way counts.
policy::Decision FileGate::decide(const fs::Place& place, Operation operation,
                                  const policy::Actor& actor) const {
    const std::shared_ptr<const FileRules> rules = this->rules();
    policy::Decision decision = rules->paths.decide(place.path, operation, actor);
    for (const auto* const names : {&place.aliases, &place.hard_links}) {
        for (const std::string& name : *names) {
            decision =
                policy::stricter(std::move(decision), rules->paths.decide(name, operation, actor));
        }
    }
    return decision;
}

bool FileGate::may_see(const std::string& path, const policy::Actor& actor) const {
    return decide({path, {}, fs::Kind::file}, Operation::read, actor).verdict == Verdict::allow;
}

Result<void> FileGate::admit(const fs::Place& place, Operation operation,
                             const policy::Actor& actor, policy::Operations approved) const {
    return policy::permit(decide(place, operation, actor), operation, actor, place.path, approved);
}

Result<void> FileGate::admit_save(const fs::Place& place, const policy::Actor& actor,
                                  policy::Operations approved) const {
    const Operation operation = policy::operation_of_save(
        decide(place, Operation::append, actor), decide(place, Operation::overwrite, actor));
    return admit(place, operation, actor, approved);
}

Result<void> FileGate::enter(LiveDocument& document, const policy::Actor& actor, Access access,
                             policy::Operations approved) {
    const bool is_copy = document.kind() == kStageKind;
    fs::Place place{document.name(), {}, fs::Kind::file};
    if (access != Access::look) {
        // The other names of the file count too.
        auto found = files_.resolve(document.name());
        if (found && found->linked() && access != Access::read)
            return path_changed(document.name(), *found);
        if (found && !found->linked()) place.hard_links = std::move(found->hard_links);
    }
    TRY(admit(place, operation_of(access), actor, approved));
    if (is_copy && document.record().owner != actor.str()) {
        return fail(Errc::denied, "permission_denied",
                    cat("this is the private copy of ", document.name(), " that ",
                        document.record().owner, " has staged"),
                    {{"path", document.name()}});
    }
    if (is_copy || access == Access::look || document.record().deleted) return {};
    const Result<DiskUpdate> taken = take_in(document);
    // A document that was read before can still be read while the disk cannot, unless that is about to
    // change.
    if (!taken && (access != Access::read || !state(document) || taken.error().reason() == "busy"))
        return Failure(taken.error());
    return {};
}

std::optional<files::DiskState> FileGate::state(const LiveDocument& document) const {
    if (document.record().header.empty()) return std::nullopt;
    Result<files::DiskState> state = files::DiskState::decode(document.record().header);
    // Without it the disk's text is taken in anew, as the smallest edit of all that is there.
    if (!state) return std::nullopt;
    return std::move(*state);
}

// Equal versions decide without a look at the text; otherwise the bytes are compared by their
// hash. O(file) then.
bool FileGate::dirty(LiveDocument& document) {
    const std::optional<files::DiskState> disk = state(document);
    if (!disk) return document.doc().history().op_count() > 0;
    if (disk->version == version_of(document)) return false;
    const auto bytes = files::encode(
        disk->form, document.doc().text(document.whole().content).rope().str(), document.name());
    return !bytes || fs::Hash::of(*bytes) != disk->hash;
}

Result<Disk> FileGate::look(LiveDocument& document) {
    const fs::Place place = TRY(files_.resolve(document.name()));
    if (place.kind == fs::Kind::missing) return Disk::missing;
    const std::optional<files::DiskState> disk = state(document);
    if (!disk || disk->missing || place.linked() || place.kind != fs::Kind::file)
        return Disk::changed;
    if (disk->stamp.same_as(TRY(files_.stamp(place.path)))) return Disk::same;
    const Result<fs::FileBytes> file = files_.read(place.path, file_bytes_);
    if (!file && file.error().reason() != "too_large" && file.error().reason() != "busy")
        return Failure(file.error());
    return file && file->hash == disk->hash ? Disk::same : Disk::changed;
}

Result<DiskUpdate> FileGate::take_in(LiveDocument& document, Evidence evidence) {
    DiskUpdate update = TRY(compare(document, evidence));
    if (update.is_news()) news_.with([&](auto& news) { news[document.key()] = update; });
    return update;
}

DiskUpdate FileGate::last_news(const LiveDocument& document) {
    return news_.with([&](auto& news) {
        const auto found = news.find(document.key());
        if (found == news.end()) return DiskUpdate{};
        DiskUpdate last = std::move(found->second);
        news.erase(found);
        return last;
    });
}

Result<DiskUpdate> FileGate::compare(LiveDocument& document, Evidence evidence) {
    std::optional<files::DiskState> before = state(document);
    if (before && before->unlisted_conflict) TRY(list_old_conflict(document, *before));
    if (before && follow_undo(document, *before))
        document.transaction().set_header(before->encode());
    if (before && follow_edits(document, before->conflicts))
        document.transaction().note_header(before->encode());
    const std::string& path = document.name();
    const fs::Place place = TRY(files_.resolve(path));
    // Late writes are merged into the file itself, so they come before its stamp is looked at.
    take_late_writes(path);
    if (before && (place.linked() || place.kind != fs::Kind::file))
        return note_missing(document, std::move(*before));
    const fs::Stamp stamp = TRY(files_.stamp(path));
    const bool is_same = before && !before->missing && before->stamp.same_as(stamp);
    if (is_same && evidence == Evidence::stamp) return DiskUpdate{};
    fs::FileBytes file = TRY(files_.read(path, file_bytes_));
    if (before && before->hash == file.hash) {
        DiskUpdate update;
        update.back = before->missing;
        // Worth keeping only where it saves reading the file the next time.
        if (!is_same && (before->missing || file.stamp.settled)) {
            end_deletion(*before);
            before->stamp = file.stamp;
            document.transaction().note_header(before->encode());
        }
        return update;
    }
    files::Decoded decoded =
        TRY(files::decode(std::move(file.bytes), path, rules()->paths.encoding(path)));
    files::DiskState now;
    now.hash = file.hash;
    now.stamp = file.stamp;
    now.form = decoded.form;
    const policy::Actor author = author_of(path, now.hash.hex());
    if (before) TRY(keep_saved(document, *before, now, decoded.text));
    return apply(document, before, std::move(now), decoded.text, author);
}

// If a program wrote over a save that it had not seen, brings what was saved back to the file, as the
// save would have been made after it. Where both changed the same words, or the file cannot be
// written, the file stays as it is, and `before` becomes the version that the program had read: the
// document is merged from there, and has what was saved as edits that are not.
Result<void> FileGate::keep_saved(LiveDocument& document, files::DiskState& before,
                                  files::DiskState& now, std::string& text) {
    const std::string& path = document.name();
    if (before.missing || before.has_conflict() || is_never_merged(path)) return {};
    std::optional<PastText> origin =
        TRY(recent_saves_.origin_of(document, before.version, text, now.stamp));
    recent_saves_.add_change(document.key(), before.version, now.stamp);
    if (!origin) return {};
    const std::string saved = TRY(text_at(document, before.version));
    text::Merged merged =
        text::merge3(origin->text, saved, without_shared_lines(text, saved, origin->text),
                     text::Side::theirs, text::Side::theirs);
    if (merged.ties.empty()) {
        if (merged.text == text) return {};
        const Result<std::string> bytes = files::encode(now.form, merged.text, path);
        const Result<fs::Saved> written =
            bytes ? files_.save(path, *bytes, now.hash) : Failure(bytes.error());
        if (written) {
            late_writes_.keep(path, written->displaced);
            recent_saves_.add_save(document.key(), before.version, written->stamp);
            now.hash = written->hash;
            now.stamp = written->stamp;
            text = std::move(merged.text);
            return {};
        }
    }
    before.version = std::move(origin->version);
    return {};
}

// A file that is gone from the disk while its document has edits is a conflict.
Result<DiskUpdate> FileGate::note_missing(LiveDocument& document, files::DiskState before) {
    DiskUpdate update;
    update.gone = !std::exchange(before.missing, true);
    if (update.gone) before.vanished = true;
    const bool asks = before.vanished && !before.has_deletion() && dirty(document);
    if (!asks) {
        if (update.gone) document.transaction().note_header(before.encode());
        return update;
    }
    const crdt::Handle content = document.whole().content;
    files::Conflict conflict;
    conflict.number = ++before.last_conflict;
    conflict.kind = files::ConflictKind::deletion;
    conflict.base = TRY(text_at(document, before.version));
    conflict.agent = document.doc().text(content).rope().str();
    conflict.actor = writer_of(document, {0, conflict.agent.size()}, before.version);
    conflict.since_ms = clock_.wall_ms();
    conflict.base_version = conflict.disk_version = before.version;
    conflict.agent_version = version_of(document);
    before.conflicts.push_back(std::move(conflict));
    document.transaction().set_header(before.encode());
    return update;
}

// The record of a conflict that an earlier program met. The text that both sides came from is not
// known any more, so the conflict is about the whole file.
Result<void> FileGate::list_old_conflict(LiveDocument& document, files::DiskState& before) {
    files::Conflict conflict;
    conflict.number = ++before.last_conflict;
    conflict.kind = files::ConflictKind::whole;
    conflict.disk = TRY(text_at(document, before.version));
    conflict.agent = document.doc().text(document.whole().content).rope().str();
    conflict.actor = writer_of(document, {0, conflict.agent.size()}, before.version);
    conflict.since_ms = clock_.wall_ms();
    conflict.disk_version = before.version;
    conflict.agent_version = version_of(document);
    before.unlisted_conflict = false;
    if (conflict.agent != conflict.disk) before.conflicts.push_back(std::move(conflict));
    document.transaction().set_header(before.encode());
    return {};
}

bool FileGate::is_never_merged(const std::string& path) const {
    return std::ranges::any_of(rules()->never_merge,
                               [&](const text::Glob& pattern) { return pattern.matches(path); });
}

files::Manner FileGate::manner_of(const LiveDocument& document,
                                  const std::optional<files::DiskState>& before) const {
    const policy::Permission permission =
        decide({document.name(), {}, fs::Kind::file}, Operation::append, reconciler()).permission;
    files::Manner manner;
    if (permission == policy::Permission::read_only) manner.keeps = files::Keeps::nothing;
    if (permission == policy::Permission::append) manner.keeps = files::Keeps::appended;
    manner.whole = is_never_merged(document.name());
    if (before) manner.open = before->conflicts;
    return manner;
}

FileGate::FileGate(fs::FileSystem& files, FileRules rules, Clock& clock, std::size_t file_bytes)
    : files_(files),
      clock_(clock),
      file_bytes_(file_bytes),
      authors_(std::make_unique<DiskAuthors>(clock)) {
    set_rules(std::move(rules));
}

FileGate::~FileGate() = default;

policy::Actor FileGate::author_of(const std::string& path, const std::string& hash) const {
    return authors_->author_of(path, hash).value_or(disk());
}

// Makes the document contain the disk's change. There are three cases: the texts are equal
// already; the document has no edits of its own, so the disk's edit is made directly; or both
// have changed, and the edit is made at the version that the disk had and merged. If both changed
// the same words, Manner says whose stand; where the document's do, there is a conflict record.
Result<DiskUpdate> FileGate::apply(LiveDocument& document,
                                   const std::optional<files::DiskState>& before,
                                   files::DiskState now, const std::string& text,
                                   const policy::Actor& author) {
    crdt::Doc& doc = document.doc();
    const BlockRef block = document.whole();
    const std::string ours = doc.text(block.content).rope().str();
    DiskUpdate taken;
    taken.first = !before;
    taken.changed = true;
    taken.back = before && before->missing;
    taken.agent_version = version_of(document);
    if (before) {
        taken.base_version = before->version;
        now.last_conflict = before->last_conflict;
    }

    taken.author = author.str();
    Unit unit;
    unit.actor = author.str();
    unit.description = "disk";
    // The first load of a file is no change that could be taken back.
    if (taken.first) unit.kind = UnitKind::take_back;
    if (ours == text) {
        now.version = version_of(document);
    } else if (!before || before->version == taken.agent_version) {
        document.begin(author);
        memory::apply(doc, block.content, text::minimal_splices(ours, text));
        unit.spans = {document.commit(author, "disk")};
        now.version = version_of(document);
        taken.resolution = Resolution::disk_wins;
    } else {
        // The disk's edit is made where the disk was, in a copy at that version, and the document
        // imports it as it would from another peer. The text that the CRDT makes of both is then
        // corrected to the plan's, as system:reconcile.
        document.begin_at(author, before->version);
        crdt::Doc copy = TRY(copy_at(doc, before->version));
        const crdt::Handle content = copy.open(doc.id_of(block.content));
        const std::string base = copy.text(content).rope().str();
        const files::Sides sides = {base, ours, text};
        files::Reconciled plan = files::reconcile(sides, manner_of(document, before));

        const crdt::VersionVector old_version = copy.version();
        memory::apply(copy, content, plan.disk_edit);
        unit.spans = {
            copy.commit({policy::message_of({author, "disk", ""}), "", clock_.wall_ms() / 1000})
                .span};
        now.version = copy.version().ends();
        TRY(document.import(reconciler(), copy.changes_since(old_version).changes()));

        const auto corrections = plan.corrections(sides, doc.text(block.content).rope().str());
        if (!corrections.empty()) {
            for (const auto& edit : corrections) memory::apply(doc, block.content, edit);
            const crdt::IdSpan span = document.commit(reconciler(), "reconcile");
            if (span.size() > 0) unit.spans.push_back(span);
        }
        if (!plan.ties.empty()) unit.description = cat("disk, ", plan.ties.size(), " overlapping");
        if (plan.is_edit_lost) unit.description = kDiskOverEdits;
        for (files::Tie& tie : plan.ties)
            keep(document, *before, now, std::move(tie), taken.agent_version);
        taken.resolution = plan.text == text   ? Resolution::disk_wins
                           : plan.text == ours ? Resolution::agent_wins
                                               : Resolution::merge;
    }
    if (!unit.spans.empty()) document.record(block, std::move(unit));
    document.transaction().set_header(now.encode());
    taken.disk_version = now.version;
    return taken;
}

// Makes the tie a conflict of the state `now`: the open one that it continues, or a new one. The
// document has its merged text already.
void FileGate::keep(LiveDocument& document, const files::DiskState& before, files::DiskState& now,
                    files::Tie tie, const files::Version& agent_version) const {
    const crdt::Handle content = document.whole().content;
    const TextPart part{tie.at, tie.at + tie.agent.size()};
    files::Conflict conflict;
    if (tie.open) {
        conflict = before.conflicts[*tie.open];
    } else {
        conflict.number = ++now.last_conflict;
        conflict.actor = writer_of(document, part, before.version);
        conflict.since_ms = clock_.wall_ms();
        conflict.base_version = before.version;
    }
    conflict.kind = tie.kind;
    conflict.region = tie.kind == files::ConflictKind::whole
                          ? files::Region{}
                          : region_of(document.doc(), content, part);
    conflict.base = std::move(tie.base);
    conflict.agent = std::move(tie.agent);
    conflict.disk = std::move(tie.disk);
    conflict.disk_at = tie.disk_at;
    conflict.agent_version = agent_version;
    conflict.disk_version = now.version;
    now.conflicts.push_back(std::move(conflict));
}

}  // namespace quire::kernel
