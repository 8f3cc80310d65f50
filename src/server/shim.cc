// One thread, one poll() over three descriptors: the client's input, its output, and the kernel's
// socket. Lines are relayed unparsed; a scan of each finds its ids and methods, O(bytes) without
// building a value. Two books are kept so that nobody is left waiting when one side is lost:
//
//     client ── requests ──> [OpenRequests]    ──> kernel      lost kernel: answered or repeated
//            <── questions ── [KernelQuestions] <──             lost kernel: cancelled
//
// A request is open from the moment its line is written to the kernel as a whole: before that it
// cannot have been executed, and is simply sent to the next kernel. Each direction is held back
// while the other side leaves too much unread. attach() blocks this thread for as long as a kernel
// takes to start, so what is queued for the client is written first.
//
// A lost kernel leaves the lines to its successor in this order: a greeting that has no answer yet,
// or else a copy of the one that had, under an id of our own; then the requests that change
// nothing, as they were sent; then the lines that never left.
#include "server/shim.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/concat.h"
#include "json/json.h"
#include "mcp/repeatable.h"
#include "rpc/jsonrpc.h"
#include "rpc/line_channel.h"
#include "rpc/line_queue.h"
#include "rpc/line_splitter.h"
#include "rpc/message_scan.h"
#include "server/kernel_questions.h"
#include "server/open_requests.h"
#include "server/refused_line.h"

