// A flush compares each file with the tree of the ref's tip, by git's own hashes, and sends git one
// stream with the blobs and the commit. No index and no work tree is touched, and nothing is
// written if no file differs. The trailers of a message are read again by the next flush: they say
// which HEAD the tree includes, and when it was made.
#include "kernel/files/git_commit.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/concat.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kHeadTrailer = "Quire-Head: ";
constexpr std::string_view kTimeTrailer = "Quire-Time-Ms: ";
// A message lists so many operations at most; the history of the files has all of them.
constexpr std::size_t kMostOperations = 500;

// The value of the last trailer of this name, "" if there is none.
std::string trailer(std::string_view message, std::string_view name) {
    // The last one counts, for a file's name in the list above the trailers may look like one.
    const std::size_t at = message.rfind(cat("\n", name));
    if (at == std::string_view::npos) return {};
    const std::string_view value = message.substr(at + 1 + name.size());
    return std::string(value.substr(0, value.find('\n')));
}

std::int64_t number(std::string_view digits) {
    std::int64_t out = 0;
    // Somebody else may have written the message: anything but digits counts as 0.
    for (const char c : digits.substr(0, 15)) {
        if (c < '0' || c > '9') return 0;
        out = out * 10 + (c - '0');
    }
    return out;
}

// One line, whatever characters the words have.
std::string on_a_line(std::string_view words) {
    return text::escape_hidden(words);
}

// "Quire-Operation: agent:ada edit v7 src/main.cc".
std::string operation_trailer(const FlushedOperation& operation) {
    return cat("Quire-Operation: ", on_a_line(operation.actor), " ",
               on_a_line(operation.description), " v", operation.version, " ",
               on_a_line(operation.path), "\n");
}

// The actor with most operations is the author.
git::Person author_of(const std::map<std::string, std::size_t>& actors) {
    // The first by name wins between actors with equally many operations. Without operations the
    // text came from the disk.
    std::string name = "source:disk";
    std::size_t most = 0;
    for (const auto& [actor, count] : actors) {
        if (count > most) {
            name = actor;
            most = count;
        }
    }
    return flush_author(name);
}

struct Message {
    git::Person author;
    std::string text;
};

Message message_for(const std::vector<const FlushedFile*>& files, const FlushBase& base,
                    std::int64_t at_ms) {
    std::map<std::string, std::size_t> actors;
    std::vector<FlushedOperation> operations;
    for (const FlushedFile* const file : files) {
        for (const FlushedOperation& operation : file->operations) {
            ++actors[operation.actor];
            operations.push_back(operation);
            operations.back().path = file->path;
        }
    }
    Message out{author_of(actors), {}};
    out.text = files.size() == 1 ? on_a_line(files.front()->path)
                                 : cat(files.size(), " files");
    out.text += "\n\n";
    if (files.size() > 1) {
        for (const FlushedFile* const file : files) out.text += cat(on_a_line(file->path), "\n");
        out.text += "\n";
    }
    for (const auto& [actor, count] : actors) out.text += cat("Quire-Actor: ", on_a_line(actor), "\n");
    const std::size_t shown = std::min(operations.size(), kMostOperations);
    for (std::size_t i = 0; i < shown; ++i) out.text += operation_trailer(operations[i]);
    if (shown < operations.size())
        out.text += cat("Quire-Operations-Left-Out: ", operations.size() - shown, "\n");
    if (base.head) out.text += cat(kHeadTrailer, *base.head, "\n");
    out.text += cat(kTimeTrailer, at_ms, "\n");
    return out;
}

}  // namespace

git::Person flush_author(const std::string& actor) {
    const std::size_t colon = actor.find(':');
    return {actor, cat(actor.substr(colon + 1), "@", actor.substr(0, colon), ".quire.invalid")};
}

std::string export_message(const FlushedOperation& operation) {
    return cat(on_a_line(operation.path), ": ", on_a_line(operation.description),
               "\n\nQuire-Actor: ", on_a_line(operation.actor), "\n", operation_trailer(operation));
}

Result<FlushBase> flush_base(const git::Repository& repository, const std::string& ref) {
    FlushBase base;
    base.tip = TRY(repository.commit_of(ref));
    base.head = TRY(repository.commit_of("HEAD"));
    if (!base.tip) return base;
    const std::string message = TRY(repository.message_of(*base.tip));
    base.included = trailer(message, kHeadTrailer);
    base.tip_at_ms = number(trailer(message, kTimeTrailer));
    return base;
}

// The tree is the tip's, or HEAD's at the beginning. Changes that HEAD has got since the tip was made
// come first, so that a document's text stands where both changed a file.
Result<FlushCommit> commit_flush(const git::Repository& repository, const std::string& ref,
                                 const FlushBase& base, const std::vector<FlushedFile>& files,
                                 std::int64_t at_ms) {
    FlushCommit out;
    out.commit = base.tip.value_or("");
    std::vector<std::string> paths;
    for (const FlushedFile& file : files) paths.push_back(cat(repository.prefix(), file.path));
    const std::vector<std::string> left_out = TRY(repository.ignored(paths));
    const std::set<std::string> ignored(left_out.begin(), left_out.end());

    const std::string parent = base.tip ? *base.tip : base.head.value_or("");
    std::map<std::string, git::TreeEntry> there;
    if (!parent.empty()) there = TRY(repository.files(parent));
    std::vector<git::TreeChange> of_head;
    // A HEAD that the last flush included may be gone since, after a rebase and a collection. There
    // is no difference to it then, and HEAD is left out.
    const bool moved = base.tip && base.head && !base.included.empty() &&
                       base.included != *base.head &&
                       TRY(repository.commit_of(base.included)).has_value();
    if (moved) of_head = TRY(repository.changes(base.included, *base.head));
    for (const git::TreeChange& change : of_head) {
        if (change.entry) {
            there[change.path] = *change.entry;
        } else {
            there.erase(change.path);
        }
    }

    std::vector<const FlushedFile*> changed;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto entry = there.find(paths[i]);
        if (ignored.contains(paths[i])) {
            out.ignored.push_back(files[i].path);
        } else if (files[i].bytes ? entry == there.end() ||
                                        entry->second.id != repository.id_of(*files[i].bytes)
                                  : entry != there.end()) {
            changed.push_back(&files[i]);
            out.files.push_back(files[i].path);
        }
    }
    if (changed.empty()) return out;

    Message message = message_for(changed, base, at_ms);
    git::CommitStream stream(ref);
    stream.begin({std::move(message.author), at_ms / 1000, std::move(message.text), parent,
                  moved ? *base.head : ""});
    for (const git::TreeChange& change : of_head) {
        if (change.entry) {
            stream.link(change.path, change.entry->mode, change.entry->id);
        } else {
            stream.remove(change.path);
        }
    }
    for (const FlushedFile* const file : changed) {
        const std::string path = cat(repository.prefix(), file->path);
        const auto entry = there.find(path);
        // A file keeps the mode that the tree has for it. One that is new, or was a link there,
        // gets the mode on the disk.
        const bool is_file = entry != there.end() && entry->second.mode.starts_with("100");
        if (file->bytes) {
            stream.write(path, is_file ? entry->second.mode : repository.mode_on_disk(file->path),
                         *file->bytes);
        } else {
            stream.remove(path);
        }
    }
    out.commit = TRY(repository.import(std::move(stream))).back();
    return out;
}

}  // namespace quire::kernel
