// EngineOp rows: each names an operation of `quire engine` and its arguments. Their types are those
// of the function's parameters, which are read from left to right, and the result is written by its
// type, too.
//
//     engine_op<mlist_move>("mlist.move", "from", "to")
//
// with `Result<void> mlist_move(crdt::MovableListView list, std::size_t from, std::size_t to)`, or
// with the member function of the view itself. A parameter that stands for what the session holds
// has no name in the row: the documents, a document (`doc`), a container of it (`doc`, `cid`;
// cli/driver/view_argument.h), an undo history (`name`).
//
// Parameters are read in the order of the signature, and the first one that cannot be read ends the
// call with its error. So a parameter that commits (SettledDocument) stands behind those that may
// be refused, when a refused request must leave the transaction pending.
//
// The result is written by its type: nothing as true, ids as text, bytes as base64, JsonText as it
// is, and everything else as the Value, or the to_json(), of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/bytes.h"
#include "cli/driver/argument.h"
#include "cli/driver/session.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::cli {

template <>
struct Argument<std::reference_wrapper<EngineDocuments>> {
    static constexpr bool kIsNamed = false;
    static Result<std::reference_wrapper<EngineDocuments>> read(EngineCall& call) {
        return std::ref(call.documents);
    }
};
// The undo history that `name` names. Errors: not_found "no_such_undo".
template <>
struct Argument<std::reference_wrapper<EngineUndo>> {
    static constexpr bool kIsNamed = false;
    static Result<std::reference_wrapper<EngineUndo>> read(EngineCall& call) {
        return std::ref(*TRY(call.documents.find_undo(call.members)));
    }
};

// The document that `doc` names, as one of the functions of EngineDocuments finds it.
template <Result<EngineDocument*> (EngineDocuments::*kFind)(const Map&)>
struct FoundDocument {
    EngineDocument* document;
    EngineDocument* operator->() const { return document; }
    EngineDocument& operator*() const { return *document; }
};
using AnyDocument = FoundDocument<&EngineDocuments::find>;
using LoadedDocument = FoundDocument<&EngineDocuments::find_loaded>;
using SettledDocument = FoundDocument<&EngineDocuments::find_settled>;
using WholeDocument = FoundDocument<&EngineDocuments::find_whole>;

// Errors: those of the finding function, which may load the history or commit.
template <Result<EngineDocument*> (EngineDocuments::*kFind)(const Map&)>
struct Argument<FoundDocument<kFind>> {
    static constexpr bool kIsNamed = false;
    static Result<FoundDocument<kFind>> read(EngineCall& call) {
        return FoundDocument<kFind>{TRY((call.documents.*kFind)(call.members))};
    }
};

// A result that is JSON text already. It spares a second representation of a large result, such as
// a whole history.
struct JsonText {
    std::string text;
};

namespace detail {

// The type as which an argument is held until the function is called: a mutable reference becomes a
// reference wrapper to what the session holds, a view of text becomes a string that owns its bytes,
// and all others lose their reference and const.
template <class Parameter>
struct HeldAs : std::remove_cvref<Parameter> {};
template <class Referred>
requires(!std::is_const_v<Referred>) struct HeldAs<Referred&> {
    using type = std::reference_wrapper<Referred>;
};
template <>
struct HeldAs<std::string_view> {
    using type = std::string;
};
template <class Parameter>
using ArgumentFor = Argument<typename HeldAs<Parameter>::type>;

// A result as a Value. The first form that fits is taken: an id's text, base64 for bytes, the
// constructor of Value, and last a to_json() for the type.
template <class T>
Value value_of(T result) {
    if constexpr (requires { crdt::to_text(result); }) {
        return Value(crdt::to_text(result));
    } else if constexpr (std::is_same_v<T, Bytes>) {
        return Value(json::base64(as_text(result)));
    } else if constexpr (std::is_constructible_v<Value, T>) {
        return Value(std::move(result));
    } else {
        return to_json(result);
    }
}

template <class T>
Result<std::string> reply_of(Result<T> result) {
    if (!result) return Failure(std::move(result).error());
    if constexpr (std::is_void_v<T>) {
        return json::write(true);
    } else if constexpr (std::is_same_v<T, JsonText>) {
        return std::move(result->text);
    } else {
        return json::write(value_of(std::move(*result)));
    }
}

// The reading of one call. run() takes one more argument in each step of its recursion and calls
// the function with all of them. A loop over a pack cannot stop between two arguments, and nothing
// may be read after the first failure.
template <class Function, class... Parameters>
struct Reading {
    Function function;
    EngineCall call;

    template <class... Read>
    Result<std::string> run(Read&... read) {
        if constexpr (sizeof...(Read) == sizeof...(Parameters)) {
            return reply_of(std::invoke(function, static_cast<Parameters>(std::move(read))...));
        } else {
            using Next = std::tuple_element_t<sizeof...(Read), std::tuple<Parameters...>>;
            auto next = TRY(ArgumentFor<Next>::read(call));
            return run(read..., next);
        }
    }
};

// The `run` and the number of names that a function with these parameters needs. A member function
// counts its view as the first parameter.
template <auto kFunction, class... Parameters>
struct Operation {
    static constexpr std::size_t kArguments =
        (std::size_t{ArgumentFor<Parameters>::kIsNamed} + ... + 0);
    static Result<std::string> run(EngineDocuments& documents, Map members,
                                   const EngineArguments& names) {
        return Reading<decltype(kFunction), Parameters...>{kFunction, {documents, members, names}}
            .run();
    }
};
template <auto kFunction>
struct OperationOf;
template <class T, class... Parameters, Result<T> (*kFunction)(Parameters...)>
struct OperationOf<kFunction> : Operation<kFunction, Parameters...> {};
template <class T, class View, class... Parameters, Result<T> (View::*kFunction)(Parameters...)>
struct OperationOf<kFunction> : Operation<kFunction, View, Parameters...> {};
template <class T, class View, class... Parameters,
          Result<T> (View::*kFunction)(Parameters...) const>
struct OperationOf<kFunction> : Operation<kFunction, View, Parameters...> {};

}  // namespace detail

// A row of the table of operations. Requires as many names as the function has named parameters,
// which the compiler checks. The row refers to `name` and `arguments` without copying: both are
// literals.
template <auto kFunction, class... Names>
consteval EngineOp engine_op(std::string_view name, Names... arguments) {
    static_assert(sizeof...(Names) == detail::OperationOf<kFunction>::kArguments);
    return {name, EngineArguments{arguments...}, detail::OperationOf<kFunction>::run};
}

}  // namespace quire::cli
