#include "kernel/file_gate.h"

#include <utility>

#include "base/check.h"
#include "codec/updates.h"
#include "kernel/body.h"
#include "memory/splices.h"
#include "policy/attribution.h"
#include "text/diff.h"
#include "text/merge3.h"

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

policy::Decision FileGate::decide(const fs::Place& place, Operation operation,
                                  const policy::Actor& actor) const {
    policy::Decision decision = rules_.decide(place.path, operation, actor);
    for (const std::string& alias : place.aliases) {
        decision = policy::stricter(std::move(decision), rules_.decide(alias, operation, actor));
    }
    return decision;
}

Result<void> FileGate::admit(const fs::Place& place, Operation operation,
                             const policy::Actor& actor, policy::Operations approved) const {
    const policy::Decision decision = decide(place, operation, actor);
    if (decision.verdict == Verdict::allow) return {};
    if (decision.verdict == Verdict::escalate && approved.has(operation)) return {};
    const std::string what = cat(actor.str(), " may not ", name_of(operation), " ", place.path);
    if (decision.verdict == Verdict::deny) {
        const bool by_rule = decision.because.kind != policy::Because::Kind::built_in;
        return fail(Errc::denied, "permission_denied",
                    cat(what, ": ", decision.why,
                        by_rule ? ". A person can change the rules in quire.toml" : ""),
                    {{"path", place.path}, {"permission", name_of(decision.permission)}});
    }
    return fail(Errc::escalation_required, "escalation_required",
                cat(what, " without a person's approval: ", decision.why),
                {{"path", place.path},
                 {"operation", name_of(operation)},
                 {"permission", name_of(decision.permission)}});
}

Result<void> FileGate::admit_save(const fs::Place& place, const policy::Actor& actor,
                                  policy::Operations approved) const {
    const auto escalates = [&](Operation operation) {
        return decide(place, operation, actor).verdict == Verdict::escalate;
    };
    const bool asks = escalates(Operation::append) && escalates(Operation::overwrite);
    return admit(place, asks ? Operation::overwrite : Operation::append, actor, approved);
}

Result<void> FileGate::enter(LiveDocument& document, const policy::Actor& actor, Access access,
                             policy::Operations approved) {
    TRY(admit({document.name(), {}, fs::Kind::file}, operation_of(access), actor, approved));
    if (access == Access::look || document.record().deleted) return {};
    const Result<TakenIn> taken = take_in(document);
    // What was read before can still be read while the disk cannot.
    if (!taken && (access != Access::read || !state(document))) return Failure(taken.error());
    return {};
}

std::optional<files::DiskState> FileGate::state(const LiveDocument& document) const {
    if (document.record().header.empty()) return std::nullopt;
    Result<files::DiskState> state = files::DiskState::decode(document.record().header);
    // Without it the disk's text is taken in anew, as the smallest edit of all that is there.
    if (!state) return std::nullopt;
    return std::move(*state);
}

bool FileGate::dirty(LiveDocument& document) {
    const std::optional<files::DiskState> disk = state(document);
    if (!disk) return document.doc().history().op_count() > 0;
    if (disk->version == version_of(document)) return false;
    return fs::Hash::of(files::encode(
               disk->form, document.doc().text(document.whole().content).rope().str())) !=
           disk->hash;
}

Result<Disk> FileGate::look(LiveDocument& document) {
    const fs::Place place = TRY(files_.resolve(document.name()));
    if (place.kind == fs::Kind::missing) return Disk::missing;
    const std::optional<files::DiskState> disk = state(document);
    if (!disk || disk->missing || place.linked() || place.kind != fs::Kind::file)
        return Disk::changed;
    if (disk->stamp.same_as(TRY(files_.stamp(place.path)))) return Disk::same;
    const Result<fs::FileBytes> file = files_.read(place.path, file_bytes_);
    if (!file && file.error().reason() != "too_large") return Failure(file.error());
    return file && file->hash == disk->hash ? Disk::same : Disk::changed;
}

