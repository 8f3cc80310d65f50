// A to-do list that two people edit at once, one of them offline. Each change travels as bytes that
// any Loro client could read and write as well.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"

using namespace quire;
using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::Handle;

// A list of maps: {"title": ..., "done": ...}.
class TodoList {
public:
    explicit TodoList(crdt::PeerId peer)
        : doc_(peer), items_(doc_.open(ContainerId::root("todo", ContainerKind::list))) {}

    Result<void> add(std::string title) {
        const ContainerId item =
            TRY(doc_.list(items_).insert_container(doc_.list(items_).size(), ContainerKind::map));
        const Handle map = doc_.open(item);
        TRY(doc_.map(map).set("title", std::move(title)));
        TRY(doc_.map(map).set("done", false));
        doc_.commit({.message = "add"});
        return {};
    }

    Result<void> tick(std::size_t index) {
        TRY(doc_.map(doc_.open(doc_.list(items_).child(index))).set("done", true));
        doc_.commit({.message = "tick"});
        return {};
    }

    Result<void> remove(std::size_t index) {
        TRY(doc_.list(items_).erase(index, 1));
        doc_.commit({.message = "remove"});
        return {};
    }

    // news_for() returns the changes that `other` does not know yet, as bytes; take() imports them.
    Bytes news_for(const TodoList& other) const {
        return codec::encode_updates(doc_.changes_since(other.doc_.version()));
    }
    Result<void> take(const Bytes& news) {
        crdt::ChangeBatch changes = TRY(codec::decode_updates(news));
        TRY(doc_.import(std::move(changes)));
        return {};
    }

    std::string text() const {
        std::string text;
        const Value items = doc_.value(items_);
        for (const Value& item : items.as_list()) {
            text += item.get("done")->as_bool() ? "[x] " : "[ ] ";
            text += item.get("title")->as_string() + "\n";
        }
        return text;
    }

private:
    Doc doc_;
    Handle items_;
};

static Result<void> run() {
    TodoList ada(1);
    TodoList bo(2);
    TRY(ada.add("buy bread"));
    TRY(ada.add("paint the fence"));
    TRY(ada.add("call Grandma"));
    TRY(bo.take(ada.news_for(bo)));

    // Both go on without hearing of each other.
    TRY(ada.tick(0));
    TRY(ada.add("feed the cat"));
    TRY(bo.tick(2));
    TRY(bo.remove(1));
    TRY(bo.add("water the plants"));

    TRY(ada.take(bo.news_for(ada)));
    TRY(bo.take(ada.news_for(bo)));
    std::printf("%s", ada.text().c_str());
    const std::string expected =
        "[x] buy bread\n[x] call Grandma\n[ ] feed the cat\n[ ] water the plants\n";
    if (ada.text() != bo.text() || ada.text() != expected)
        return fail(Errc::conflict, "differs", "the two lists are not what they should be");
    return {};
}

int main() {
    const Result<void> done = run();
    if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
