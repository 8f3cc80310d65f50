// TextBody: a text. Characters and the anchors of styles are its entities; a TextState holds the
// characters as a rope, and the styles.
//
// The state lags behind the log until somebody reads it, so an edit costs no more than its op.
// Values and deltas count code points. A text with styles ("has anchors") tells positions among
// characters and positions among entities apart; in one without they are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "crdt/doc/sequence_body.h"

namespace quire::seq {
class Rope;
}  // namespace quire::seq

namespace quire::crdt {

class OpLog;
class TextState;
enum class Expand : std::uint8_t;

struct TextBody : SequenceBody, Childless {
    TextBody();
    TextBody(const TextBody&) = delete;
    TextBody& operator=(const TextBody&) = delete;
    ~TextBody();
    // Shares the text. O(items + anchors).
    void copy_from(const TextBody& other);

    bool has_anchors = false;
    Followed followed;
    std::unique_ptr<TextState> state;  // Never null.

    // --- reading ---
    // The state with every op of the log in. O(new ops · log n).
    TextState& latest(Site site);
    const seq::Rope& rope(Site site);
    // Returns true if the log gives the state again without the order of atoms.
    bool is_derived(Site site) const;
    // Gives up the state. Requires is_derived().
    void forget_state();
    // Sets the size by the log, all of whose ops are linear.
    void derive(Site site);
    // The rope at the version that readers see. A version's rope is worked out once.
    const seq::Rope& shown(Site site);
    // The rope at a version. O(history of the container).
    seq::Rope rope_at(Site site, const Past& at);
    // The text with its styles; a null `at` means after every op.
    TextDelta delta(Site site, const Past* at);
    Value value(Site site, int depth, const Past* at);

    // --- positions, as readers count them ---
    std::size_t shown_size(Site site);
    // The character at a position before the end.
    Lv anchor_at(Site site, std::size_t pos);
    // The atoms of the characters that readers see, in order: stretches of consecutive numbers.
    std::vector<LvSpan> shown_atoms(Site site);
    // The position where an atom stands or would stand, and true if it is there.
    std::pair<std::size_t, bool> place_of(Site site, Lv anchor);

    // --- differences ---
    TextDelta delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    TextDelta delta_between(Site site, const Past& a, const Past& b);
    TextDelta delta_from_nothing(Site site, const Past* at) { return delta(site, at); }

    // --- local ops; positions in entities ---
    void insert(Site site, std::uint32_t at, std::string_view utf8, std::uint32_t len);
    void erase(Site site, std::uint32_t at, std::uint32_t len);
    void insert_style(Site site, StyleStart style);

    // --- local ops; positions in code points, which must exist (text_styles.cc) ---
    // A style to give to characters; a null value takes the style away.
    struct Marking {
        std::size_t begin;
        std::size_t end;
        std::string_view key;
        Value value;
        Expand expand;
    };
    // Writes no op if the characters have the style already.
    void mark(Site site, Marking marking);
    // Erases characters. Anchors between them stay.
    void erase_characters(Site site, std::size_t at, std::size_t count);
    // Checks that apply_delta() would succeed. Errors: those of TextView::apply().
    Result<void> check_delta(Site site, const TextDelta& delta);
    void apply_delta(Site site, const TextDelta& delta);

    void check(Site site);

private:
    void read_off_order(const ContainerLog& log);
    void flush(Site site, Lv until);
    void flush_insert(const ContainerLog& log, LvSpan atoms, Lv until);
    // Has the state note what a pending transaction does to styles, for its commit to report.
    void note_changes(Site site);
    void apply_anchor(Site site, const Run& run, std::uint32_t pos);
    std::optional<seq::Rope> rope_before(Site site, const Past& at);
    TextDelta delta_at(Site site, const Heads& heads);
    TextDelta plain_delta_of(Site site, LvSpan span);
    TextDelta styled_delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    TextDelta delta_of_parts(Site site, const std::vector<Compared>& parts);
};

// The atom that starts the style which an atom ends; none if the log does not hold it.
std::optional<Lv> style_start(const OpLog& log, Lv end);
const StyleStart& style_at(const ContainerLog& log, Lv start);

}  // namespace quire::crdt
