// IdScan: the id of a JSON-RPC message that is too long to be kept, found as its bytes go by.
//
// Whoever sent it waits for an answer under that id, wherever in the message it stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quire::rpc {

class IdScan {
public:
    // The next bytes of the message. O(bytes), and no more memory than the longest id.
    void feed(std::string_view bytes);
    // The member "id" of the object that the bytes so far are, as compact JSON: 7, "a"; the last
    // where there are several. "" where there is none, or they are no object.
    const std::string& id() const { return id_; }

private:
    void take(char byte);
    void take_in_string(char byte);
    void keep(char byte);
    void end_key();
    void end_member();

    std::string kept_;  // The key or the value of the outermost object that is going by.
    std::string id_;
    std::size_t depth_ = 0;
    bool begun_ = false;
    bool over_ = false;  // The object is closed, or never was one.
    bool in_string_ = false;
    bool escaped_ = false;
    bool in_value_ = false;  // Of a member of the outermost object.
    bool is_id_ = false;     // That member is the id.
};

}  // namespace quire::rpc
