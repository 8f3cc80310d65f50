// Schema: the required form of a JSON value, compiled once and checked often.
//
// Supports all of JSON Schema 2020-12: the core, applicator, unevaluated, validation, meta-data,
// format-annotation and content vocabularies. `format` and the content keywords are annotations,
// which is the standard's default. Nothing is ever fetched: references lead into the schema, into
// documents given with it, or to the standard's metaschemas, which are built in.
//
// A schema may come from a stranger. Compiling is linear in what is reachable and bounded in depth
// and number; a reference that leads back to itself without going into the value is refused;
// checking is bounded in depth and steps, so it ends however references unfold.
//
// The precision of Value limits comparisons: an integer beyond 64 bits and a number with more
// digits than an f64 become the nearest f64. Within that everything is exact: 1 equals 1.0,
// 9007199254740993 differs from 9007199254740992.0, and 0.0075 is a multiple of 0.0001.
//
// Bytes, which no JSON text holds, count as an object with one member, as write() spells them; the
// keywords that look into an object pass over them.
//
// documents.h finds the targets of references, compile.h builds the graph of nodes, keywords.h is
// the table of keywords, node.h the graph and the walk over it.
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

// Tells whether a pattern occurs anywhere in well-formed UTF-8 text. Called on any thread.
using PatternTest = std::function<bool(std::string_view text)>;
// Compiles a regular expression in ECMA-262's syntax (flag u). This room has no regular
// expressions; text/ecma_pattern.h does.
using PatternCompiler = std::function<Result<PatternTest>(std::string_view pattern)>;

// A schema that others may refer to by an absolute URI without fragment; its own $id is another
// name for it. Read only while compiling.
struct SchemaDocument {
    std::string uri;
    const Value* schema;
};

struct SchemaOptions {
    std::span<const SchemaDocument> documents = {};
    // Without it, `pattern` and `patternProperties` do not compile.
    PatternCompiler patterns = {};
    // For our own schemas, stricter than the standard: an unknown keyword that does not begin with
    // "x-" is an error; definitions that nothing refers to are checked too; and an "integer" fits
    // 64 bits, so that decoding yields an i64.
    bool strict = false;
};

// A compiled schema. Immutable.
class Schema {
public:
    static constexpr std::size_t kNesting = 64;      // Nested schemas in a schema's text.
    static constexpr std::size_t kSchemas = 20'000;  // Schemas reached from the first.
    static constexpr std::size_t kPatterns = 256;    // Patterns reached from the first.
    static constexpr std::size_t kDepth = 256;       // Schemas entered at once during a check.
    // Steps of one check; entering a schema is one.
    static constexpr std::size_t kSteps = 10'000'000;

    // O(n log n) for n keywords and names reached.
    //
    // Errors: invalid_argument "invalid_schema" {path, keyword}: an operand that the standard does
    // not allow, a reference without a target, or one that leads back to itself. unsupported
    // "unsupported_dialect" {path, keyword, dialect}: a $schema that is neither 2020-12 nor a
    // metaschema among the documents; "unsupported_vocabulary" {path, keyword, vocabulary}: a
    // required vocabulary that is missing here (format-assertion, or a foreign one);
    // "unsupported_pattern" {path, keyword, pattern}: see PatternCompiler. out_of_range
    // "schema_too_large" {limit}.
    static Result<Schema> compile(const Value& schema, const SchemaOptions& options = {});
    Schema(Schema&&) noexcept;
    Schema& operator=(Schema&&) noexcept;
    Schema(const Schema&) = delete;
    Schema& operator=(const Schema&) = delete;
    ~Schema();

    // Any thread. For a schema without combinations O(n) in the values it looks at, with no
    // allocation if they fit; a fault costs a second walk along its path.
    //
    // Errors: invalid_argument "invalid_arguments" {path, rule, …} for the first fault; the message
    // names the place, the fault and what would be right; "too_deep" {path, limit} beyond kDepth
    // and "too_costly" {limit} beyond kSteps, without a verdict.
    Result<void> check(const Value& instance) const;

    // For input of models and loosely typed clients: where the schema wants an object or array and
    // gets a string that holds one in JSON, the string is unwrapped (one layer); where it wants an
    // integer and gets 3.0, that becomes 3. Then check(). Under `strict` every integer of the
    // result is an i64. A value that fits costs one check(). With `is_unwrapped` the instance
    // itself came out of a string, by unwrapped(), and no string in it is unwrapped.
    Result<Value> accept(Value instance, bool is_unwrapped = false) const;

private:
    struct Body;
    explicit Schema(std::unique_ptr<const Body> body);
    std::unique_ptr<const Body> body_;
};

// The object or array that a string holds as JSON, as accept() unwraps it; nothing if it holds
// anything else.
std::optional<Value> unwrapped(const std::string& text);

}  // namespace quire::json
