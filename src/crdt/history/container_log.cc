// Runs are appended, or the last one is lengthened where an op goes on in place and in history.
// A run is never changed otherwise, except by rewind() after a failed import, which
// restores the last run as it was, and by forget_starts(). Content lies in three arenas by kind:
// text in a tape, values and whole ops in vectors.
#include "crdt/history/container_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace quire::crdt {

void ContainerLog::begin_text(At at, std::string_view utf8) {
    runs_.push_back({at.lv, at.len, at.pos, text_.write(utf8),
                     static_cast<std::uint32_t>(utf8.size()), RunKind::insert, at.linear, true});
}

void ContainerLog::note_values(At at) {
    if (goes_on(at, RunKind::insert)) {
        runs_.back().len += at.len;
    } else {
        runs_.push_back({at.lv, at.len, at.pos, static_cast<std::uint32_t>(values_.size()), 0,
                         RunKind::insert, at.linear, true});
    }
}

void ContainerLog::insert_values(Lv lv, std::uint32_t pos, std::vector<Slot> values, bool linear,
                                 bool joins) {
    note_values({lv, pos, static_cast<std::uint32_t>(values.size()), linear, joins});
    std::move(values.begin(), values.end(), std::back_inserter(values_));
}

// Lengthens the last run if the delete continues it.
void ContainerLog::erase_forward(Lv lv, std::uint32_t pos, std::uint32_t len, bool joins) {
    if (joins && !runs_.empty()) {
        Run& last = runs_.back();
        if (last.end() == lv && last.is_erase() && last.linear && !last.resolved) {
            const bool forward = last.kind == RunKind::erase_forward;
            if ((forward || last.len == 1) && last.pos == pos) {
                last.kind = RunKind::erase_forward;
                last.len += len;
                return;
            }
            // A backspace follows another one, or a single delete that has no direction yet.
            if (len == 1 && (!forward || last.len == 1) && last.pos == pos + last.len) {
                last.kind = RunKind::erase_backward;
                last.len += 1;
                return;
            }
        }
    }
    // A local delete has no start ids yet: to find them would need the order of atoms.
    runs_.push_back({lv, len, pos, 0, 0, RunKind::erase_forward, true, false});
}

// A pending transaction may have been imported into another body (doc/opening.cc) and goes on
// there. Local deletes lengthen only runs that record no starts, so its runs are made such.
void ContainerLog::forget_starts(Lv from) {
    for (auto run = runs_.rbegin(); run != runs_.rend() && run->lv >= from; ++run) {
        if (!run->is_erase() || !run->linear) continue;
        run->payload = run->extra = 0;
        run->resolved = false;
    }
}

void ContainerLog::erase_recorded(At at, bool backward, PeerIndex start_peer, Counter start) {
    runs_.push_back({at.lv, at.len, at.pos, static_cast<std::uint32_t>(start), start_peer,
                     backward ? RunKind::erase_backward : RunKind::erase_forward, at.linear, true});
}

void ContainerLog::set(Lv lv, Lv made, Slot value, bool linear) {
    runs_.push_back({lv, 1, 0, static_cast<std::uint32_t>(values_.size()), made,
                     RunKind::element_set, linear, true});
    values_.push_back(std::move(value));
}

void ContainerLog::increment(Lv lv, Value delta) {
    runs_.push_back(
        {lv, 1, 0, static_cast<std::uint32_t>(values_.size()), 0, RunKind::increment, true, true});
    values_.emplace_back(std::move(delta));
}

void ContainerLog::keep(At at, RunKind kind, OpContent op) {
    runs_.push_back(
        {at.lv, at.len, at.pos, static_cast<std::uint32_t>(ops_.size()), 0, kind, at.linear, true});
    // An op is large and most logs have few: a small log grows by as little as it needs.
    if (ops_.size() == ops_.capacity() && ops_.size() < 16) ops_.reserve(ops_.size() + 2);
    ops_.push_back(std::move(op));
}

void ContainerLog::restore(Run run, std::string_view utf8) {
    if (run.kind == RunKind::insert) {
        run.payload = text_.write(utf8);
        run.extra = static_cast<std::uint32_t>(utf8.size());
    }
    runs_.push_back(run);
}

std::size_t ContainerLog::find(Lv lv) const {
    if (!runs_.empty() && runs_.back().lv <= lv)
        return lv < runs_.back().end() ? runs_.size() - 1 : runs_.size();
    // Runs of one atom without a gap, as a large map has them, need no search.
    if (!runs_.empty() && lv >= runs_.front().lv) {
        const std::size_t guess = lv - runs_.front().lv;
        if (guess < runs_.size() && runs_[guess].lv == lv) return guess;
    }
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), lv,
                                        [](Lv value, const Run& run) { return value < run.lv; });
    const auto index = static_cast<std::size_t>(after - runs_.begin());
    return index > 0 && lv < runs_[index - 1].end() ? index - 1 : index;
}

std::span<const Run> ContainerLog::runs_in(LvSpan span) const {
    const std::size_t begin = find(span.begin);
    // Usually the span covers one run, or all runs up to the end.
    if (!runs_.empty() && runs_.back().lv < span.end) return std::span(runs_).subspan(begin);
    const auto end =
        std::partition_point(runs_.begin() + static_cast<std::ptrdiff_t>(begin), runs_.end(),
                             [&](const Run& run) { return run.lv < span.end; });
    return std::span(runs_).subspan(begin, static_cast<std::size_t>(end - runs_.begin()) - begin);
}

std::string_view ContainerLog::text(const Run& run, Lv lv, std::uint32_t len) const {
    const std::string_view all = all_text(run);
    const std::size_t from = lv - run.lv;
    // The text is ASCII: it has as many bytes as code points.
    if (run.len == run.extra) return all.substr(from, len);
    const std::size_t begin = utf8::offset_of_code_point(all, from);
    return utf8::prefix(all.substr(begin), len);
}

ContainerLog::Mark ContainerLog::mark() const {
    return {runs_.size(), values_.size(), ops_.size(), text_.mark(),
            runs_.empty() ? Run{} : runs_.back()};
}

void ContainerLog::rewind(const Mark& mark) {
    runs_.resize(mark.runs);
    if (mark.runs > 0) runs_.back() = mark.last;
    text_.rewind(mark.text);
    values_.resize(mark.values);
    ops_.resize(mark.ops);
}

}  // namespace quire::crdt
