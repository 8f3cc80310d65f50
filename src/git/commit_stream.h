// CommitStream: commits in the form that `git fast-import` reads. Pure.
//
// A stream is one text that is built in memory and given to git whole, so the caller bounds how
// much it adds (bytes()). Names, paths and messages may come from files and agents; they are
// escaped or cleaned here, so that none of them can begin a command of its own in the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quire::git {

struct Person {
    std::string name;
    std::string email;
};

// A commit without its tree. Ids are in hexadecimal.
struct CommitHead {
    Person author;
    std::int64_t at_s = 0;  // Unix time, UTC.
    std::string message;
    std::string parent = {};  // "" for the commit before it in the stream, or for none.
    std::string merged = {};  // A second parent; "" for none.
};

// All commits of a stream are on one ref. The tree of a commit is its parent's, changed by the
// calls that follow begin().
class CommitStream {
public:
    explicit CommitStream(std::string ref) : ref_(std::move(ref)) {}

    void begin(const CommitHead& head);
    // Gives a path the bytes, or an object that is in the repository.
    void write(std::string_view path, std::string_view mode, std::string_view bytes);
    void link(std::string_view path, std::string_view mode, std::string_view id);
    void remove(std::string_view path);

    const std::string& ref() const { return ref_; }
    std::size_t commits() const { return commits_; }
    std::size_t bytes() const { return text_.size(); }
    // The whole stream, which ends here: git then prints the id of each commit on a line.
    std::string take() &&;

private:
    void data(std::string_view bytes);

    std::string ref_;
    std::string text_;
    std::size_t commits_ = 0;
};

}  // namespace quire::git
