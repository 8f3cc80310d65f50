// Method: a row in the table of what a session serves. It names the method and the params that the
// function takes after the request; their types are those of its parameters (json/parameters.h).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/value.h"
#include "json/fault.h"
#include "json/parameters.h"

namespace quire::rpc {

// How many params a method has at most. Rows of a table have one type, so the names stand in an
// array of this size; the rest of it is "".
using ParamNames = std::array<std::string_view, 5>;

template <class Session, class Request>
struct Method {
    std::string_view name;
    ParamNames params;
    // Calls the function. Returns what is wrong in the params, if anything; then it did nothing.
    std::optional<json::Fault> (*serve)(Session&, const Request&, Map params, const ParamNames&);
};

namespace detail {
template <auto kFunction>
struct Serving;
template <class Session, class Request, class... Params,
          void (Session::*kFunction)(const Request&, Params...)>
struct Serving<kFunction> {
    using Row = Method<Session, Request>;
    static constexpr std::size_t kParams = sizeof...(Params);

    static std::optional<json::Fault> serve(Session& session, const Request& request, Map params,
                                            const ParamNames& names) {
        return serve(session, request, params, names, std::index_sequence_for<Params...>());
    }

private:
    template <std::size_t... at>
    static std::optional<json::Fault> serve(Session& session, const Request& request,
                                            [[maybe_unused]] Map& params,
                                            [[maybe_unused]] const ParamNames& names,
                                            std::index_sequence<at...>) {
        std::tuple<json::Read<Params>...> read{json::take_member<Params>(params, names[at])...};
        std::optional<json::Fault> fault;
        ((fault || std::get<at>(read) ? void() : void(fault = std::get<at>(read).error())), ...);
        if (!fault) (session.*kFunction)(request, *std::move(std::get<at>(read))...);
        return fault;
    }
};
}  // namespace detail

// The row of a member function of a session: void f(const Request&, params…).
template <auto kFunction, class... Names>
consteval auto method(std::string_view name, Names... params) {
    static_assert(sizeof...(Names) == detail::Serving<kFunction>::kParams);
    return typename detail::Serving<kFunction>::Row{name, ParamNames{params...},
                                                    detail::Serving<kFunction>::serve};
}

}  // namespace quire::rpc
