#include "edits/line_table.h"

#include <algorithm>
#include <unordered_map>

#include "edits/lines.h"

namespace quire::edits {

std::string_view compared_part(std::string_view line, LineLikeness likeness) {
    if (likeness == LineLikeness::exact) return line;
    const std::size_t last = line.find_last_not_of(" \t\r");
    return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

LineTable::LineTable(const seq::Rope& text) : text_(text.str()) {
    starts_.reserve(text.lines().n + 1);
    for (std::size_t at = 0; at < text_.size();) {
        starts_.push_back(at);
        const std::size_t newline = text_.find('\n', at);
        at = newline == std::string::npos ? text_.size() : newline + 1;
    }
    starts_.push_back(text_.size());
}

std::string_view LineTable::line(std::size_t line) const {
    return without_terminator(bytes(line, line + 1));
}

namespace {

// The automaton. Node 0 is the root, symbol 0 a line that no sequence has.
class SequenceAutomaton {
public:
    using Node = std::uint32_t;
    using Symbol = std::uint32_t;

    SequenceAutomaton() { add_node(0, 0, 0); }

    // The node of a sequence, which is the end of it.
    Node add(std::span<const Symbol> sequence, std::size_t most) {
        Node node = 0;
        for (const Symbol symbol : sequence) {
            const auto [edge, is_new] =
                edges_.try_emplace(key(node, symbol), static_cast<Node>(nodes_.size()));
            if (is_new) add_node(node, symbol, nodes_[node].depth + 1);
            node = edge->second;
        }
        nodes_[node].most = std::max(nodes_[node].most, most);
        return node;
    }

    // Sets the failure and output links. Breadth first, by a list of the nodes sorted by depth.
    void link() {
        std::vector<Node> by_depth(nodes_.size());
        for (Node i = 0; i < by_depth.size(); ++i) by_depth[i] = i;
        std::stable_sort(by_depth.begin(), by_depth.end(),
                         [&](Node a, Node b) { return nodes_[a].depth < nodes_[b].depth; });
        for (const Node node : by_depth) {
            State& state = nodes_[node];
            if (state.depth > 1) state.fail = step(nodes_[state.parent].fail, state.symbol);
            const State& fail = nodes_[state.fail];
            if (node != 0) state.output = fail.most > 0 ? state.fail : fail.output;
        }
    }

    Node step(Node node, Symbol symbol) const {
        for (;;) {
            const auto edge = edges_.find(key(node, symbol));
            if (edge != edges_.end()) return edge->second;
            if (node == 0) return 0;
            node = nodes_[node].fail;
        }
    }

    // Notes every sequence that ends with the line before `end`.
    void note(Node node, std::size_t end) {
        if (nodes_[node].most == 0) node = nodes_[node].output;
        for (node = wanting(node); node != 0; node = wanting(nodes_[node].output)) {
            State& state = nodes_[node];
            state.places.push_back(static_cast<std::uint32_t>(end - state.depth));
        }
    }
    const std::vector<std::uint32_t>& places(Node node) const { return nodes_[node].places; }

private:
    struct State {
        Node parent = 0;
        Symbol symbol = 0;
        std::uint32_t depth = 0;
        Node fail = 0;
        Node output = 0;       // The longest suffix that is a sequence; a shorter one, once full.
        std::size_t most = 0;  // 0: no sequence ends here.
        std::vector<std::uint32_t> places = {};
    };
    static std::uint64_t key(Node node, Symbol symbol) {
        return (std::uint64_t{node} << 32U) | symbol;
    }
    void add_node(Node parent, Symbol symbol, std::uint32_t depth) {
        nodes_.push_back({parent, symbol, depth});
    }
    bool is_full(Node node) const {
        return node != 0 && nodes_[node].places.size() >= nodes_[node].most;
    }
    // The node, or the first on its chain of outputs that wants more places. Full ones are left out
    // of the chain for good.
    Node wanting(Node node) {
        Node found = node;
        while (is_full(found)) found = nodes_[found].output;
        while (is_full(node)) {
            const Node next = nodes_[node].output;
            nodes_[node].output = found;
            node = next;
        }
        return found;
    }

    std::vector<State> nodes_;
    std::unordered_map<std::uint64_t, Node> edges_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> find_sequences(const LineTable& text,
                                                       std::span<const SoughtLines> sought,
                                                       LineLikeness likeness) {
    std::unordered_map<std::string_view, SequenceAutomaton::Symbol> symbols;
    SequenceAutomaton automaton;
    std::vector<SequenceAutomaton::Node> ends;
    std::vector<SequenceAutomaton::Symbol> sequence;
    for (const SoughtLines& each : sought) {
        sequence.clear();
        for (const std::string_view line : each.lines) {
            const auto next = static_cast<SequenceAutomaton::Symbol>(symbols.size() + 1);
            sequence.push_back(
                symbols.try_emplace(compared_part(line, likeness), next).first->second);
        }
        ends.push_back(automaton.add(sequence, each.most));
    }
    automaton.link();
    SequenceAutomaton::Node node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto symbol = symbols.find(compared_part(text.line(i), likeness));
        if (symbol == symbols.end()) {
            node = 0;
            continue;
        }
        node = automaton.step(node, symbol->second);
        automaton.note(node, i + 1);
    }
    std::vector<std::vector<std::uint32_t>> out;
    out.reserve(ends.size());
    for (const SequenceAutomaton::Node end : ends) out.push_back(automaton.places(end));
    return out;
}

}  // namespace quire::edits
