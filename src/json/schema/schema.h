// Schema: what a JSON value must look like, compiled once and checked often.
//
// All of JSON Schema 2020-12: the core, applicator, unevaluated, validation, meta-data,
// format-annotation and content vocabularies. `format` and the content keywords are annotations, as
// the standard has it by default, and nothing is ever fetched: what a schema refers to is in it, in
// the documents given with it, or one of the standard's own metaschemas, which are known.
//
// A schema may come from a stranger. Compiling is linear in what is reachable of it and bounded in
// depth and number; a reference that leads back to itself without going into the value is refused;
// checking is bounded in depth and in steps, and so ends whatever the references unfold to.
//
// What a Value holds limits what can be told apart: an integer beyond 64 bits and a number of more
// digits than an f64 has are the nearest f64, and are compared as that. Within it all is exact: 1
// is 1.0, 9007199254740993 is not 9007199254740992.0, and 0.0075 is a multiple of 0.0001.
//
// schema_documents.h finds what references name, schema_compile.h makes the graph of nodes,
// schema_keywords.h is the table of keywords, schema_node.h the graph and the walk over it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"

namespace quire::json {

// Whether a pattern is found anywhere in well-formed UTF-8 text. Called on any thread.
using PatternTest = std::function<bool(std::string_view text)>;
// From a regular expression as ECMA-262 writes them (its flag u) to its test. This room has no
// regular expressions; text/ecma_pattern.h does.
using PatternCompiler = std::function<Result<PatternTest>(std::string_view pattern)>;

// A schema that others may refer to by an absolute URI without a fragment; its own $id is another
// name of it. It is read while compiling alone.
struct SchemaDocument {
    std::string uri;
    const Value* schema;
};

struct SchemaOptions {
    std::span<const SchemaDocument> documents = {};
    // Without it `pattern` and `patternProperties` fail to compile.
    PatternCompiler patterns = {};
    // For schemas of our own, beyond the standard: a keyword that the standard does not have, and
    // that does not begin with "x-", is a mistake; the definitions that nothing refers to are
    // looked at too; and an "integer" fits 64 bits, so that who decodes one holds an i64.
    bool strict = false;
};

class Schema {
public:
    static constexpr std::size_t kNesting = 64;        // Of schemas in the text of a schema.
    static constexpr std::size_t kSchemas = 20'000;    // That are reached from the first.
    static constexpr std::size_t kPatterns = 256;      // The same.
    static constexpr std::size_t kDepth = 256;         // Of schemas entered while checking.
    static constexpr std::size_t kSteps = 10'000'000;  // Of one check: entering a schema is one.

    // O(n log n) for n keywords and names reached.
    //
    // Errors: invalid_argument "invalid_schema" {path, keyword}: an operand that the standard does
    // not allow, a reference to what is not there, or one that leads back to itself.
    // unsupported "unsupported_dialect" {path, keyword, dialect}: a $schema that is neither
    // 2020-12 nor a metaschema among the documents; "unsupported_vocabulary" {path, keyword,
    // vocabulary}: one that it requires and that is not here (format-assertion, or another's);
    // "unsupported_pattern" {path, keyword, pattern}: see PatternCompiler. out_of_range
    // "schema_too_large" {limit}.
    static Result<Schema> compile(const Value& schema, const SchemaOptions& options = {});
    Schema(Schema&&) noexcept;
    Schema& operator=(Schema&&) noexcept;
    Schema(const Schema&) = delete;
    Schema& operator=(const Schema&) = delete;
    ~Schema();

    // Any thread. For a schema without combinations O(n) in the values it looks at, and nothing is
    // allocated where they fit; a fault costs a second walk along the way to it.
    //
    // Errors: invalid_argument "invalid_arguments" {path, rule, …}, whose message names the place,
    // what is wrong with it and what would be right, of the first fault only; "too_deep" {path,
    // limit} beyond kDepth and "too_costly" {limit} beyond kSteps: no verdict then.
    Result<void> check(const Value& instance) const;

    // For what models and loosely typed clients send: where the schema wants an object or an array
    // and a string that holds one in JSON arrives, that string is unwrapped (one layer), and where
    // it wants an integer and 3.0 arrives, that becomes 3. Then check(). Under `strict` every
    // integer of what it returns is an i64. What fits as it stands costs one check().
    // `is_unwrapped`: the instance itself came out of a string, by unwrapped(); nothing in it does.
    Result<Value> accept(Value instance, bool is_unwrapped = false) const;

private:
    struct Body;
    explicit Schema(std::unique_ptr<const Body> body);
    std::unique_ptr<const Body> body_;
};

// The object or array that a string holds in JSON, as accept() unwraps it; none where it holds
// something else.
std::optional<Value> unwrapped(const std::string& text);

}  // namespace quire::json
