// A document that is made of its history, beside one that is opened with the state of it.
#pragma once

#include "base/check.h"
#include "codec/document.h"
#include "crdt/doc/doc.h"

namespace quire::model {

// Imports the history that a snapshot has, and no state.
inline crdt::Doc imported(const Bytes& snapshot, crdt::PeerId peer) {
    crdt::Doc doc(peer);
    CHECK(doc.import(codec::decode_history(snapshot).value()));
    return doc;
}

}  // namespace quire::model
