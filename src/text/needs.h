// Needs: tells by signatures which texts cannot match a query.
#pragma once

#include <memory>

#include "text/signature.h"

namespace quire::text {

class Query;

// The strings that a text must contain so that one of its lines can match a query, as a formula. They
// are looked for in the text's signature (Cox, "Regular Expression Matching with a Trigram Index",
// 2012). One thread.
class Needs {
public:
    explicit Needs(const Query& query);
    Needs(const Needs&) = delete;
    Needs& operator=(const Needs&) = delete;
    ~Needs();
    // Returns false if no line of a text with this signature matches. O(trigrams of the query).
    bool may_match(Signature signature);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace quire::text
