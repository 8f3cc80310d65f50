// A document's past: looked at as it was, compared, branched off from, and an edit taken back
// without touching what came after.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "crdt/undo/revert.h"

using namespace quire;
using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::Handle;

static int failures = 0;
static void expect(const std::string& what, const std::string& is, const std::string& should_be) {
    std::printf("%-30s %s\n", what.c_str(), is.c_str());
    if (is == should_be) return;
    std::printf("%-30s %s\n", "  but it should be", should_be.c_str());
    ++failures;
}

// A text's difference as people write it: what went in [- -], what came in {+ +}.
static std::string in_words(const crdt::TextDelta& delta) {
    std::string words;
    for (const crdt::TextStep& step : delta) {
        if (const auto* kept = std::get_if<crdt::Retain>(&step)) {
            words += "(" + std::to_string(kept->count) + ")";
        } else if (const auto* gone = std::get_if<crdt::Erase>(&step)) {
            words += "[-" + std::to_string(gone->count) + "-]";
        } else {
            words += "{+" + std::get<crdt::PutText>(step).text + "+}";
        }
    }
    return words;
}

int main() {
    Doc doc(1);
    const ContainerId id = ContainerId::root("poem", ContainerKind::text);
    const Handle poem = doc.open(id);
    const auto read = [&] { return doc.text(poem).rope().str(); };
    const auto type = [&](std::size_t at, std::string_view what) {
        if (!doc.text(poem).insert({at}, what)) std::abort();
        return doc.commit();
    };

    type(0, "Roses are red");
    const crdt::Frontiers first = doc.frontiers();
    const crdt::Commit colour = type(13, ", violets are green");
    type(32, ", sugar is sweet");
    const crdt::Frontiers latest = doc.frontiers();

    // Looking at an earlier version: nothing of what came after is lost.
    if (!doc.checkout(first)) return EXIT_FAILURE;
    expect("the first version", read(), "Roses are red");
    doc.checkout_to_latest();
    expect("the latest", read(), "Roses are red, violets are green, sugar is sweet");

    const auto between = doc.history().diff(first, latest);
    if (!between || between->size() != 1) return EXIT_FAILURE;
    expect("what lies between", in_words(std::get<crdt::TextDelta>(between->front().delta)),
           "(13){+, violets are green, sugar is sweet+}");

    // A branch goes its own way from the first version, and comes back.
    auto branch = fork_at(doc, first, 2);
    if (!branch) return EXIT_FAILURE;
    const Handle theirs = branch->open(id);
    if (!branch->text(theirs).insert({0}, "They say: ")) return EXIT_FAILURE;
    branch->commit();
    if (!doc.import(branch->changes_since(doc.version()))) return EXIT_FAILURE;
    expect("with the branch", read(), "They say: Roses are red, violets are green, sugar is sweet");

    // One edit of long ago is taken back; those after it stay.
    if (!crdt::revert(doc, std::vector{colour.span})) return EXIT_FAILURE;
    doc.commit({.message = "violets are not green"});
    expect("without the second edit", read(), "They say: Roses are red, sugar is sweet");

    for (const crdt::Change& change : doc.changes_since({}).changes()) {
        std::printf("  %d@%llu  %d ops  %s\n", change.id.counter,
                    static_cast<unsigned long long>(change.id.peer), crdt::atom_count(change),
                    change.message.c_str());
    }
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
