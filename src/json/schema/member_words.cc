// A walk over the parts of a schema that apply to the object, and then over those that apply to the
// member. What the words allow is not judged: a word in one branch counts even if another branch
// forbids it. A schema that was reached by a reference is entered once for each of the two roles,
// so references that lead in a circle end.

#include "json/schema/member_words.h"

#include <algorithm>
#include <set>
#include <utility>

#include "json/schema/references.h"

namespace quire::json {
namespace {

// Collects the words in the order of the schema, each once.
class WordList {
public:
    WordList(const Value& root, std::string_view field) : references_(root), field_(field) {}

    // The schema of an object. `outer` is the URI that relative references below are resolved
    // against, until an $id replaces it.
    void object(const Value& schema, const std::string& outer) {
        if (!schema.is_map()) return;
        const std::string base = base_within(schema, outer);
        follow(schema, base, &WordList::object, seen_objects_);
        const Value* const members = schema.get("properties");
        if (const Value* member = members == nullptr ? nullptr : members->get(field_))
            word(*member, base);
        branches(schema, base, &WordList::object);
    }
    std::vector<std::string> take() && { return std::move(words_); }

private:
    using Part = void (WordList::*)(const Value&, const std::string&);

    // The schema of the member itself, or of the items of a member that is a list of words.
    void word(const Value& schema, const std::string& outer) {
        if (!schema.is_map()) return;
        const std::string base = base_within(schema, outer);
        follow(schema, base, &WordList::word, seen_words_);
        if (const Value* only = schema.get("const")) add(*only);
        if (const Value* all = schema.get("enum"); all != nullptr && all->is_list()) {
            for (const Value& each : all->as_list()) add(each);
        }
        branches(schema, base, &WordList::word);
        if (const Value* items = schema.get("items")) word(*items, base);
    }
    void branches(const Value& schema, const std::string& base, Part part) {
        for (const std::string_view keyword : {"oneOf", "anyOf", "allOf"}) {
            const Value* const all = schema.get(keyword);
            if (all == nullptr || !all->is_list()) continue;
            for (const Value& each : all->as_list()) (this->*part)(each, base);
        }
    }
    void follow(const Value& schema, const std::string& base, Part part,
                std::set<const Value*>& seen) {
        const Value* const reference = schema.get("$ref");
        if (reference == nullptr || !reference->is_string()) return;
        const auto target = references_.find(base, reference->as_string(), false);
        if (target && seen.insert(target->schema).second)
            (this->*part)(*target->schema, target->base);
    }
    void add(const Value& word) {
        if (!word.is_string()) return;
        if (std::ranges::find(words_, word.as_string()) == words_.end())
            words_.push_back(word.as_string());
    }

    const SchemaReferences references_;
    const std::string_view field_;
    std::vector<std::string> words_;
    std::set<const Value*> seen_objects_, seen_words_;
};

}  // namespace

std::vector<std::string> words_of_member(const Value& schema, std::string_view field) {
    WordList words(schema, field);
    words.object(schema, "");
    return std::move(words).take();
}

}  // namespace quire::json
