// Reversal: one revert() in progress (revert.h says what it means).
//
// Atoms that the spans inserted are deleted, in whatever copy they live on. Atoms that they deleted
// come back where they stood (placing.h), as copies that stand for them from then on (stand_ins.h).
// Each kind of container has a source of its own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crdt/doc/body.h"
#include "crdt/doc/order.h"
#include "crdt/undo/placing.h"
#include "crdt/undo/revert.h"
#include "crdt/undo/stand_ins.h"

namespace quire::crdt {

struct Placement;
struct TreeParts;

class Reversal {
public:
    // `spans` ascending, apart.
    Reversal(DocBody& body, std::vector<LvSpan> spans, RevertOptions options);

    // Takes back what the spans did to this container. Call it for parents first, so that a child
    // that returns with its parent is there when its turn comes.
    void take_back(Container& c);
    const Undone& undone() const { return undone_; }

private:
    // A stretch of atoms, and how often the spans deleted it. Replicas may have deleted a letter
    // more than once, and it comes back when all of its deletes are taken back.
    struct Stretch {
        Lv begin;
        Lv end;
        std::uint32_t times;
    };

    // --- reversal.cc ---
    // True if the spans hold the atom, and the end of the stretch for which that holds.
    std::pair<bool, Lv> holds(Lv lv) const;
    static std::vector<Stretch> counted(const std::vector<LvSpan>& spans);
    // The container itself, or else the copy that it goes on in. Null when neither is alive.
    Container* living(Container& c);

    // --- texts and lists (revert_sequence.cc) ---
    // Takes out what the spans inserted, then puts back what they deleted.
    void sequence(Container& c);
    // The first thing that the spans did to a letter.
    struct Touch {
        Lv op;
        bool shows;  // Else it deletes.
    };
    using FirstTouches = std::map<Lv, Touch>;  // The keys are the letters' originals.
    FirstTouches first_touches(const std::vector<LvSpan>& inserted,
                               const std::vector<Sequence::Target>& targets) const;
    bool showed_first(const FirstTouches& first, Lv atom) const;
    std::vector<Piece> missing(const std::vector<Stretch>& deleted, const FirstTouches& first);
    std::pair<std::uint32_t, Lv> erased_copy(Lv copy, const std::vector<Stretch>& deleted) const;
    void remove(const Stretch& stretch, const std::vector<Stretch>& deleted);
    // The pieces are of one container. `first` is the first of the spans' deletes.
    void restore(const std::vector<Piece>& pieces, Lv first);
    void insert(Container& to, std::uint32_t pos, const Piece& piece);

    // --- registers: the last write decides (revert_register.cc) ---
    // The spans' writes to one thing: the styles of one key in a text.
    struct Register {
        const Identities* names = nullptr;  // The copies; by default StandIns::atoms.
        Lv first = kNoLv;
        std::vector<Lv> writes;  // Their originals.
        Lv shown = kNoLv;        // The write that decides now.
    };
    const Identities& names(const Register& taken) const {
        return taken.names != nullptr ? *taken.names : stand_ins_.atoms;
    }
    void note(Register& taken, Lv write) const;
    bool is_ours(const Register& taken, Lv write) const;
    // Returns true if the write stood when the spans first wrote there, or is another peer's that
    // the spans outranked or did not know, and was not taken back since.
    bool stood_before(const Register& taken, Lv write) const;
    bool was_taken_back(const Register& taken, Lv write) const;
    bool ranks_below(Lv a, Lv b) const;  // In (lamport, peer).

    // --- maps (revert_map.cc) ---
    // The writes to a key, as people see them: what reverts wrote stands for one of them.
    struct ByRank {
        bool operator()(const MapState::Write& a, const MapState::Write& b) const {
            return a.loses_to(b);
        }
    };
    struct KeyPast {
        std::map<Lv, MapState::Write> writes;
        std::set<MapState::Write, ByRank> standing;  // Those that nobody has taken back.
        // The writes that the spans touched; true for one that stood before them.
        std::map<Lv, bool> stood_before;
        bool takes_back =
            false;  // True if the spans took writes back; false if they did them again.
    };
    // Each key that the spans wrote to.
    void map(Container& c);
    void map_key(Container& to, const std::string& key);
    KeyPast past_of(const Container& map, const std::string& key) const;
    std::vector<MapState::Write> ops_on(const Container& map, const std::string& key) const;
    Lv write_shown_by(Lv op) const;
    std::optional<MapState::Write> winner(const Container& map, const std::string& key) const;
    bool reads_the_same(const MapState::Write& now,
                        const std::optional<MapState::Write>& then) const;
    // A write is taken back without an op: `op`, which shows, says what `as` did; kNoLv: nothing.
    void settle(Lv op, Lv as);

