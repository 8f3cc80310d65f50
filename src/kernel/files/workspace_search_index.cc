// Reading and indexing files. Indexing runs on the strand of searches, in slices, so that searches get
// their turn between two of them.
#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "base/concat.h"
#include "base/process_memory.h"
#include "files/form.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/workspace_search_body.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kMostFiles = 1'000'000;

bool is_of_file(std::string_view name_in_index) {
    return name_in_index.starts_with(kFileName);
}

}  // namespace

Result<fs::Listing> WorkspaceSearch::Body::walk() const {
    return gate->files().list(kMostFiles, gate->ignore_files());
}

Result<WorkspaceSearch::Body::ReadFile> WorkspaceSearch::Body::read(const std::string& path) {
    fs::FileBytes file = TRY(gate->files().peek(path, gate->file_bytes()));
    const auto encoding = gate->rules()->paths.encoding(path);
    ReadFile out;
    if (auto decoded = files::decode(std::move(file.bytes), path, encoding)) {
        out.is_text = true;
        out.text = std::move(decoded->text);
        maker.add(out.text);
        out.signature = maker.finish();
    }
    const std::optional<TextProof> proof = proof_of(file.stamp);
    // A rule's encoding makes another text of the same bytes, and the rule may change while the
    // stamp does not.
    if (proof && !encoding) index.put(cat(kFileName, path), *proof, out.is_text, out.signature);
    return out;
}

bool WorkspaceSearch::Body::can_index(const fs::Entry& file) const {
    if (!file.stamp.settled) return false;
    const policy::PathRules& rules = gate->rules()->paths;
    const bool any = std::ranges::any_of(
        rules.rules(), [](const policy::PathRule& rule) { return rule.encoding.has_value(); });
    return !any || !rules.encoding(file.path);
}

std::optional<SearchIndex::Entry> WorkspaceSearch::Body::known(const fs::Entry& file) const {
    if (!can_index(file)) return std::nullopt;
    return index.find(cat(kFileName, file.path), *proof_of(file.stamp));
}

void WorkspaceSearch::Body::begin_indexing() {
    if (gate == nullptr || indexing || is_over()) return;
    Result<fs::Listing> all = walk();
    if (!all) return;
    indexed_ms = now_ms();
    indexing = Indexing{std::move(all->entries), 0, !all->truncated};
    index_some();
}

// Only what a person may read without being asked is indexed, and so nothing that is hidden.
bool WorkspaceSearch::Body::is_indexed(const fs::Entry& file) const {
    static const policy::Actor kReader{policy::ActorKind::human, "index"};
    if (file.is_link || file.size > gate->file_bytes()) return true;
    return !can_index(file) || known(file) || !gate->may_see(file.path, kReader);
}

void WorkspaceSearch::Body::index_some() {
    const std::int64_t until = now_ms() + kSliceMs;
    // A full index ends the round: what is left would be read for nothing.
    while (!is_over() && !index.is_full() && indexing->next < indexing->files.size()) {
        const fs::Entry& file = indexing->files[indexing->next++];
        if (!is_indexed(file)) static_cast<void>(read(file.path));
        if (now_ms() >= until)
            return strand.post([self = shared_from_this()] { self->index_some(); });
    }
    end_indexing();
}

void WorkspaceSearch::Body::end_indexing() {
    // Only a list that is complete tells that a file is gone.
    if (indexing->has_all && !is_over()) {
        std::unordered_set<std::string> there;
        for (const fs::Entry& file : indexing->files) there.insert(cat(kFileName, file.path));
        index.keep(
            [&](const std::string& name) { return !is_of_file(name) || there.contains(name); });
    }
    indexing.reset();
    // Saving costs as much as all entries, so a few changes wait for the end.
    if (index.changes() * 16 > index.size()) save();
    give_back_memory();
    finish_if_over();
}

// An index that cannot be kept is made anew by the next process.
void WorkspaceSearch::Body::save() {
    if (index_file.empty() || index.changes() == 0) return;
    index.keep([&](const std::string& name) {
        return is_of_file(name) || has_document(std::strtoll(name.c_str(), nullptr, 10));
    });
    static_cast<void>(index.save(index_file));
}

void WorkspaceSearch::Body::end_run() {
    --runs;
    finish_if_over();
}

void WorkspaceSearch::Body::finish_if_over() {
    if (!stopped || runs != 0 || indexing) return;
    save();
    (*std::exchange(stopped, std::nullopt))({});
}

}  // namespace quire::kernel
