// Argument: how one argument of an operation of `quire engine` is read from a request, by the type of
// the parameter that takes it. Specialise it for a parameter that reads in another way.
//
// A reader takes long values (texts, objects, plain values) out of the request instead of copying
// them, so each member is read once; a parameter that only finds something by a member, such as a
// document by `doc`, leaves the member in place. Every argument comes from another program: a
// reader checks the type, and its error names the member.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/concat.h"
#include "cli/driver/request.h"
#include "json/parameters.h"

namespace quire::cli {

class EngineDocuments;

// The names of the arguments of an operation, in the order of its function's parameters. The places
// after the last name are empty; they are never read, because the number of names is the number of
// parameters that read one (engine_op() checks it).
using EngineArguments = std::array<std::string_view, 5>;

// A request whose arguments are being read. It lives for one call of an operation, and refers to
// the session's documents, to the request that is being answered and to the row of the operation.
struct EngineCall {
    // The session's, for parameters that stand for something it holds.
    EngineDocuments& documents;
    // The request. Members that were read may have been moved out.
    Map& members;
    const EngineArguments& names;
    std::size_t read = 0;  // How many of the names.
};

// Reads one argument. Null counts as absent. Errors: invalid_argument, which names it. A parameter
// with `kIsNamed` takes the next name of the row; one without finds its member by a name that is
// the same in all operations. A std::optional is none when the member is absent.
template <class T>
struct Argument {
    static constexpr bool kIsNamed = true;
    static Result<T> read(EngineCall& call) { return member(call, call.names[call.read++]); }
    // Reads a member by its own name instead of the next one of the row.
    static Result<T> member(EngineCall& call, std::string_view name) {
        json::Read<T> value = json::take_member<T>(call.members, name, json::Null::is_absent);
        if (value) return std::move(*value);
        const std::string& wanted = value.error().wanted;
        return invalid("invalid_argument", cat("`", value.error().path, "` must be ",
                                               wanted.empty() ? "given (any JSON value)" : wanted));
    }
};

// A value as it came: {"$bytes": …} is an ordinary object. A plain Value has bytes for that.
struct RawJson {
    Value value;
};
// Errors: invalid_argument when the member is absent; null is a value here.
template <>
struct Argument<RawJson> {
    static constexpr bool kIsNamed = true;
    static Result<RawJson> read(EngineCall& call);
};
// None where the member is absent; null is a value.
template <>
struct Argument<std::optional<RawJson>> {
    static constexpr bool kIsNamed = true;
    static Result<std::optional<RawJson>> read(EngineCall& call);
};
// Like RawJson, then read by plain(), whose errors it has.
template <>
struct Argument<Value> {
    static constexpr bool kIsNamed = true;
    static Result<Value> read(EngineCall& call);
};
// Errors also: those of json::from_base64().
template <>
struct Argument<Bytes> {
    static constexpr bool kIsNamed = true;
    static Result<Bytes> read(EngineCall& call);
};
// An array of base64 texts, such as the blobs of one batch. The errors are those of one Bytes.
template <>
struct Argument<std::vector<Bytes>> {
    static constexpr bool kIsNamed = true;
    static Result<std::vector<Bytes>> read(EngineCall& call);
};

}  // namespace quire::cli