    // --- styles (revert_style.cc) ---
    // A text's characters in stretches, and the anchors of styles that have both, by their starts.
    struct TextPart {
        enum class Kind { text, start, end };
        Kind kind;
        Lv lv;
        std::uint32_t len;
        bool visible = true;
    };
    // Characters begin .. end and a style, or kNoLv.
    struct Styled {
        std::size_t begin;
        std::size_t end;
        Lv style;
    };
    // Each key that the spans styled under, by stretches of the text as it is now.
    void styles(Container& c);
    enum class Gone { left_out, kept };  // Characters that were deleted.
    std::vector<TextPart> text_parts(Container& c, Gone gone = Gone::left_out);
    static std::vector<TextPart> single(const std::vector<TextPart>& parts);  // Characters.
    // Calls take(part, open) for each part of text, with the styles that it lies in: of each key
    // those by rank, the last one in force.
    using OpenStyles = std::map<std::string, std::vector<Lv>>;
    void for_each_styled(Container& c, const std::vector<TextPart>& parts,
                         const std::function<void(const TextPart&, const OpenStyles&)>& take);
    // Calls `decide` for each stretch of characters that lies in styles of this key, which come by
    // rank, the last one in force; the stretches for which it returns a style.
    using Decide = std::function<std::optional<Lv>(LvSpan part, const std::vector<Lv>& open)>;
    std::vector<Styled> decided(Container& c, const std::vector<TextPart>& parts,
                                const std::string& key, const Decide& decide);
    // The last of these styles that stood before the spans; kNoLv for none.
    Lv style_before(const Register& taken, const std::vector<Lv>& open) const;
    // The style that a character in these styles gets back; none where the spans did not style it.
    std::optional<Lv> style_back(const Register& taken, const std::vector<Lv>& open) const;
    // Does that for each character of `c`, deleted or not; the keys are their originals.
    using StylesBack = std::map<Lv, std::optional<Lv>>;
    StylesBack styles_back(Container& c, const std::string& key, const Register& taken);
    Value style_value(Lv style) const;
    Lv put_style(Container& to, const Styled& part, const std::string& key, Value value);
    // The style that the part had, in another place.
    void put_same(Container& to, const Styled& part, const std::string& key);
    void copy_styles(Container& from, Container& to);

    // --- styles of what came back (revert_restyle.cc) ---
    // The style that decides, by key.
    using Deciding = std::map<std::string, Lv>;
    // Pieces of the text `home` are in `to` again, as atoms from `made` on: gives them the styles
    // that they had before the spans, and those that others gave their place since.
    void restyle(Container& home, Container& to, const std::vector<Piece>& pieces,
                 const std::vector<Lv>& made, Lv first);
    bool same_style(Lv a, Lv b) const;

    // --- trees (revert_tree.cc) ---
    // A node, and where it stood before the spans.
    struct NodeStep {
        OpId node;
        Register taken = {};
        bool stood = false;               // Else it was not there.
        std::optional<OpId> parent = {};  // None: the root.
        Bytes position = {};
        Lv decided_by = kNoLv;
    };
    // Each node that the spans made, moved or erased, the one touched last first.
    void tree(Container& c);
    // The tree after every op.
    const TreeParts& tree_of(Container& c) const;
    bool put_back(Container& from, Container& to, const NodeStep& step,
                  const std::vector<OpId>& touched);
    void make_again(Container& from, Container& to, const NodeStep& step,
                    const std::vector<OpId>& touched);
    struct NodeCopy {
        OpId of;
        bool is_made;  // The tree made it, and its id names its map.
        std::optional<OpId> parent;
        Bytes position;
        Lv decided_by;  // The move that put it there; kNoLv: none did.
    };
    OpId copy_node(Container& to, NodeCopy node, int depth);
    OpId stands_for(OpId node) const;
    Lv tree_op(const Container& c, OpId node, const Placement& placement) const;
    void copy_tree(Container& from, Container& to, int depth);

    // --- movable lists and counters (revert_movable.cc) ---
    struct Element {
        bool made = false;
        std::uint32_t deleted = 0;  // How often.
        Lv slot = kNoLv;            // The slot that was deleted.
        Register moves;
        Register sets;
    };
    // Each element that the spans made, moved, set or deleted.
    void movable(Container& c);
    // An element that goes back to a slot, as a piece.
    struct MovableStep {
        Piece piece;
        Lv made;   // The element, where it is only moved; kNoLv: it is made anew,
        Lv value;  // with the value of this write.
    };
    struct MovableWayBack {
        std::vector<MovableStep> steps;       // In the list's order.
        std::vector<std::pair<Lv, Lv>> sets;  // Elements, and the writes whose values they get.
    };
    MovableWayBack way_back(Container& c, Container& to);
    void go_back(Container& c, Container& to, const MovableWayBack& way);
    Lv element_of(const Container& c, Lv slot) const;
    std::map<Lv, Element> touched_elements(Container& c);
    // The last insert or write of this kind to the element, in whatever copy of it, that stood
    // before the spans'.
    Lv before(const Container& c, Lv made, const Register& taken, RunKind kind) const;
    void copy_movable(Container& from, Container& to, int depth);
    void counter(Container& c);

    // --- child containers (revert_copy.cc) ---
    // Fills the new container with what the old one, dead or alive, holds now.
    void copy(Container& from, Container& to, int depth = 0);
    void copy_slot(const Slot& slot, Lv from, Lv to, int depth = 0);

    DocBody& body_;
    std::vector<LvSpan> spans_;
    RevertOptions options_;
    StandIns& stand_ins_;
    Lv began_;  // Atoms from here on were brought back.
    Undone undone_;
};

}  // namespace quire::crdt
