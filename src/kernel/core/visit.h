// Visit: a call that has reached its document. Below it are the ways in which calls name a
// document. Everything here moves with the call, from the thread where it began to the strand.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/function.h"
#include "conversation/block.h"
#include "edits/plan.h"
#include "kernel/core/caller.h"
#include "kernel/core/catalog.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

class Core;

// A call on its document's strand.
struct Entry {
    // Keeps the kernel's inside alive until the call is answered.
    std::shared_ptr<Core> kernel;
    Caller by;
    std::shared_ptr<LiveDocument> document;  // Null if the call did not find one.
    bool alone = false;                      // The document is held until the answer.

    // Returns true if a person may allow what was refused.
    bool may_be_asked(const Error& refusal) const;
    // Asks a person, and tells `refused` what the caller is to know. Only for a refusal that
    // may_be_asked().
    void ask(Error refusal, Function<void(Error)> refused);
};
// An entry with the receiver of its answer.
template <class T>
struct Visit : Entry {
    Reply<T> reply;

    // Answers the call; call it once. If a person may allow what was refused, the person is asked
    // before the caller gets the refusal.
    void answer(Result<T> result);
};
// The work of a call: it returns the answer.
template <class T>
using Task = Function<Result<T>(LiveDocument&, const Caller&)>;
template <class T>
using BlockTask = Function<Result<T>(LiveDocument&, const BlockRef&, const Caller&)>;

// Names the document of a call: any value that has
//     Result<std::shared_ptr<LiveDocument>> find(Catalog&) const;
//     bool is_meant(const Catalog&, LiveDocument&) const;
// A document that is not meant any more when the call's turn comes is looked for again. An address
// is used on two threads, one after the other: find() where the call begins, is_meant() on the
// strand. It is immutable, and holds its value behind a pointer so that the frame has one type for
// all of them.
class Address {
public:
    template <class Named>
    requires(!std::is_same_v<Named, Address>)
        Address(Named named)  // NOLINT(google-explicit-constructor)
        : named_(new Holder<Named>(std::move(named))) {}

    Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const {
        return named_->find(catalog);
    }
    bool is_meant(const Catalog& catalog, LiveDocument& document) const {
        return named_->is_meant(catalog, document);
    }

private:
    struct Any {
        virtual ~Any() = default;
        virtual Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const = 0;
        virtual bool is_meant(const Catalog& catalog, LiveDocument& document) const = 0;
    };
    template <class Named>
    struct Holder final : Any {
        explicit Holder(Named held) : named(std::move(held)) {}
        Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const override {
            return named.find(catalog);
        }
        bool is_meant(const Catalog& catalog, LiveDocument& document) const override {
            return named.is_meant(catalog, document);
        }
        Named named;
    };
    std::unique_ptr<const Any> named_;
};

// Names a document by the object itself. It is meant whatever name it has by now.
struct ThisDocument {
    std::shared_ptr<LiveDocument> document;

    Result<std::shared_ptr<LiveDocument>> find(Catalog&) const { return document; }
    static bool is_meant(const Catalog&, LiveDocument&) { return true; }
};
// Names a document by its name; one is made if there is none. The name is looked up again when the
// call's turn comes: a call that has waited behind a rename or a deletion goes to the document that
// has the name then.
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
