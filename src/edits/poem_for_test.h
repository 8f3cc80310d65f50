// Test support: a text, a plan over it, and the result.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "edits/plan.h"
#include "seq/rope.h"

namespace quire::edits {

// Applies the plan's splices to `text`, after checking that they are ascending, apart and within
// it.
inline std::string applied(std::string_view text, const Planned& planned) {
    std::string out;
    std::size_t at = 0;
    for (const text::Splice& splice : planned.splices) {
        out.append(text.substr(at, splice.at.n - at));
        out.append(splice.insert);
        at = splice.at.n + splice.erase.n;
    }
    return out.append(text.substr(at));
}

// The text after the plan, or the reason for its failure.
inline std::string outcome(std::string_view text, Plan plan, std::uint64_t version = 7) {
    const Result<Planned> planned = plan(seq::Rope(text), version);
    return planned ? applied(text, *planned) : planned.error().reason();
}

inline Error refusal(std::string_view text, Plan plan, std::uint64_t version = 7) {
    Result<Planned> planned = plan(seq::Rope(text), version);
    return planned ? Error(Errc::unavailable, "was_not_refused", "") : std::move(planned).error();
}

}  // namespace quire::edits
