// A displaced file is merged by the first look at which nobody has it open for writing, and looked
// at again until its time is up: a program may write several times. Bytes that were merged become
// its known ones, so the next look merges only what came after.
#include "kernel/files/late_writes.h"

#include <utility>

#include "base/concat.h"
#include "files/form.h"
#include "text/merge3.h"

namespace quire::kernel {
namespace {

// How many displaced files of one path are kept, and how long one that is written to is kept beyond
// its time.
constexpr std::size_t kMostKept = 16;
constexpr std::int64_t kLongestWriteMs = 5000;
// How often a merge meets a file that changes between being read and being written.
constexpr int kSaveAttempts = 3;

}  // namespace

void LateWrites::keep(const std::string& path, std::shared_ptr<fs::Displaced> file) {
    if (file == nullptr) return;
    kept_.with([&](auto& kept) {
        std::vector<Late>& all = kept[path];
        // Each holds a descriptor.
        if (all.size() == kMostKept) all.erase(all.begin());
        all.push_back({std::move(file), clock_.steady_ms()});
    });
}

// The files are taken out while they are looked at, so that two calls never merge the same bytes.
bool LateWrites::take(const std::string& path, std::optional<text::Charset> declared) {
    std::vector<Late> all = kept_.with([&](auto& kept) {
        const auto at = kept.find(path);
        if (at == kept.end()) return std::vector<Late>();
        std::vector<Late> out = std::move(at->second);
        kept.erase(at);
        return out;
    });
    if (all.empty()) return false;
    const std::int64_t now = clock_.steady_ms();
    std::vector<Late> left;
    bool is_overdue = false;
    for (Late& late : all) {
        const std::int64_t age = now - late.since_ms;
        const bool is_due = age >= kKeptMs;
        const bool is_written = late.file->is_being_written() && age < kKeptMs + kLongestWriteMs;
        // A file in the middle of being written may be half a text, which would be merged as a
        // deletion of the rest.
        if (!is_written) bring_back(path, declared, late, is_due);
        if (is_due && !is_written) continue;
        is_overdue = is_overdue || is_due;
        left.push_back(std::move(late));
    }
    return kept_.with([&](auto& kept) {
        const auto added = kept.find(path);
        if (left.empty()) return added != kept.end();
        if (added == kept.end()) {
            kept[path] = std::move(left);
            return is_overdue;
        }
        left.insert(left.end(), added->second.begin(), added->second.end());
        added->second = std::move(left);
        return true;
    });
}

// Bytes that cannot be merged, since they are no text or the file is gone, are put where the pieces
// of interrupted saves are.
void LateWrites::bring_back(const std::string& path, std::optional<text::Charset> declared,
                            Late& late, bool thorough) {
    auto changed = late.file->changed(file_bytes_, thorough);
    if (!changed || !*changed) return;
    std::string bytes = std::move(**changed);
    if (!merge(path, declared, late.file->known(), bytes)) {
        static_cast<void>(
            files_.create(cat(".quire/recovered/", fs::Hash::of(bytes).hex(), ".late"), bytes));
    }
    late.file->accept(std::move(bytes));
}

Result<void> LateWrites::merge(const std::string& path, std::optional<text::Charset> declared,
                               const std::string& before, const std::string& after) {
    const files::Decoded base = TRY(files::decode(before, path, declared));
    const files::Decoded late = TRY(files::decode(after, path, declared));
    for (int attempt = 1;; ++attempt) {
        fs::FileBytes there = TRY(files_.read(path, file_bytes_));
        files::Decoded now = TRY(files::decode(std::move(there.bytes), path, declared));
        std::string merged = text::merge3(base.text, now.text, late.text, text::Side::theirs,
                                          text::Side::theirs)
                                 .text;
        const auto saved =
            files_.save(path, TRY(files::encode(now.form, std::move(merged), path)), there.hash);
        if (saved) {
            // The merge was a save itself, and displaced another file, to which a third program may
            // be writing.
            keep(path, saved->displaced);
            return {};
        }
        if (saved.error().reason() != "disk_changed" || attempt == kSaveAttempts)
            return Failure(saved.error());
    }
}

}  // namespace quire::kernel
