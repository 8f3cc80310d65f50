// Only containers that were written to in one version and not in the other can differ, so the graph
// tells which to look at, and each compares itself. A container that appears brings everything below
// it, which is walked with a stack: histories may nest deeply. O(ops between the versions), and
// O(history) of those containers that have to be ordered again.
#include "crdt/doc/comparison.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace quire::crdt {

namespace {

void sort_once(std::vector<ContainerIndex>& indexes) {
    std::sort(indexes.begin(), indexes.end());
    indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
}

}  // namespace

Comparison::Comparison(DocBody& body, const Past& a, const Past& b)
    : body_(body), a_(a), b_(b), in_a_{&a}, in_b_{&b} {
    Difference difference;
    body.oplog().graph().diff(a.heads(), b.heads(), difference);
    for (const auto* spans : {&difference.only_a, &difference.only_b}) {
        for (const LvSpan& span : *spans) {
            body.oplog().for_each_owner(
                span, [&](ContainerIndex index, LvSpan) { touched_.push_back(index); });
        }
    }
    sort_once(touched_);
}

Comparison::Comparison(DocBody& body, const Past& a, const Past& b, LvSpan span)
    : body_(body), a_(a), b_(b), in_a_{&a}, in_b_{nullptr}, span_(span) {
    body.oplog().for_each_owner(span,
                                [&](ContainerIndex index, LvSpan) { touched_.push_back(index); });
    sort_once(touched_);
}

Diff Comparison::diff() {
    std::vector<ContainerIndex> in_both;
    for (const ContainerIndex index : touched_) {
        Container& c = body_.container(index);
        // All are asked about the later version first and about the earlier one afterwards, so that
        // the order of a container's atoms moves between the two only once.
        if (body_.is_alive(c, in_b_) && depth(c) <= kMaxValueDepth) in_both.push_back(index);
    }
    // One that was not there before is found in what holds it.
    std::erase_if(in_both,
                  [&](ContainerIndex index) { return !was_alive(body_.container(index)); });
    for (const ContainerIndex index : in_both) {
        Container& c = body_.container(index);
        add(c, depth(c), delta_of(c));
    }
    const auto is_above = [](const Found& a, const Found& b) { return a.depth < b.depth; };
    // The sort takes memory whatever there is to do.
    if (!std::ranges::is_sorted(found_, is_above)) std::ranges::stable_sort(found_, is_above);
    Diff diff;
    diff.reserve(found_.size());
    for (Found& found : found_) diff.push_back(std::move(found.diff));
    return diff;
}

bool Comparison::is_touched(ContainerIndex index) const {
    return std::binary_search(touched_.begin(), touched_.end(), index);
}

// True if a container that is there now was there before. Its parent held it before too, unless the
// parent was written to.
bool Comparison::was_alive(Container& c) {
    const Container* at = &c;
    for (;;) {
        const std::optional<DocBody::Holder> holder = body_.holder_of(at->id);
        if (!holder) return true;
        if (holder->creator != kNoLv && !a_.contains(holder->creator)) return false;
        if (is_touched(holder->index)) return body_.is_alive(c, in_a_);
        at = &body_.container(holder->index);
    }
}

Delta Comparison::delta_of(Container& c) {
    const Site site{body_, c};
    return visit(c, [&](auto& body) -> Delta {
        if (span_) return body.delta_of(site, *span_, a_, b_);
        return body.delta_between(site, a_, b_);
    });
}

void Comparison::add(Container& c, std::size_t depth, Delta delta) {
    std::vector<Child> children;
    add_one(c, depth, std::move(delta), children);
    while (!children.empty()) {
        const Child child = std::move(children.back());
        children.pop_back();
        Container& made = body_.container(body_.open(child.id));
        // A child that was there before is compared by itself if it was written to.
        if (!child.is_new && (body_.is_alive(made, in_a_) || !body_.is_alive(made, in_b_)))
            continue;
        Delta all = visit(made, [&](auto& body) -> Delta {
            return body.delta_from_nothing({body_, made}, span_ ? nullptr : &b_);
        });
        add_one(made, child.depth, std::move(all), children);
    }
}

void Comparison::add_one(Container& c, std::size_t depth, Delta delta,
                         std::vector<Child>& children) {
    const std::size_t before = children.size();
    const auto push = [&](const ContainerId& child, bool is_new) {
        if (depth < kMaxValueDepth) children.push_back({child, is_new, depth + 1});
    };
    if (const auto* list = std::get_if<ListDelta>(&delta)) {
        // An element of a movable list that was moved comes again.
        const bool is_new = c.id.kind == ContainerKind::list;
        for (const ListStep& step : *list) {
            const auto* put = std::get_if<PutItems>(&step);
            if (put == nullptr) continue;
            for (const Item& item : put->items) {
                if (const auto* child = std::get_if<ContainerId>(&item)) push(*child, is_new);
            }
        }
    } else if (const auto* map = std::get_if<MapDelta>(&delta)) {
        for (const MapChange& change : *map) {
            const auto* child = change.item ? std::get_if<ContainerId>(&*change.item) : nullptr;
            // A mergeable child may have been there before.
            if (child != nullptr) push(*child, !child->is_root());
        }
    } else if (const auto* tree = std::get_if<TreeDelta>(&delta)) {
        for (const TreeAction& action : *tree) {
            // A node is made where it was not before, and so is what it holds, if anything.
            const ContainerId meta = ContainerId::normal(action.target, ContainerKind::map);
            if (action.kind == TreeAction::Kind::create && body_.knows(meta) &&
                TreeBody::has_meta(body_.oplog(), c, action.target)) {
                push(meta, true);
            }
        }
    }
    std::reverse(children.begin() + static_cast<std::ptrdiff_t>(before), children.end());
    if (!is_empty(delta)) found_.push_back({depth, {c.id, std::move(delta), {}}});
}

// Depths that were found on the way up are kept: siblings share their ancestors.
std::size_t Comparison::depth(const Container& c) {
    std::vector<ContainerIndex> way;
    std::size_t depth = 0;
    for (const Container* at = &c;;) {
        const auto known = depths_.find(at->index);
        if (known != depths_.end()) {
            depth = known->second;
            break;
        }
        const std::optional<DocBody::Holder> holder = body_.holder_of(at->id);
        if (!holder) break;
        way.push_back(at->index);
        at = &body_.container(holder->index);
    }
    for (; !way.empty(); way.pop_back()) depths_.emplace(way.back(), ++depth);
    return depth;
}

Diff diff_of(DocBody& body, LvSpan span, Heads before) {
    const Past a(span.begin, std::move(before));
    const Past b(span.end, body.oplog().heads());
    return Comparison(body, a, b, span).diff();
}

}  // namespace quire::crdt
