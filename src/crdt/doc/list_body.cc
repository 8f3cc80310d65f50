// A list keeps no state of its own. At the latest version an index is found in the order of atoms,
// O(log n), and the element's value in the log. A detached document lists the visible atoms of its
// version once, O(history of the container), and answers from that list (View::lists).
#include "crdt/doc/list_body.h"

#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/values.h"
#include "crdt/doc/view.h"
#include "crdt/merge/sequence.h"
#include "crdt/merge/splices.h"

namespace quire::crdt {

namespace {

// Puts the elements that the atoms [lv, lv + len) made.
void put_elements(const DocBody& document, ListDelta& delta, Lv lv, std::uint32_t len) {
    for (Lv at = lv; at < lv + len; ++at)
        put(delta, slot_item(document, *document.slot_of(at), at));
}

}  // namespace

// --- reading ---

// A version that holds every op of the container needs no move of the order.
std::vector<Lv> ListBody::atoms(Site site, const Past* at) {
    std::vector<Lv> atoms;
    const auto take = [&](Lv lv, std::uint32_t len, bool visible) {
        for (std::uint32_t i = 0; visible && i < len; ++i) atoms.push_back(lv + i);
    };
    if (at == nullptr || holds_all_of(*at, *site.container.log)) {
        order(site).for_each_last(take);
    } else {
        order_at(site, at->heads()).for_each(take);
    }
    return atoms;
}

const std::vector<Lv>& ListBody::shown(Site site) {
    View* view = site.document.view();
    CHECK(view != nullptr);
    const auto known = view->lists.find(site.container.index);
    if (known != view->lists.end()) return known->second;
    return view->lists.emplace(site.container.index, atoms(site, &view->past)).first->second;
}

Value ListBody::value(Site site, int depth, const Past* at) {
    const ContainerLog& log = *site.container.log;
    List list;
    const Run* run = nullptr;
    for (const Lv lv : atoms(site, at)) {
        // Neighbours mostly lie in one run, so the search is made once a run.
        if (run == nullptr || lv < run->lv || lv >= run->end()) run = &log.runs()[log.find(lv)];
        list.push_back(slot_value(site.document, log.value(*run, lv), lv, depth, at));
    }
    return list;
}

// --- positions ---

std::size_t ListBody::shown_size(Site site) {
    return site.document.at() == nullptr ? size : shown(site).size();
}

Lv ListBody::anchor_at(Site site, std::size_t pos) {
    return site.document.at() == nullptr ? atom_at(site, pos) : shown(site)[pos];
}

std::pair<std::size_t, bool> ListBody::place_of(Site site, Lv anchor) {
    if (site.document.at() == nullptr) {
        const Sequence::Place place = order(site).place_of(anchor);
        return {place.pos, place.erased == 0};
    }
    std::size_t pos = 0;
    bool passed = false;
    bool is_there = false;
    // The list of visible atoms cannot tell where a deleted one stood, so the order is walked.
    Sequence& sequence = order_at(site, shown_heads(site.document));
    sequence.for_each([&](Lv at, std::uint32_t len, bool visible) {
        if (passed) return;
        passed = anchor >= at && anchor < at + len;
        if (passed) is_there = visible;
        if (visible) pos += passed ? anchor - at : len;
    });
    return {pos, is_there};
}

// --- differences ---

ListDelta ListBody::delta_of(Site site, LvSpan span, const Past&, const Past&) {
    ListDelta delta;
    for (const Splices::Piece& piece : splices_in(site, span).take()) {
        switch (piece.kind) {
            case Splices::Kind::keep:
                crdt::retain(delta, piece.len);
                break;
            case Splices::Kind::erase:
                crdt::erase(delta, piece.len);
                break;
            case Splices::Kind::insert:
                put_elements(site.document, delta, piece.lv, piece.len);
                break;
        }
    }
    finish(delta);
    return delta;
}

ListDelta ListBody::delta_between(Site site, const Past& a, const Past& b) {
    ListDelta delta;
    for (const Compared& part : compare(site, a, b)) {
        if (part.in_a && part.in_b) {
            crdt::retain(delta, part.len);
        } else if (part.in_a) {
            crdt::erase(delta, part.len);
        } else {
            put_elements(site.document, delta, part.lv, part.len);
        }
    }
    finish(delta);
    return delta;
}

ListDelta ListBody::delta_from_nothing(Site site, const Past* at) {
    ListDelta delta;
    for (const Lv lv : atoms(site, at)) put_elements(site.document, delta, lv, 1);
    return delta;
}

// --- children ---

bool ListBody::holds_child(Site site, Lv creator) {
    return order(site).place_of(creator).erased == 0;
}

// Moves the order to the version. The order stays at it, so that asking for many children of one
// version moves it once.
bool ListBody::holds_child(Site site, Lv creator, Reach& reach) {
    Sequence& sequence = order_at(site, reach.at->heads());
    return sequence.is_visible(creator);
}

PathStep ListBody::step_to(Site site, Lv creator) {
    if (site.document.at() == nullptr) return std::size_t{order(site).place_of(creator).pos};
    const std::vector<Lv>& atoms = shown(site);
    const auto at = std::find(atoms.begin(), atoms.end(), creator);
    return static_cast<std::size_t>(at - atoms.begin());
}

}  // namespace quire::crdt