Result<FileGate::TakenIn> FileGate::take_in(LiveDocument& document) {
    std::optional<files::DiskState> before = state(document);
    const std::string& path = document.name();
    const fs::Place place = TRY(files_.resolve(path));
    if (place.linked()) {
        return fail(Errc::conflict, "path_changed",
                    cat(path, " was a file and is now reached by a link to ", place.path,
                        "; use that path"));
    }
    if (place.kind == fs::Kind::missing && before) {
        if (!std::exchange(before->missing, true)) {
            before->vanished = true;
            document.set_header(before->encode());
        }
        return TakenIn{};
    }
    const fs::Stamp stamp = TRY(files_.stamp(path));
    if (before && !before->missing && before->stamp.same_as(stamp)) return TakenIn{};
    fs::FileBytes file = TRY(files_.read(path, file_bytes_));
    if (before && before->hash == file.hash) {
        // Worth keeping only where it saves reading the file the next time.
        if (before->missing || file.stamp.settled) {
            before->missing = before->vanished = false;
            before->stamp = file.stamp;
            document.set_header(before->encode());
        }
        return TakenIn{};
    }
    files::Decoded decoded = TRY(files::decode(std::move(file.bytes), path));
    return merge(document, before, {file.hash, file.stamp, decoded.form, {}, false}, decoded.text);
}

Result<FileGate::TakenIn> FileGate::merge(LiveDocument& document,
                                          const std::optional<files::DiskState>& before,
                                          files::DiskState now, const std::string& text) {
    crdt::Doc& doc = document.doc();
    const BlockRef block = document.whole();
    const std::string ours = doc.text(block.content).rope().str();
    TakenIn taken;
    taken.first = !before;
    taken.changed = true;
    now.conflict = before && before->conflict;

    Unit unit;
    unit.actor = disk().str();
    unit.description = "disk";
    // What a file held when it was first loaded is no change that could be taken back.
    if (taken.first) unit.kind = UnitKind::take_back;
    if (ours == text) {
        now.version = version_of(document);
    } else if (!before || before->version == version_of(document)) {
        document.begin(disk());
        memory::apply(doc, block.content, text::minimal_splices(ours, text));
        unit.spans = {document.commit(disk(), "disk")};
        now.version = version_of(document);
    } else {
        // An edit of the version that the disk had, made in a copy that knows no other.
        document.begin(disk());
        crdt::Doc fork(doc.peer());
        const std::vector<crdt::IdSpan> known = spans_of(before->version);
        TRY(fork.import(doc.changes_in(known)));
        const crdt::Handle content = fork.open(doc.id_of(block.content));
        const std::string base = fork.text(content).rope().str();
        const crdt::VersionVector old_version = fork.version();
        memory::apply(fork, content, text::minimal_splices(base, text));
        unit.spans = {
            fork.commit({policy::message_of({disk(), "disk", ""}), "", clock_.wall_ms() / 1000})
                .span};
        now.version = fork.version().ends();

        std::vector<crdt::Change> changes = fork.changes_since(old_version).changes();
        Bytes update = codec::encode_updates(changes);
        document.begin(reconciler());
        TRY(doc.import(changes));
        document.batch().updates.push_back({document.key(), std::move(update)});

        // The document decides the order of what went to one spot; only where both changed the same
        // words, or made the same change twice, is its text not yet the one that three-way merging
        // gives.
        const bool agents_write =
            decide({document.name(), {}, {}}, Operation::append, reconciler()).verdict !=
            Verdict::deny;
        const text::Side tie = agents_write ? text::Side::ours : text::Side::theirs;
        const text::Merged merged = text::merge3(base, ours, text, tie, text::Side::theirs);
        taken.ties = merged.ties.size();
        const std::string here = doc.text(block.content).rope().str();
        const bool right = here == merged.text ||
                           (merged.ordered_freely &&
                            here == text::merge3(base, ours, text, tie, text::Side::ours).text);
        if (!right) {
            memory::apply(doc, block.content, text::minimal_splices(here, merged.text));
            const crdt::IdSpan span = document.commit(reconciler(), "reconcile");
            if (span.size() > 0) unit.spans.push_back(span);
        }
        if (taken.ties > 0) unit.description = cat("disk, ", taken.ties, " overlapping");
        now.conflict = now.conflict || taken.ties > 0;
    }
    if (!unit.spans.empty()) document.record(block, std::move(unit));
    document.set_header(now.encode());
    document.submit([](Result<void>) {
    });  // A failure fails the calls that come after, and the document is read anew.
    return taken;
}

}  // namespace quire::kernel
