// Two documents in two threads, kept the same over a socket. Each end sends what it knows; the
// other answers with what that lacks; from then on every commit is sent when it is made. The bytes
// are Loro's, so either end could as well be a browser's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <unistd.h>

#include "codec/small.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"

using namespace quire;
using crdt::ContainerId;
using crdt::ContainerKind;

// Letters over a stream: four bytes of length, then the letter.
class Line {
public:
    explicit Line(int fd) : fd_(fd) {}
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line() { ::close(fd_); }

    void send(const Bytes& letter) const {
        const auto size = static_cast<std::uint32_t>(letter.size());
        write_all(&size, sizeof size);
        write_all(letter.data(), letter.size());
    }
    Bytes receive() const {
        std::uint32_t size = 0;
        read_all(&size, sizeof size);
        Bytes letter(size);
        read_all(letter.data(), size);
        return letter;
    }

private:
    void write_all(const void* data, std::size_t size) const {
        const auto* from = static_cast<const char*>(data);
        while (size > 0) {
            const ssize_t n = ::write(fd_, from, size);
            if (n <= 0) std::abort();
            from += n;
            size -= static_cast<std::size_t>(n);
        }
    }
    void read_all(void* data, std::size_t size) const {
        auto* to = static_cast<char*>(data);
        while (size > 0) {
            const ssize_t n = ::read(fd_, to, size);
            if (n <= 0) std::abort();
            to += n;
            size -= static_cast<std::size_t>(n);
        }
    }
    int fd_;
};

// A document is its thread's own; only bytes go from one to the other.
static std::string keep_in_step(crdt::PeerId peer, int fd, const std::string& name, int edits) {
    const Line line(fd);
    crdt::Doc doc(peer);
    const crdt::Handle log = doc.open(ContainerId::root("log", ContainerKind::list));
    const auto write = [&](int n) {
        if (!doc.list(log).insert(doc.list(log).size(), name + " " + std::to_string(n)))
            std::abort();
        return doc.commit();
    };
    const auto take = [&](const Bytes& letter) {
        auto changes = codec::decode_updates(letter);
        if (!changes || !doc.import(*std::move(changes))) std::abort();
    };

    // Each brings something that the other has not heard of.
    write(0);
    line.send(codec::encode_version(doc.version()));
    const auto theirs = codec::decode_version(line.receive());
    if (!theirs) std::abort();
    line.send(codec::encode_updates(doc.changes_since(*theirs)));
    take(line.receive());

    for (int n = 1; n <= edits; ++n) {
        const crdt::Commit commit = write(n);
        line.send(codec::encode_updates(doc.changes_in(std::span(&commit.span, 1))));
        take(line.receive());
    }
    std::string text;
    const Value value = doc.value(log);
    for (const Value& entry : value.as_list()) text += entry.as_string() + "\n";
    return text;
}

int main() {
    constexpr int kEdits = 3;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return EXIT_FAILURE;
    std::string ada;
    std::string bo;
    std::thread first([&] { ada = keep_in_step(1, ends[0], "ada", kEdits); });
    std::thread second([&] { bo = keep_in_step(2, ends[1], "bo", kEdits); });
    first.join();
    second.join();

    std::printf("%s", ada.c_str());
    std::size_t entries = 0;
    for (const char c : ada) entries += c == '\n' ? 1 : 0;
    const bool same = ada == bo && entries == 2 * (kEdits + 1);
    if (!same) std::fprintf(stderr, "they differ:\n%s", bo.c_str());
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
