// Schema: what a JSON value must look like, compiled once and checked often.
//
// JSON Schema 2020-12 as far as the tools' schemas use it: type, enum, const, properties, required,
// additionalProperties, items, minItems, maxItems, minLength, maxLength, minimum, maximum, anyOf,
// oneOf, $defs and $ref into them. Annotations (title, description, default, format, …) are read
// over; any other keyword of the standard fails to compile, so that nothing a schema asks for goes
// unchecked. A keyword is one entry of a table in schema.cc and one rule.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/value.h"

namespace quire::json {

class Schema {
public:
    // Errors: invalid_argument "invalid_schema" {path, keyword}; unsupported "unsupported_keyword"
    // {path, keyword}. A $ref that points nowhere or leaves the schema is invalid.
    static Result<Schema> compile(const Value& schema);
    Schema(Schema&&) noexcept;
    Schema& operator=(Schema&&) noexcept;
    Schema(const Schema&) = delete;
    Schema& operator=(const Schema&) = delete;
    ~Schema();

    // Errors: invalid_argument "invalid_arguments" {path, rule, …}, whose message names the place,
    // what is wrong with it and what would be right; "too_deep" beyond 64 levels of schema. The
    // first fault only.
    Result<void> check(const Value& instance) const;

    // For what models and loosely typed clients send: where the schema wants an object or an array
    // and a string that holds one in JSON arrives, that string is unwrapped (one layer), and where
    // it wants an integer and 3.0 arrives, that becomes 3. Then check(). Every integer of what it
    // returns is an i64.
    Result<Value> accept(Value instance) const;

private:
    struct Body;
    explicit Schema(std::unique_ptr<const Body> body);
    std::unique_ptr<const Body> body_;
};

}  // namespace quire::json
