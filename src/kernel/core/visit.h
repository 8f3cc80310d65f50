// Visit: a call on its way through a document. And the ways in which calls name a document.
#pragma once

#include <memory>
#include <string>

#include "base/function.h"
#include "conversation/block.h"
#include "edits/plan.h"
#include "kernel/core/caller.h"
#include "kernel/core/catalog.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

class Core;

// A call that has come to its document, on the document's strand, until it is answered.
template <class T>
struct Visit {
    std::shared_ptr<Core> kernel;
    Caller by;
    std::shared_ptr<LiveDocument> document;
    Reply<T> reply;
    bool alone = false;  // The document is held until the answer.

    // Once. Where a person may allow what was refused, they are asked before the caller is told.
    void answer(Result<T> result);
};

// How calls name a document: itself,
struct ThisDocument {
    std::shared_ptr<LiveDocument> document;

    Result<std::shared_ptr<LiveDocument>> find(Catalog&) const { return document; }
    static bool is_meant(const Catalog&, LiveDocument&) { return true; }
};
// or by its name; one is made where there is none.
struct DocumentName {
    std::string kind;
    std::string name;

    Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const {
        return catalog.find_or_make(kind, name);
    }
    bool is_meant(const Catalog& catalog, LiveDocument& document) const {
        return !document.record().deleted && document.name() == name &&
               catalog.has_name(document.key());
    }
};
struct BlockAddress {
    conversation::BlockId id;
    ThisDocument at;
};

// An edit of a text, with the word that history shows for it.
struct TextEdit {
    std::string operation;
    edits::Plan plan;
};

}  // namespace quire::kernel
