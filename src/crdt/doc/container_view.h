// ContainerView: what the six kinds of view on a document's containers share.
//
// A view is two words, a document and the number of a container in it. It is made where it is used,
// `doc.text(notes).insert({0}, "hello")`, and costs nothing; the container belongs to the document.
// A const Doc hands out const views, which only read. The kinds are TextView, ListView, MapView,
// MovableListView, TreeView and CounterView.
//
// Reading shows a pending transaction. Reading a container of another kind than the view's stops
// the process; editing one fails.
//
// Errors that every edit may give: out_of_range "out_of_bound" and "too_large"; not_found
// "container_deleted" for a container that is not alive; conflict "detached";
// invalid_argument "wrong_kind", "invalid_utf8", and "invalid_name" for a root container whose name
// is empty or, in a map, holds '/' or NUL. (Other programs may have made such roots.)
#pragma once

#include <cstdint>

namespace quire::crdt {

class Doc;
class DocBody;
struct Container;
struct Site;

// A container's number within one Doc: cheap to keep and to pass. Never invalidated.
enum class Handle : std::uint32_t {};

class ContainerView {
public:
    Handle handle() const { return handle_; }

protected:
    ContainerView(const Doc& doc, Handle handle) : doc_(&doc), handle_(handle) {}
    const Doc& doc() const { return *doc_; }
    DocBody& body() const;         // body.h
    Container& container() const;  // body.h
    Site site() const;             // body.h

private:
    const Doc* doc_;
    Handle handle_;
};

}  // namespace quire::crdt
