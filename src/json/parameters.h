// Parameters: members of an object as the parameters of a function. Each is read as the type of
// its parameter (json/codec.h), so that the signature says what a request may hold.
//
// Members that no parameter names are passed over. Faults are found in the order of the parameters.
// O(members) for each.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/value.h"
#include "json/codec.h"
#include "json/fault.h"

namespace quire::json {

// Takes the place of a name: the parameter is a struct that reads all members by its fields. It is
// the last parameter, because it takes the object.
inline constexpr std::string_view kAllMembers = "";

// A null for an optional parameter: read as a value of its type, or taken for a member that is not
// there. Protocols differ in that.
enum class Null { is_a_value, is_absent };

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Reads the member `name`. Texts, objects and plain values are moved out of `object`. A
// std::optional is none where the member is absent.
template <class T>
Read<T> take_member(Map& object, std::string_view name, Null null = Null::is_a_value) {
    if constexpr (kIsOptional<T>) {
        const Value* const member = object.find(name);
        if (member == nullptr || (member->is_null() && null == Null::is_absent)) return T();
        return take_member<typename T::value_type>(object, name).map([](auto&& taken) {
            return T(std::move(taken));
        });
    } else {
        if (name == kAllMembers) return Codec<T>::read(Value(std::move(object)));
        Value* const member = object.find(name);
        if (member == nullptr) {
            const Read<T> wanted = Codec<T>::read(Value());
            return missing(std::string(name), wanted ? "" : wanted.error().wanted);
        }
        if constexpr (std::same_as<T, Value>) {
            return std::move(*member);
        } else if constexpr (std::same_as<T, Map>) {
            if (member->is_map()) return std::move(member->as_map());
        } else if constexpr (std::same_as<T, std::string>) {
            if (member->is_string()) return std::move(member->as_string());
        }
        Read<T> read = Codec<T>::read(*member);
        if (!read) return Unread(std::move(read).error().in_member(name));
        return read;
    }
}

}  // namespace quire::json
