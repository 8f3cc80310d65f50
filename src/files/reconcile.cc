#include "files/reconcile.h"

#include <utility>

namespace quire::files {

std::vector<text::Splice> Reconciled::correction(std::string_view merged) const {
    if (merged == text) return {};
    return text::minimal_splices(merged, text);
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
