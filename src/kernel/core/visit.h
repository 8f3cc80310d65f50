// Visit: a call that has reached its document. Below it are the ways in which calls name a
// document.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/function.h"
#include "conversation/block.h"
#include "edits/plan.h"
#include "kernel/core/caller.h"
#include "kernel/core/catalog.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

class Core;

// A call on its document's strand, until it is answered.
template <class T>
struct Visit {
    std::shared_ptr<Core> kernel;
    Caller by;
    std::shared_ptr<LiveDocument> document;
    Reply<T> reply;
    bool alone = false;  // The document is held until the answer.

    // Answers the call; call it once. If a person may allow what was refused, the person is asked
    // before the caller gets the refusal.
    void answer(Result<T> result);
};

// Names a document by the object itself.
struct ThisDocument {
    std::shared_ptr<LiveDocument> document;

    Result<std::shared_ptr<LiveDocument>> find(Catalog&) const { return document; }
    static bool is_meant(const Catalog&, LiveDocument&) { return true; }
};
// Names a document by its name; one is made if there is none.
struct DocumentName {
    Name name;

    Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const {
        return catalog.find_or_make(name);
    }
    bool is_meant(const Catalog& catalog, LiveDocument& document) const {
        return !document.record().deleted && document.name() == name.name &&
               catalog.has_name(document.key());
    }
};
// A block's id, and the document that contains it.
struct BlockAddress {
    conversation::BlockId id;
    ThisDocument at;
};

// An edit of a text, with the word that history shows for it.
struct TextEdit {
    std::string operation;
    edits::Plan plan;
    bool appends = false;  // It joins the actor's run of appends, which is one step of undo.
    // Called when nothing else can refuse the edit, before anything changes; an error refuses it.
    Function<Result<void>(std::span<const text::Splice>)> before = {};
    // Carries the edit out and records it, in place of the splices; the text then is what they give.
    Function<Result<void>()> instead = {};
};

}  // namespace quire::kernel