namespace quire::server {

namespace {

using Clock = std::chrono::steady_clock;

// A read takes as much as a pipe holds by default.
constexpr std::size_t kPipeReadBytes = 64U << 10;
// While one side leaves this much unread, the other side is not read.
constexpr std::size_t kHoldBytes = 8U << 20;
// The id of the `initialize` that greets a later kernel. Its answer is not for the client, which
// has had one.
constexpr const char* kReattachId = "quire-reattach";
constexpr std::size_t kRepeatedBytes = 64U << 10;  // Longer requests are not repeated.
// After an error a client may try the other era of the protocol, at once.
constexpr int kNextRequestMs = 1000;
constexpr int kMostLosses = 3;  // After so many kernels without an answer nothing is repeated.

// A member of a refusal, as our kernels write it. In a text its quotes would be escaped.
constexpr std::string_view kRemoved = R"("reason":"workspace_removed")";

Error workspace_exchanged() {
    return {
        Errc::unavailable, "workspace_removed",
        "the directory .quire was removed or exchanged while this client was attached, and the "
        "kernel that runs now has another store. What was acknowledged before is not in it; look "
        "for a directory quire-salvage-* in the workspace. Read again what you need, and make "
        "the call again"};
}

// The client's end, written without blocking whatever kind of file it is: the client may be waiting
// for us to read.
class Output {
public:
    explicit Output(int fd) : fd_(fd) {
        struct stat status = {};
        if (::fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
        // O_NONBLOCK is set on the open file description, which others may share. A pipe that is
        // opened anew has a description of its own.
        own_ = Fd(::open(cat("/proc/self/fd/", fd).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        if (own_) fd_ = own_.get();
    }

    int fd() const { return fd_; }

    // Returns false when nobody reads it any more.
    bool write(rpc::LineQueue& lines) const {
        return lines.write(fd_, [](std::string) {}) != rpc::LineQueue::Flow::broken;
    }

private:
    int fd_;
    Fd own_;
};

class Shim {
public:
    Shim(const ShimOptions& options, Attached attached)
        : options_(options),
          output_(options.output),
          from_client_(options.line_bytes),
          // An answer may be longer than any request: it can hold a text twice, structured and for
          // the model.
          from_kernel_(options.line_bytes * 4) {
        take(std::move(attached));
    }

    void run() {
        while (!is_done()) {
            std::array<pollfd, 3> wanted = {{{.fd = -1, .events = 0, .revents = 0},
                                             {.fd = -1, .events = 0, .revents = 0},
                                             {.fd = -1, .events = 0, .revents = 0}}};
            auto& [input, kernel, output] = wanted;
            if (!ended_at_ && to_kernel_.bytes() < kHoldBytes) input = {options_.input, POLLIN, 0};
            if (kernel_) {
                kernel.fd = kernel_.get();
                kernel.events =
                    static_cast<short>((to_client_.bytes() < kHoldBytes ? POLLIN : 0) |
                                       (to_kernel_.empty() || takes_no_more_ ? 0 : POLLOUT));
            }
            if (!to_client_.empty()) output = {output_.fd(), POLLOUT, 0};
            if (::poll(wanted.data(), wanted.size(), wait_ms()) < 0)
                continue;  // Interrupted by a signal.
            if (input.revents != 0) read_client();
            if ((kernel.revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_kernel();
            write_kernel();
            if (!output_.write(to_client_)) return;
        }
    }

private:
    // Uses this kernel from now on. What it refuses for its size does not reach it.
    void take(Attached attached) {
        // An older kernel names no store. Then there is nothing to compare, and nobody is warned.
        has_other_store_ = has_other_store_ ||
                           (!store_.empty() && !attached.store.empty() && store_ != attached.store);
        store_ = std::move(attached.store);
        kernel_ = std::move(attached.socket);
        repeatable_ = mcp::Repeatable(std::move(attached.reads));
        message_bytes_ = std::min(options_.line_bytes, attached.message_bytes);
        from_client_.set_bound(message_bytes_);
        takes_no_more_ = false;
    }

    // Over when the input has ended and nothing is owed to either side, or when the answers that
    // are still owed take longer than drain_ms.
    bool is_done() const {
        if (!ended_at_) return false;
        if (to_kernel_.empty() && !open_.any_awaited() && to_client_.empty()) return true;
        return Clock::now() >= *ended_at_ + std::chrono::milliseconds(options_.drain_ms);
    }

    int wait_ms() const {
        if (!ended_at_) return -1;
        const auto left = *ended_at_ + std::chrono::milliseconds(options_.drain_ms) - Clock::now();
        return static_cast<int>(
            std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    }

    void read_client() {
        // The input may be a blocking file. This is called after poll() found it readable, so one
        // read() returns at once; a second one might not.
        const ssize_t length = ::read(options_.input, buffer_.data(), buffer_.size());
        if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (length <= 0) {
            ended_at_ = Clock::now();
            take_from_client("\n");  // A last line may come without its newline.
            for (std::string& answer : questions_.decline()) to_kernel_.push(std::move(answer));
            return;
        }
        take_from_client(std::string_view(buffer_.data(), static_cast<std::size_t>(length)));
    }

    void take_from_client(std::string_view bytes) {
        from_client_.feed(
            bytes,
            [&](std::string line) {
                if (!tells_of_removal(line)) to_kernel_.push(std::move(line));
            },
            [&](const std::string& id) {
                to_client_.push(
                    json::write(rpc::error(rpc::id_from(id), rpc::too_long(message_bytes_))));
            });
    }

    void write_kernel() {
        while (!to_kernel_.empty()) {
            if (!kernel_ && !attach_again()) return;
            if (takes_no_more_) return;
            const auto flow = to_kernel_.write(
                kernel_.get(), [this](std::string line) { note_sent(std::move(line)); });
            if (flow == rpc::LineQueue::Flow::blocked) return;
            if (flow == rpc::LineQueue::Flow::drained) continue;
            // The kernel is ending or gone. It may still send answers, and is lost when these end.
            takes_no_more_ = true;
            read_kernel();
        }
    }

    // A request counts as open once its whole line is sent: the kernel cannot have run it before.
    void note_sent(std::string line) {
        line.pop_back();
        std::vector<rpc::MessageHead> heads = rpc::scan_messages(line);
        // The client does not wait for the answer to our own greeting of a later kernel.
        std::erase_if(heads, [&](const rpc::MessageHead& head) { return head.id == reattach_id_; });
        const std::size_t first = line.find_first_not_of(" \t\r");
        const bool is_batch = first != std::string::npos && line[first] == '[';
        open_.add(heads, is_batch);
        if (!is_batch && heads.size() == 1 && line.size() <= kRepeatedBytes &&
            repeatable_.covers(heads.front()))
            open_.may_repeat(heads.front().id, line);
        for (const rpc::MessageHead& head : heads) {
            questions_.remove(head);
            if (head.method == "initialize") {
                initialize_ = line;
                initialize_id_ = head.id;
            }
            if (head.method == "notifications/initialized") initialized_ = line;
        }
    }

    void read_kernel() {
        while (kernel_) {
            const ssize_t length =
                ::recv(kernel_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
            if (length < 0 && errno == EINTR) continue;
            if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
            if (length <= 0) return lose_kernel();
            from_kernel_.feed(
                std::string_view(buffer_.data(), static_cast<std::size_t>(length)),
                [&](std::string line) { take_from_kernel(std::move(line)); },
                [](const std::string&) {});
            // A full buffer may be the first of many: the client gets it before the next is read.
            if (static_cast<std::size_t>(length) < buffer_.size() ||
                to_client_.bytes() >= kHoldBytes)
                return;
        }
    }

    void take_from_kernel(std::string line) {
        for (const rpc::MessageHead& head : rpc::scan_messages(line)) {
            if (!head.method.empty()) {
                questions_.add(head);
                continue;
            }
            if (head.id == reattach_id_) return;
            losses_ = 0;
            if (line.find(kRemoved) != std::string::npos) knows_of_removal_ = true;
            open_.remove(head.id);
            if (head.id == initialize_id_) initialize_answered_ = true;
        }
        to_client_.push(std::move(line));
        // A client that has closed its end answers no question any more.
        if (!ended_at_) return;
        for (std::string& answer : questions_.decline()) to_kernel_.push(std::move(answer));
    }

    // The kernel is gone. A line of which it has a part is sent whole to the next kernel; its
    // answers that were cut off are dropped. The client gets an answer to each request that is not
    // repeated.
    void lose_kernel() {
        kernel_.reset();
        from_kernel_ = rpc::LineSplitter(options_.line_bytes * 4);
        to_kernel_.rewind();
        // An unanswered initialize is repeated: it changes nothing, and without its answer the
        // client has no server.
        const bool greet_again =
            !initialize_.empty() && !initialize_answered_ && greetings_left_-- > 0;
        if (greet_again) open_.remove(initialize_id_);
        std::vector<std::string> again;
        if (++losses_ <= kMostLosses) again = open_.take_repeatable();
        for (std::string& notice : questions_.cancel()) to_client_.push(std::move(notice));
        for (std::string& answer : open_.give_up()) to_client_.push(std::move(answer));
        for (; !again.empty(); again.pop_back()) to_kernel_.push_front(std::move(again.back()));
        if (greet_again) to_kernel_.push_front(std::exchange(initialize_, {}));
    }

    // Finds a kernel for the lines that wait. Answers to questions of the lost kernel are dropped
    // first, because they alone are no reason to start one. Where none can be had, each line is
    // refused, and the next line of the client tries again. Returns false when nothing is left to
    // send, or no kernel is there.
    bool attach_again() {
        drop_late_answers();
        if (to_kernel_.empty()) return false;
        // The client gets the answers to its open calls before it waits for a kernel to start.
        output_.write(to_client_);
        Result<Attached> attached = attach(options_.attach);
        if (!attached) {
            while (!to_kernel_.empty()) refuse(to_kernel_.pop(), attached.error());
            return false;
        }
        take(std::move(*attached));
        std::vector<std::string> waiting;
        while (!to_kernel_.empty()) waiting.push_back(to_kernel_.pop());
        for (std::string& line : waiting) {
            if (!tells_of_removal(line)) to_kernel_.push(std::move(line));
        }
        if (initialize_.empty() || !initialize_answered_) return true;
        Result<Value> again = json::parse(initialize_);
        if (!again || !again->is_map()) return true;
        again->as_map().set("id", kReattachId);
        if (!initialized_.empty()) to_kernel_.push_front(initialized_);
        to_kernel_.push_front(json::write(*again));
        return true;
    }

    // A client whose workspace was removed under it would go on as if what it wrote were still there.
    // So its first call on another store is refused, and says so. The caller whose call found the
    // removal was told by the kernel that ended.
    bool tells_of_removal(const std::string& line) {
        if (!has_other_store_) return false;
        const std::vector<rpc::MessageHead> heads = rpc::scan_messages(line);
        const bool is_call = std::any_of(heads.begin(), heads.end(), [](const auto& head) {
            return head.method == "tools/call" || head.method == "resources/read";
        });
        if (!is_call) return false;
        has_other_store_ = false;
        if (std::exchange(knows_of_removal_, false)) return false;
        refuse(line, workspace_exchanged());
        return true;
    }

    void drop_late_answers() {
        std::vector<std::string> kept;
        while (!to_kernel_.empty()) {
            std::string line = to_kernel_.pop();
            if (!questions_.are_late(rpc::scan_messages(line))) kept.push_back(std::move(line));
        }
        for (std::string& line : kept) to_kernel_.push(std::move(line));
    }

    // Answers a line that never left this process: nothing of it was done, for certain.
    void refuse(const std::string& line, Error error) {
        std::string answer = refused_line(line, std::move(error).within("nothing was done"));
        if (!answer.empty()) to_client_.push(std::move(answer));
    }

    const ShimOptions& options_;
    Output output_;
    Fd kernel_;
    std::string store_;              // The kernel's, by Attached::store.
    bool has_other_store_ = false;   // It is another one than before, and the client does not know.
    bool knows_of_removal_ = false;  // The client was answered that its workspace was removed.
    bool takes_no_more_ = false;     // The kernel reads nothing any more; answers may still come.
    std::size_t message_bytes_ = 0;  // The longest line that it takes.
    mcp::Repeatable repeatable_;
    int losses_ = 0;
    rpc::LineSplitter from_client_;
    rpc::LineSplitter from_kernel_;
    rpc::LineQueue to_kernel_;
    rpc::LineQueue to_client_;
    OpenRequests open_;
    KernelQuestions questions_;
    // The client's opening lines, for the next kernel.
    std::string initialize_, initialized_;
    std::string initialize_id_;
    bool initialize_answered_ = false;
    int greetings_left_ = 3;  // Bounds the kernels that may die of this initialize.
    const std::string reattach_id_ = json::write(kReattachId);
    std::optional<Clock::time_point> ended_at_;
    std::vector<char> buffer_ = std::vector<char>(kPipeReadBytes);
};

// The client would see no more than the end of its server, and people who look at the client not
// even that. So its requests are answered with the error: initialize, or in the later era of the
// protocol whatever it asks first. A client that tries one era after the other sends two.
void answer_with(const Error& error, const ShimOptions& options) {
    rpc::LineChannel channel(options.input, options.output, options.line_bytes);
    bool answered = false;
    for (bool greeted = false; !greeted;) {
        const auto line = channel.read(answered ? kNextRequestMs : options.drain_ms);
        if (!line || !*line) return;
        for (const rpc::MessageHead& head : rpc::scan_messages(**line)) {
            if (head.method.empty() || head.id.empty()) continue;
            rpc::LineQueue answer;
            const Value data = rpc::error_value(error);
            answer.push(
                json::write(rpc::error(rpc::id_from(head.id), {rpc::Code::internal_error,
                                                               error.message(), data.as_map()})));
            if (!channel.write(answer)) return;
            answered = true;
            greeted = greeted || head.method == "initialize";
        }
    }
}

}  // namespace

Result<void> run_shim(const ShimOptions& options) {
    if (options.ends_on_signals) {
        for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { ::_exit(0); });
    }
    std::signal(SIGPIPE, SIG_IGN);
    Result<Attached> attached = attach(options.attach);
    if (!attached) {
        answer_with(attached.error(), options);
        return Failure(std::move(attached).error());
    }
    Shim(options, std::move(*attached)).run();
    return {};
}

}  // namespace quire::server
