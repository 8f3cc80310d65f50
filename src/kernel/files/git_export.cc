// The documents are read first, one after another, each on its strand; then one stream of commits is
// made of all their versions, by time, on a thread that may wait for git. Texts are kept in memory
// until git has them, which is why their bytes are bounded.
#include "kernel/files/git_export.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/concat.h"
#include "crdt/doc/text.h"
#include "files/form.h"
#include "git/repository.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/git_commit.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kMostExported = std::size_t{512} << 20;

// A file after one entry of its history.
struct FileVersionBytes {
    std::int64_t at_ms = 0;
    FlushedFile file;  // With the one operation.
};

struct Export {
    std::string ref;
    std::vector<FileVersionBytes> versions;
    std::size_t bytes = 0;
    bool is_too_large = false;
};

// Appends the versions of one file, and its deletions. Runs on its strand; false once there is too
// much.
bool take_history(LiveDocument& document, const FileGate& gate, Core& core, Export& out) {
    const BlockRef block = document.whole();
    core.flush(document, block);
    const std::optional<files::DiskState> disk = gate.state(document);
    // A file that was never read has no encoding, and no text of its own.
    if (!disk) return true;
    std::optional<std::string> last;
    const auto add = [&](const Unit& unit, std::optional<std::string> bytes) {
        out.versions.push_back({unit.at_ms,
                                {document.name(),
                                 std::move(bytes),
                                 {{unit.actor, unit.description, unit.version, document.name()}}}});
    };
    for (const Unit& unit : block.state->history.units()) {
        if (unit.deletes_file()) {
            if (std::exchange(last, std::nullopt)) add(unit, std::nullopt);
            continue;
        }
        if (!unit.heads) continue;
        // A version that the document's text cannot go back to has no bytes.
        Result<std::string> text = document.doc().text(block.content).at(*unit.heads);
        if (!text || (last && *last == *text)) continue;
        Result<std::string> bytes = files::encode(disk->form, *text, document.name());
        if (!bytes) continue;
        last = std::move(*text);
        out.bytes += bytes->size();
        if (out.bytes > kMostExported) {
            out.is_too_large = true;
            return false;
        }
        add(unit, std::move(*bytes));
    }
    return true;
}

Result<GitExported> commit_history(const git::Repository& repository, Export& what) {
    if (TRY(repository.commit_of(what.ref)).has_value()) {
        return fail(Errc::conflict, "ref_exists",
                    cat("nothing was exported: ", what.ref, " is there already. Name another ref, or "
                        "delete it (git update-ref -d ", what.ref, ")"),
                    {{"ref", what.ref}});
    }
    std::set<std::string> named;
    for (const FileVersionBytes& version : what.versions)
        named.insert(cat(repository.prefix(), version.file.path));
    const std::vector<std::string> paths(named.begin(), named.end());
    const std::vector<std::string> left_out = TRY(repository.ignored(paths));
    const std::set<std::string> ignored(left_out.begin(), left_out.end());
    // Versions of one file stand in their order already, and stay so where the clock gave two of
    // them the same time.
    std::stable_sort(what.versions.begin(), what.versions.end(),
                     [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; });

    GitExported out;
    out.ref = what.ref;
    git::CommitStream stream(what.ref);
    for (const FileVersionBytes& version : what.versions) {
        const std::string path = cat(repository.prefix(), version.file.path);
        if (ignored.contains(path)) continue;
        const FlushedOperation& operation = version.file.operations.front();
        stream.begin({flush_author(operation.actor), version.at_ms / 1000,
                      export_message(operation)});
        if (version.file.bytes) {
            stream.write(path, repository.mode_on_disk(version.file.path), *version.file.bytes);
        } else {
            stream.remove(path);
        }
    }
    for (const std::string& path : paths) {
        (ignored.contains(path) ? out.ignored : out.files)
            .push_back(path.substr(repository.prefix().size()));
    }
    out.commits = stream.commits();
    if (out.commits == 0) {
        return fail(Errc::not_found, "no_history",
                    "nothing was exported: no file that git tracks has been changed through Quire");
    }
    out.commit = TRY(repository.import(std::move(stream))).back();
    return out;
}

}  // namespace

void export_to_git(const GitExportParts& parts, const Caller& by, std::string ref,
                   Reply<GitExported> reply) {
    // The export has every file, also those that the rules hide from an agent.
    if (by.actor.kind == policy::ActorKind::agent) {
        return reply(fail(Errc::denied, "permission_denied",
                          "only people export the history of all files"));
    }
    if (!git::is_own_ref(ref)) {
        return reply(invalid("invalid_argument",
                             cat("'", ref, "' is not a ref that Quire may write: name one below "
                                 "refs/ that is no branch and no tag, such as refs/quire/history")));
    }
    const std::shared_ptr<Core>& core = parts.kernel.core();
    auto gathered = std::make_shared<Export>();
    gathered->ref = std::move(ref);
    std::vector<store::DocumentKey> files;
    for (const Catalog::Known& known : core->catalog().known(kFileKind, ""))
        files.push_back(known.record.key);
    for (const store::DocumentRecord& record : core->catalog().deleted(kFileKind))
        files.push_back(record.key);
    // A file that took the name of a deleted one has the greater key.
    std::ranges::sort(files);
    std::make_shared<Walk>(
        core, by, std::move(files),
        Walk::Round{
            [core, &gate = parts.gate, gathered](LiveDocument& live) {
                return take_history(live, gate, *core, *gathered);
            },
            [parts, core, gathered, reply = std::move(reply)](Result<void> done) mutable {
                if (!done) return reply(Failure(std::move(done).error()));
                if (gathered->is_too_large) {
                    return reply(fail(Errc::out_of_range, "too_large",
                                      cat("nothing was exported: all versions together have more "
                                          "than ", kMostExported, " bytes"),
                                      {{"limit", kMostExported}}));
                }
                parts.workers.post([directory = parts.directory, core, gathered,
                                    reply = std::move(reply)]() mutable {
                    reply([&]() -> Result<GitExported> {
                        const git::Repository repository =
                            TRY(git::Repository::find(directory, core->parts().clock));
                        return commit_history(repository, *gathered);
                    }());
                });
            },
            Access::look, Walk::passing_over})
        ->next();
}

}  // namespace quire::kernel
