// The format is that of git-fast-import(1). Contents and messages are written with their length
// before them, and need no escape; paths are quoted, and characters that a person's line cannot
// hold are dropped.
//
//     feature done
//     commit refs/quire/main
//     mark :1
//     author NAME <EMAIL> SECONDS +0000
//     committer Quire <quire@localhost> SECONDS +0000
//     data LENGTH, the message; from PARENT; merge OTHER
//     M 100644 inline "PATH", data LENGTH, the bytes; D "PATH"
//     get-mark :1
//     done
#include "git/commit_stream.h"

#include "base/concat.h"

namespace quire::git {
namespace {

// A name or address as a line of a commit can hold it. A newline, < or > would end the name and let
// it write the rest of the header.
std::string plain(std::string_view word) {
    std::string out;
    for (const char c : word) {
        if (static_cast<unsigned char>(c) >= ' ' && c != '<' && c != '>' && c != '\x7f') out += c;
    }
    return out.empty() ? "unknown" : out;
}

std::string person(const Person& who) {
    return cat(plain(who.name), " <", plain(who.email), ">");
}

// Quoted, a path may have any byte but NUL.
std::string quoted(std::string_view path) {
    std::string out = "\"";
    for (const char c : path) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

}  // namespace

void CommitStream::data(std::string_view bytes) {
    text_ += cat("data ", bytes.size(), "\n", bytes, "\n");
}

void CommitStream::begin(const CommitHead& head) {
    // A stream that was cut off then fails instead of adding half of its commits: git wants "done"
    // at the end.
    if (commits_ == 0) text_ += "feature done\n";
    ++commits_;
    text_ += cat("commit ", ref_, "\nmark :", commits_, "\nauthor ", person(head.author), " ",
           head.at_s, " +0000\ncommitter Quire <quire@localhost> ", head.at_s, " +0000\n");
    data(head.message);
    if (!head.parent.empty()) text_ += cat("from ", head.parent, "\n");
    if (!head.merged.empty()) text_ += cat("merge ", head.merged, "\n");
}

void CommitStream::write(std::string_view path, std::string_view mode, std::string_view bytes) {
    text_ += cat("M ", mode, " inline ", quoted(path), "\n");
    data(bytes);
}

void CommitStream::link(std::string_view path, std::string_view mode, std::string_view id) {
    text_ += cat("M ", mode, " ", id, " ", quoted(path), "\n");
}

void CommitStream::remove(std::string_view path) {
    text_ += cat("D ", quoted(path), "\n");
}

std::string CommitStream::take() && {
    // The answer to get-mark is how the caller learns the ids; fast-import prints nothing else.
    for (std::size_t mark = 1; mark <= commits_; ++mark) text_ += cat("get-mark :", mark, "\n");
    text_ += "done\n";
    return std::move(text_);
}

}  // namespace quire::git
