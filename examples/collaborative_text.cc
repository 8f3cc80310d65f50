// Two editors in one text: cursors that stay where they were meant, and an undo that takes back
// one's own edits only.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "codec/cursor.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"
#include "crdt/undo/undo_history.h"

using namespace quire;
using crdt::ContainerId;
using crdt::ContainerKind;

struct Editor {
    explicit Editor(crdt::PeerId peer)
        : doc(peer),
          text(doc.open(ContainerId::root("page", ContainerKind::text))),
          history(doc, {.merge_interval_ms = 0}) {}

    void type(std::size_t at, std::string_view what) {
        if (!doc.text(text).insert({at}, what)) std::abort();
        save();
    }
    void erase(std::size_t at, std::size_t count) {
        if (!doc.text(text).erase({at}, {count})) std::abort();
        save();
    }
    void save() { history.committed(doc.commit(), /*now_ms=*/0); }
    void pull(const Editor& other) {
        const Bytes news = codec::encode_updates(other.doc.changes_since(doc.version()));
        if (!doc.import(codec::decode_updates(news).value())) std::abort();
    }
    std::string read() const { return doc.text(text).rope().str(); }

    crdt::Doc doc;
    crdt::Handle text;
    crdt::UndoHistory history;
};

static int failures = 0;
static void expect(const std::string& what, const std::string& is, const std::string& should_be) {
    std::printf("%-28s %s\n", what.c_str(), is.c_str());
    if (is == should_be) return;
    std::printf("%-28s %s\n", "  but it should be", should_be.c_str());
    ++failures;
}

int main() {
    Editor ada(1);
    Editor bo(2);
    ada.type(0, "The quick fox jumps.");
    bo.pull(ada);

    // Bo's caret stands before "fox". It goes to Ada as bytes, so that she can show it.
    const Bytes caret = codec::encode_cursor(crdt::cursor_at(bo.doc, bo.text, 10).value());

    ada.type(10, "brown ");
    ada.erase(0, 4);
    bo.type(19, " over the dog");
    ada.pull(bo);
    bo.pull(ada);
    expect("merged, in both", ada.read() == bo.read() ? ada.read() : "differs",
           "quick brown fox jumps over the dog.");

    const auto place = crdt::resolve(ada.doc, codec::decode_cursor(caret).value()).value();
    expect("behind Bo's caret", ada.read().substr(place.pos, 3), "fox");

    // Ada takes back her last edit, then the one before. Bo's words stay.
    ada.history.undo(0);
    expect("Ada undoes once", ada.read(), "The quick brown fox jumps over the dog.");
    ada.history.undo(0);
    expect("and again", ada.read(), "The quick fox jumps over the dog.");
    ada.history.redo(0);
    expect("and redoes", ada.read(), "The quick brown fox jumps over the dog.");
    bo.pull(ada);
    expect("Bo sees it too", bo.read(), ada.read());
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
