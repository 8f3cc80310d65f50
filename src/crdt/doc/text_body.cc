// How a text's state follows its log, and reading it: now, at a version, and by position.
//
// Linear ops are taken into the rope at their positions; those that came concurrently have left
// effects, which say what they did to the order. Where many ops are new and the order holds them,
// one walk over it reads the text off. An earlier version costs such a walk too, unless it holds
// just the first ops of the log: doing those again is much faster.
#include "crdt/doc/text_body.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/view.h"
#include "crdt/merge/sequence.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

TextBody::TextBody() : state(std::make_unique<TextState>()) {}
TextBody::~TextBody() = default;

void TextBody::copy_from(const TextBody& other) {
    SequenceBody::copy_from(other);
    has_anchors = other.has_anchors;
    followed = other.followed;
    state = std::make_unique<TextState>(*other.state);
}

namespace {

// The text is read off the order from this many new ops on, if the order has at most so many items
// and the document so many atoms for each of them.
#ifdef QUIRE_SMALL_NODES
constexpr std::size_t kManyOps = 4;
#else
constexpr std::size_t kManyOps = 256;
#endif
constexpr std::size_t kItemsAnOp = 2;
constexpr std::size_t kAtomsAnOp = 64;

// Calls take(run, lv, len) for the parts of a stretch of atoms that lie in one run each. run_of(lv)
// is the run of an atom.
template <class RunOf, class Take>
void for_each_part(Lv lv, std::uint32_t len, const RunOf& run_of, Take take) {
    while (len > 0) {
        const Run& run = run_of(lv);
        const std::uint32_t n = std::min(len, run.end() - lv);
        take(run, lv, n);
        lv += n;
        len -= n;
    }
}

// The run of an atom of the log, searched for.
auto searched_in(const ContainerLog& log) {
    return [&log](Lv lv) -> const Run& { return log.runs()[log.find(lv)]; };
}

// Finds the runs of a log's first atoms without a search: the atoms are cut into stretches of equal
// length, about as many as there are runs, and each stretch names its first run. O(1) on average,
// and 4 bytes for each run.
class RunTable {
public:
    RunTable(std::span<const Run> runs, Lv end) : runs_(runs) {
        while ((end >> (shift_ + 1)) > runs.size()) ++shift_;
        first_.resize((end >> shift_) + 1);
        Lv next = 0;  // The first stretch that no run has reached.
        for (const Run& run : runs) {
            const auto number = static_cast<std::uint32_t>(&run - runs.data());
            for (; next << shift_ < std::min(run.end(), end); ++next) first_[next] = number;
        }
    }
    // The run of an atom. Requires that one has it.
    const Run& operator()(Lv lv) const {
        const Run* run = &runs_[first_[lv >> shift_]];
        while (run->end() <= lv) ++run;
        return *run;
    }

private:
    std::span<const Run> runs_;
    std::vector<std::uint32_t> first_;
    unsigned shift_ = 0;
};

// The text after the log's ops below `end`, which the order holds. O(runs + items).
std::string text_of(const ContainerLog& log, const Sequence& order, Lv end) {
    const std::span<const Run> runs = log.runs_in({0, end});
    const RunTable run_of(runs, end);
    std::size_t bytes = 0;
    for (const Run& run : runs) {
        if (run.kind == RunKind::insert) bytes += run.extra;
    }
    std::string text;
    text.reserve(bytes);
    order.for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        if (!visible) return;
        for_each_part(lv, len, run_of, [&](const Run& run, Lv at, std::uint32_t n) {
            text += log.text(run, at, n);
        });
    });
    return text;
}

}  // namespace

// --- state ---

// Takes the state as far as the order has followed the log, if that costs less than to do the new
// ops one by one.
void TextBody::read_off_order(const ContainerLog& log) {
    if (has_anchors || kept == nullptr || kept->caught_up() <= followed.end) return;
    const Lv end = kept->caught_up();
    const std::size_t until = log.find(end);
    const std::size_t news = std::max(until - followed.run, effects.size() - followed.effect);
    if (news < kManyOps || kept->item_count() / kItemsAnOp > news || end / kAtomsAnOp > news)
        return;
    state = std::make_unique<TextState>(text_of(log, *kept, end));
    followed = {end, until, 0};
    effects.clear();
}

// Inserts the atoms of a linear run at which flush() stands, and those of the next ones as long as
// they and their text go on where it ends: a text that is opened has many short runs in a row.
void TextBody::flush_insert(const ContainerLog& log, LvSpan atoms, Lv until) {
    const Run& first = log.runs()[followed.run];
    const std::uint32_t pos = first.pos + (atoms.begin - first.lv);
    std::uint32_t len = atoms.size();
    std::string_view text = log.text(first, atoms.begin, len);
    followed.end = atoms.end;
    while (followed.end == log.runs()[followed.run].end() && followed.run + 1 < log.runs().size()) {
        const Run& next = log.runs()[followed.run + 1];
        if (next.kind != RunKind::insert || !next.linear || next.pos != pos + len ||
            next.end() > until || log.reel(next) != log.reel(first)) {
            break;
        }
        const std::string_view more = log.text(next, next.lv, next.len);
        if (more.data() != text.data() + text.size()) break;
        text = {text.data(), text.size() + more.size()};
        len += next.len;
        followed.end = next.end();
        ++followed.run;
    }
    state->insert(pos, text, len, log.reel(first));
}

