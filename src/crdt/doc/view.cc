#include "crdt/doc/view.h"

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

const VersionVector& shown_version(DocBody& body) {
    View* view = body.view();
    if (view == nullptr) return body.journal().version();
    if (!view->version) view->version = body.journal().version_of(view->past);
    return *view->version;
}

const Heads& shown_heads(const DocBody& body) {
    return body.at() == nullptr ? body.oplog().heads() : body.at()->heads();
}

// Moves nothing: answers about the version are worked out in the new view as they are asked for,
// and those of the old one go with it. So do the references that it gave out.
void DocBody::show(std::optional<Past> version) {
    CHECK(!journal_.in_transaction());
    view_ = version ? std::make_unique<View>(*std::move(version)) : nullptr;
    at_ = view_ == nullptr ? nullptr : &view_->past;
}

}  // namespace quire::crdt
