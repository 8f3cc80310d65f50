#include "files/reconcile.h"

#include <utility>

namespace quire::files {

std::vector<std::vector<text::Splice>> Reconciled::corrections(const Sides& sides,
                                                               std::string_view merged) const {
    if (merged == text) return {};
    // The base with the disk's deletions alone: merged with the document's edits, it is the text in
    // which nothing of the disk stands yet.
    std::string deleted;
    std::size_t done = 0;
    for (const text::Splice& splice : disk_edit) {
        deleted += sides.base.substr(done, splice.at.n - done);
        done = splice.at.n + splice.erase.n;
    }
    deleted += sides.base.substr(done);
    const std::string others =
        text::merge3(sides.base, sides.ours, deleted, text::Side::ours, text::Side::theirs).text;
    std::vector<std::vector<text::Splice>> out;
    for (auto& edit : {text::minimal_splices(merged, others), text::minimal_splices(others, text)})
        if (!edit.empty()) out.push_back(edit);
    return out;
}

Reconciled reconcile(const Sides& sides, text::Side tie) {
    const auto& [base, ours, theirs] = sides;
    Reconciled out;
    out.disk_edit = text::minimal_splices(base, theirs);
    if (base == ours) {
        out.text = theirs;
        return out;
    }
    text::Merged merged = text::merge3(base, ours, theirs, tie, text::Side::theirs);
    out.ties = merged.ties.size();
    out.text = std::move(merged.text);
    return out;
}

}  // namespace quire::files