// Takes the log's ops below `until` into the state, run by run. The position in the log
// (`followed`) is kept between calls, so that the cost is that of the new ops. A run is taken in
// parts where `until` cuts it, and the last run of the log may have grown since it was taken.
void TextBody::flush(Site site, Lv until) {
    const ContainerLog& log = *site.container.log;
    const auto put = [&](const Run& run, Lv lv, std::uint32_t len, std::uint32_t pos) {
        if (run.kind == RunKind::anchor) {
            apply_anchor(site, run, pos);
        } else {
            state->insert(pos, log.text(run, lv, len), len, log.reel(run));
        }
    };

    read_off_order(log);
    // The last run may have grown since.
    if (followed.run > 0 && log.runs()[followed.run - 1].end() > followed.end) --followed.run;
    state->begin_edits(
        std::max(log.runs().size() - followed.run, effects.size() - followed.effect));
    for (; followed.run < log.runs().size(); ++followed.run) {
        const Run& run = log.runs()[followed.run];
        const Lv from = std::max(run.lv, followed.end);
        const Lv to = std::min(run.end(), until);
        if (from >= to) {
            if (run.lv >= until) break;
            if (run.end() > until) break;
            continue;
        }
        const std::uint32_t done = from - run.lv;
        if (run.kind == RunKind::insert && run.linear) {
            flush_insert(log, {from, to}, until);
            if (followed.end < run.end()) break;
            continue;
        }
        if (!run.in_sequence()) {
            // An op that is only carried shows nothing.
        } else if (!run.linear) {
            // Erases that came concurrently may have hit characters that are gone already; effects
            // tell only what changed, at positions that hold when all effects before them are done.
            for (; followed.effect < effects.size() && effects[followed.effect].lv < to;
                 ++followed.effect) {
                const Effect& effect = effects[followed.effect];
                if (effect.erase) {
                    state->erase(effect.pos, effect.len);
                } else {
                    put(run, effect.lv, effect.len, effect.pos);
                }
            }
        } else if (run.is_insert()) {
            apply_anchor(site, run, run.pos + done);
        } else if (run.kind == RunKind::erase_forward) {
            state->erase(run.pos, to - from);
        } else {
            state->erase(run.pos - (to - 1 - run.lv), to - from);
        }
        followed.end = to;
        if (to < run.end()) break;
    }
    state->end_edits();
    if (followed.effect > 0 && followed.effect == effects.size()) {
        effects.clear();
        followed.effect = 0;
    }
}

TextState& TextBody::latest(Site site) {
    if (has_anchors) note_changes(site);
    flush(site, site.document.oplog().end());
    return *state;
}

const seq::Rope& TextBody::rope(Site site) {
    return latest(site).rope();
}

// A text is packed only if playing its log's runs in order gives the rope. Anchors and concurrent
// ops need the order of atoms, so they rule it out.
bool TextBody::is_derived(Site site) const {
    return !has_anchors && effects.empty() &&
           std::ranges::all_of(site.container.log->runs(),
                               [](const Run& run) { return run.linear || !run.in_sequence(); });
}

void TextBody::forget_state() {
    state = std::make_unique<TextState>();
    followed = {};
}

void TextBody::derive(Site site) {
    for (const Run& run : site.container.log->runs())
        size = run.is_erase() ? size - run.len : size + run.len;
}

// --- versions ---

const seq::Rope& TextBody::shown(Site site) {
    View* view = site.document.view();
    if (view == nullptr) return rope(site);
    const auto known = view->texts.find(site.container.index);
    if (known != view->texts.end()) return known->second;
    return view->texts.emplace(site.container.index, rope_at(site, view->past)).first->second;
}

seq::Rope TextBody::rope_at(Site site, const Past& at) {
    const ContainerLog& log = *site.container.log;
    if (holds_all_of(at, log)) return rope(site);
    if (std::optional<seq::Rope> early = rope_before(site, at)) return *std::move(early);
    std::string text;
    Sequence& sequence = order_at(site, at.heads());
    sequence.for_each_now([&](Lv lv, std::uint32_t len) {
        for_each_part(lv, len, searched_in(log), [&](const Run& run, Lv from, std::uint32_t n) {
            if (run.kind == RunKind::insert) text += log.text(run, from, n);
        });
    });
    return seq::Rope(text);
}

