// The gate of files: rules first, then the disk.
//
// A stamp that is unchanged costs one stat; a file whose bytes are those last seen, one read and one
// hash. Only other bytes are reconciled (files/reconcile.h): the disk's edit is made in a copy of
// the document at the version that the disk had, and merged. O(file) then.
#include "kernel/files/file_gate.h"

#include <utility>

#include "base/check.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "files/reconcile.h"
#include "kernel/core/core.h"
#include "memory/splices.h"
#include "policy/attribution.h"

namespace quire::kernel {
namespace {

using policy::Operation;
using policy::Verdict;

policy::Actor disk() {
    return {policy::ActorKind::source, "disk"};
}
policy::Actor reconciler() {
    return {policy::ActorKind::system, "reconcile"};
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

// All atoms of a version, as spans.
std::vector<crdt::IdSpan> spans_of(const std::map<std::uint64_t, std::int32_t>& version) {
    std::vector<crdt::IdSpan> spans;
    spans.reserve(version.size());
    for (const auto& [peer, end] : version) spans.push_back({peer, 0, end});
    return spans;
}

}  // namespace

std::map<std::uint64_t, std::int32_t> version_of(LiveDocument& document) {
    return document.doc().version().ends();
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
    fs::Place place{document.name(), {}, fs::Kind::file};
    if (access != Access::look) {
        // The other names of the file count too.
        auto found = files_.resolve(document.name());
        if (found && !found->linked()) place.hard_links = std::move(found->hard_links);
    }
    TRY(admit(place, operation_of(access), actor, approved));
    if (access == Access::look || document.record().deleted) return {};
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
    const auto bytes =
        files::encode(disk->form, document.doc().text(document.whole().content).rope().str(),
                      document.name());
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
    if (!file && file.error().reason() != "too_large" &&
        file.error().reason() != "busy")
        return Failure(file.error());
    return file && file->hash == disk->hash ? Disk::same : Disk::changed;
}

Result<DiskUpdate> FileGate::take_in(LiveDocument& document) {
    std::optional<files::DiskState> before = state(document);
    const std::string& path = document.name();
    const fs::Place place = TRY(files_.resolve(path));
    take_late_writes(path);
    if (place.linked()) {
        return fail(Errc::conflict, "path_changed",
                    cat(path, " was a file and is now reached by a link to ", place.path,
                        "; use that path"));
    }
    if (place.kind == fs::Kind::missing && before) {
        if (!std::exchange(before->missing, true)) {
            before->vanished = true;
            document.note_header(before->encode());
        }
        return DiskUpdate{};
    }
    const fs::Stamp stamp = TRY(files_.stamp(path));
    if (before && !before->missing && before->stamp.same_as(stamp)) return DiskUpdate{};
    fs::FileBytes file = TRY(files_.read(path, file_bytes_));
    if (before && before->hash == file.hash) {
        // Worth keeping only where it saves reading the file the next time.
        if (before->missing || file.stamp.settled) {
            before->missing = before->vanished = false;
            before->stamp = file.stamp;
            document.note_header(before->encode());
        }
        return DiskUpdate{};
    }
    files::Decoded decoded = TRY(files::decode(std::move(file.bytes), path, rules()->paths.encoding(path)));
    return apply(document, before, {file.hash, file.stamp, decoded.form, {}, false}, decoded.text);
}

// Makes the document contain the disk's change. There are three cases: the texts are equal
// already; the document has no edits of its own, so the disk's edit is made directly; or both
// have changed, and the edit is made at the version that the disk had and merged. If both changed
// the same words, the document's words stay if the rules let agents write the file, and the
// disk's otherwise.
Result<DiskUpdate> FileGate::apply(LiveDocument& document,
                                   const std::optional<files::DiskState>& before,
                                   files::DiskState now, const std::string& text) {
    crdt::Doc& doc = document.doc();
    const BlockRef block = document.whole();
    const std::string ours = doc.text(block.content).rope().str();
    DiskUpdate taken;
    taken.first = !before;
    taken.changed = true;
    now.conflict = before && before->conflict;

    Unit unit;
    unit.actor = disk().str();
    unit.description = "disk";
    // The first load of a file is no change that could be taken back.
    if (taken.first) unit.kind = UnitKind::take_back;
    if (ours == text) {
        now.version = version_of(document);
    } else if (!before || before->version == version_of(document)) {
        const files::Reconciled plan = files::reconcile({ours, ours, text}, text::Side::ours);
        document.begin(disk());
        memory::apply(doc, block.content, plan.disk_edit);
        unit.spans = {document.commit(disk(), "disk")};
        now.version = version_of(document);
    } else {
        document.begin(disk());
        // A copy at the version that the disk had, which knows no other.
        crdt::Doc copy(doc.peer());
        const std::vector<crdt::IdSpan> known = spans_of(before->version);
        TRY(copy.import(doc.changes_in(known)));
        const crdt::Handle content = copy.open(doc.id_of(block.content));
        const bool agents_write =
            decide({document.name(), {}, {}}, Operation::append, reconciler()).verdict !=
            Verdict::deny;
        const std::string base = copy.text(content).rope().str();
        const files::Sides sides = {base, ours, text};
        const files::Reconciled plan =
            files::reconcile(sides, agents_write ? text::Side::ours : text::Side::theirs);

        const crdt::VersionVector old_version = copy.version();
        memory::apply(copy, content, plan.disk_edit);
        unit.spans = {
            copy.commit({policy::message_of({disk(), "disk", ""}), "", clock_.wall_ms() / 1000})
                .span};
        now.version = copy.version().ends();
        TRY(document.import(reconciler(), copy.changes_since(old_version).changes()));

        const auto corrections = plan.corrections(sides, doc.text(block.content).rope().str());
        if (!corrections.empty()) {
            for (const auto& edit : corrections) memory::apply(doc, block.content, edit);
            const crdt::IdSpan span = document.commit(reconciler(), "reconcile");
            if (span.size() > 0) unit.spans.push_back(span);
        }
        taken.ties = plan.ties;
        if (taken.ties > 0) unit.description = cat("disk, ", taken.ties, " overlapping");
        now.conflict = now.conflict || taken.ties > 0;
    }
    if (!unit.spans.empty()) document.record(block, std::move(unit));
    document.set_header(now.encode());
    return taken;
}

}  // namespace quire::kernel
