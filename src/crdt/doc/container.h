// Container: one container of a document, with a body of its kind.
//
// A body holds what the container amounts to beside its log, and the functions that differ by kind.
// They share their names, so that visit() reaches them:
//
//     value(site, depth, at)            the value at a version, or after every op
//     delta_of(site, span, a, b)        the effect of the log's last ops, which lead from a to b
//     delta_between(site, a, b)         the difference of any two versions
//     delta_from_nothing(site, at)      everything that the container holds
//     holds_child(site, creator)        true if the child that an atom made is in it now
//     holds_child(site, creator, reach) true if it is in it at a version
//     step_to(site, creator)            the step of a path that leads to the child
//     is_derived(site)                  true if the log gives the whole body again
//     derive(site)                      sets a new body by the log. Requires is_derived()
//     check(site)                       CHECKs the promises of the body
//
// A text, a list and a movable list share a SequenceBody, and have positions for cursors:
// shown_size(site), anchor_at(site, pos), place_of(site, anchor).
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/check.h"
#include "crdt/doc/counter_body.h"
#include "crdt/doc/list_body.h"
#include "crdt/doc/map_body.h"
#include "crdt/doc/movable_body.h"
#include "crdt/doc/sequence_body.h"
#include "crdt/doc/text_body.h"
#include "crdt/doc/tree_body.h"
#include "crdt/history/oplog.h"
#include "crdt/ids/ids.h"

namespace quire::crdt {

// The body of a kind that newer peers have. Its ops are kept in the log and show nothing.
struct UnknownBody : Childless, Underived {
    static Value value(Site, int, const Past*) { return nullptr; }
    static Delta delta_of(Site, LvSpan, const Past&, const Past&) { return MapDelta{}; }
    static Delta delta_between(Site, const Past&, const Past&) { return MapDelta{}; }
    static Delta delta_from_nothing(Site, const Past*) { return MapDelta{}; }
    static void check(Site) {}
};

struct Container {
    // The document keeps the name.
    Container(const ContainerId& name, ContainerIndex number, ContainerLog& ops);
    Container(const Container&) = delete;
    Container& operator=(const Container&) = delete;
    ~Container() = default;
    // Makes a new container a copy of the same one in another document, whose log was copied. Maps are
    // derived from it, and trees are built when somebody asks.
    void copy_from(const Container& other);

    const ContainerId& id;
    const ContainerIndex index;
    ContainerLog* const log;
    std::variant<UnknownBody, TextBody, ListBody, MovableBody, MapBody, TreeBody, CounterBody> body;

    // The heads among this container's ops. They are kept only while its last run is not linear;
    // otherwise the head is the last op.
    Heads heads;
    std::size_t touched = 0;  // The place of its entry in the notes of the import that is going on.
    // The answer to "do an import's ops in the graph's run from `run` on hold all of this
    // container?", which is the same for all atoms of a run.
    Lv run = kNoLv;
    bool run_linear = false;

    // True if the container was alive when DocBody's epoch was `alive_at`.
    mutable bool alive = false;
    mutable std::uint64_t alive_at = 0;

    // The body, which CHECKs the kind.
    template <class Body>
    Body& as() {
        auto* found = std::get_if<Body>(&body);
        CHECK(found != nullptr);
        return *found;
    }
    template <class Body>
    const Body& as() const {
        const auto* found = std::get_if<Body>(&body);
        CHECK(found != nullptr);
        return *found;
    }
    // The part that texts, lists and movable lists share; null for the other kinds.
    SequenceBody* sequence() {
        if (auto* text = std::get_if<TextBody>(&body)) return text;
        if (auto* list = std::get_if<ListBody>(&body)) return list;
        return std::get_if<MovableBody>(&body);
    }
    bool has_anchors() const {
        const auto* text = std::get_if<TextBody>(&body);
        return text != nullptr && text->has_anchors;
    }
    bool is_sequence() const { return body.index() >= 1 && body.index() <= 3; }
};

// Calls call(body) with the container's body.
template <class Call>
decltype(auto) visit(Container& c, Call call) {
    return std::visit(call, c.body);
}

// Calls call(body) with the body of a text, a list or a movable list. CHECKs the kind.
template <class Call>
decltype(auto) visit_sequence(Container& c, Call call) {
    if (auto* text = std::get_if<TextBody>(&c.body)) return call(*text);
    if (auto* list = std::get_if<ListBody>(&c.body)) return call(*list);
    return call(c.as<MovableBody>());
}

}  // namespace quire::crdt