// None where the version does not hold just the first ops of the log, or those are not linear.
std::optional<seq::Rope> TextBody::rope_before(Site site, const Past& at) {
    const ContainerLog& log = *site.container.log;
    if (has_anchors || at.spans().size() > 1) return std::nullopt;
    if (!at.spans().empty() && at.spans()[0].begin > 0) return std::nullopt;
    const Lv until = at.spans().empty() ? 0 : at.spans()[0].end;
    TextState text;
    text.begin_edits(log.find(until));
    for (const Run& run : log.runs()) {
        if (run.lv >= until) break;
        const Lv len = std::min(run.end(), until) - run.lv;
        if (!run.in_sequence()) continue;
        if (!run.linear) return std::nullopt;
        if (run.is_insert()) {
            text.insert(run.pos, log.text(run, run.lv, len), len);
        } else if (run.kind == RunKind::erase_forward) {
            text.erase(run.pos, len);
        } else {
            text.erase(run.pos - (len - 1), len);
        }
    }
    text.end_edits();
    return text.rope();
}

Value TextBody::value(Site site, int, const Past* at) {
    if (at == site.document.at()) return shown(site).str();
    return at == nullptr ? rope(site).str() : rope_at(site, *at).str();
}

// --- positions ---

namespace {

// Calls take(lv, len, visible) for the stretches of characters at the version that readers see.
template <class Take>
void for_each_character(TextBody& text, Site site, Take take) {
    const ContainerLog& log = *site.container.log;
    Sequence& sequence = text.order_at(site, shown_heads(site.document));
    sequence.for_each([&](Lv lv, std::uint32_t len, bool visible) {
        for_each_part(lv, len, searched_in(log), [&](const Run& run, Lv at, std::uint32_t n) {
            if (run.kind == RunKind::insert) take(at, n, visible);
        });
    });
}

}  // namespace

std::size_t TextBody::shown_size(Site site) {
    return shown(site).code_points().n;
}

Lv TextBody::anchor_at(Site site, std::size_t pos) {
    if (site.document.at() == nullptr)
        return atom_at(site, latest(site).character(static_cast<std::uint32_t>(pos)));
    Lv found = kNoLv;
    std::size_t left = pos;
    // The rope of a version does not know which atom a character is, so the order is walked: O(n).
    for_each_character(*this, site, [&](Lv lv, std::uint32_t len, bool visible) {
        if (visible && found == kNoLv && left < len) found = lv + static_cast<Lv>(left);
        if (visible) left -= std::min<std::size_t>(left, len);
    });
    CHECK(found != kNoLv);
    return found;
}

std::vector<LvSpan> TextBody::shown_atoms(Site site) {
    std::vector<LvSpan> out;
    for_each_character(*this, site, [&](Lv at, std::uint32_t len, bool visible) {
        if (visible) out.push_back({at, at + len});
    });
    return out;
}

std::pair<std::size_t, bool> TextBody::place_of(Site site, Lv anchor) {
    if (site.document.at() == nullptr) {
        const Sequence::Place place = order(site).place_of(anchor);
        return {latest(site).code_point(place.pos), place.erased == 0};
    }
    std::size_t pos = 0;
    bool passed = false;
    bool is_there = false;
    for_each_character(*this, site, [&](Lv at, std::uint32_t len, bool visible) {
        if (passed) return;
        passed = anchor >= at && anchor < at + len;
        if (passed) is_there = visible;
        if (visible) pos += passed ? anchor - at : len;
    });
    return {pos, is_there};
}

// --- local ops ---

void TextBody::insert(Site site, std::uint32_t at, std::string_view utf8, std::uint32_t len) {
    OpLog& log = site.document.journal().begin();
    site.container.log->insert_text({log.end(), at, len, true, log.joins()}, utf8);
    log.append(site.container.index, len);
    size += len;
    if (!has_anchors)
        site.document.journal().note_typed(site.container, *this, std::size_t{at} + len, len);
}

void TextBody::erase(Site site, std::uint32_t at, std::uint32_t len) {
    write_erase(site, at, len);
    if (!has_anchors) site.document.journal().note_erased(site.container, *this, len);
}

// --- promises ---

void TextBody::check(Site site) {
    check_order(site);
    const ContainerLog& log = *site.container.log;
    const seq::Rope& rope = this->rope(site);
    rope.check_invariants();
    std::string text;
    order(site).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (Lv at = lv; visible && at < lv + len; ++at) {
            const Run& run = log.runs()[log.find(at)];
            if (run.kind == RunKind::insert) text += log.text(run, at, 1);
        }
    });
    CHECK(rope.str() == text);
    CHECK(rope.code_points().n + state->anchor_count() == size);
    // A walk past all anchors gives each character the styles that the state gives it.
    if (state->styles() == nullptr) return;
    state->styles()->check_invariants();
    CHECK(delta(site, nullptr) == delta_at(site, site.document.journal().latest_heads()));
}

}  // namespace quire::crdt
