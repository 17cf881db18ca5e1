//! Literals with all of their bytes, and what each of them may be.
//!
//! A text that repeats the beginning of a literal would be compared with each that begins so.
//! Here what they begin with is a tree, and each byte is looked at once.

use super::kinds::Kinds;

/// Prefix tree of the literals that follow a `<`, that follow a `[`, or that begin a line.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    /// Literals whose bytes are in `bytes`; both are empty after [`seal`](Self::seal).
    marks: Vec<Spelt>,
    bytes: Vec<u8>,
    nodes: Vec<Node>,
    /// Pairs of the kinds whose literals contain a node, and the kinds whose literals end at it; nodes with equal pairs
    /// share one.
    sets: Vec<(Kinds, Kinds)>,
    /// Bytes of all nodes, without the first byte of each.
    labels: Vec<u8>,
    /// Root entries of the tree, by the first byte of the literals.
    roots: Vec<Root>,
    /// Node numbers, from 1, by the second byte of literals; 0 where no literal has that byte.
    seconds: Vec<u16>,
}

/// Entry for the first byte of literals. Most texts are decided by their second byte.
#[derive(Debug, Clone, Copy, Default)]
struct Root {
    /// Number, from 1, of the node of this first byte; 0 if no literal begins with it.
    node: u16,
    /// Index in [`Prefixes::seconds`] of the entry for `lowest`, the lowest second byte; `count` entries begin there.
    start: u16,
    lowest: u8,
    count: u8,
    /// `true` if a literal consists of the first byte alone.
    is_whole: bool,
}

/// Kinds of the delimiters that a text may begin with, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    /// Kinds of the delimiters that may begin with the text's bytes; empty if no literal fits.
    pub(crate) kinds: Kinds,
    /// `true` if the text contains all bytes of a literal.
    pub(crate) is_whole: bool,
}

impl Fit {
    pub(crate) const NONE: Fit = Fit { kinds: Kinds::NONE, is_whole: false };
}

/// One spelling of a literal: the range of its bytes in `Prefixes::bytes`, and its kinds.
#[derive(Debug, Clone, Copy)]
struct Spelt {
    start: u32,
    length: u8,
    kinds: Kinds,
}

impl Spelt {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..usize::from(self.length)]
    }
}

/// Tree node: bytes that literals have in common after those of the parent node. Compact, since each configuration has
/// its own tree.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Index in [`Prefixes::labels`] of the node's bytes after its first one.
    label: u32,
    /// Index of the node's first child.
    child: u32,
    /// Index in [`Prefixes::sets`] of the node's pair of kinds.
    sets: u16,
    /// Number of the node's bytes after its first, less than [`LONGEST`]; `children` is the number of its child nodes.
    bytes: u8,
    children: u8,
    /// First byte of the node.
    lead: u8,
}

/// A node of the prefix tree under construction.
struct Grown<'m> {
    at: usize,
    /// Literals that contain the bytes up to this node.
    marks: &'m [Spelt],
    /// Number of bytes that the literals have in common up to the end of this node.
    depth: usize,
}

/// Maximum number of child nodes that are searched one by one; more are searched by bisection.
const FEW: usize = 8;

/// Maximum number of bytes of a literal that are compared; a text that equals so many is assumed to mean it.
const LONGEST: usize = 128;

impl Prefixes {
    /// Adds a delimiter without its first character, with `｜` also spelt `|`; it is cut off at the first `▁`, which has
    /// many spellings.
    pub(crate) fn add_mark(&mut self, mark: &str, kinds: Kinds) {
        let mut spelt = vec![Vec::new()];
        for c in mark.chars().skip(1) {
            match c {
                '▁' => break,
                '｜' => {
                    let plain: Vec<_> = spelt.iter().map(|bytes| [bytes, "|".as_bytes()].concat()).collect();
                    spelt.iter_mut().for_each(|bytes| bytes.extend("｜".as_bytes()));
                    spelt.extend(plain);
                }
                _ => spelt.iter_mut().for_each(|bytes| bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes())),
            }
        }
        spelt.iter().for_each(|bytes| self.add(bytes, kinds));
    }

    /// Adds a literal without the bracket that it begins with; bytes after the first [`LONGEST`] are dropped.
    pub(crate) fn add(&mut self, bytes: &[u8], kinds: Kinds) {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        if !bytes.is_empty() {
            self.marks.push(Spelt { start: self.bytes.len() as u32, length: bytes.len() as u8, kinds });
            self.bytes.extend(bytes);
        }
    }

    /// Adds the first bytes, at most three, of a lower-case word, in each combination of small letters and capitals.
    pub(crate) fn add_any_case(&mut self, word: &str, kinds: Kinds) {
        let lead = &word.as_bytes()[..word.len().min(ANY_CASE)];
        for capitals in 0..1 << lead.len() {
            let case = |(at, byte): (usize, &u8)| match capitals >> at & 1 {
                0 => *byte,
                _ => byte.to_ascii_uppercase(),
            };
            self.add(&lead.iter().enumerate().map(case).collect::<Vec<u8>>(), kinds);
        }
    }

    /// Builds the prefix tree from the literals that were added.
    pub(crate) fn seal(&mut self) {
        let (mut marks, mut bytes) = (std::mem::take(&mut self.marks), std::mem::take(&mut self.bytes));
        // While the tree is made, a parser holds more than ever after.
        bytes.shrink_to_fit();
        marks.sort_unstable_by_key(|mark| mark.of(&bytes));
        marks.dedup_by(|next, kept| {
            let is_same = next.of(&bytes) == kept.of(&bytes);
            kept.kinds = kept.kinds | next.kinds.only_if(is_same);
            is_same
        });
        self.nodes.reserve_exact(marks.len() + marks.len() / 2);
        self.roots = vec![Root::default(); 256];
        let mut open = Vec::new();
        for root in self.grow(&marks, &bytes, 0) {
            open.extend(self.grow_children(&root, &bytes));
            self.add_root(root.at);
        }
        while let Some(grown) = open.pop() {
            open.extend(self.grow_children(&grown, &bytes));
        }
        self.nodes.shrink_to_fit();
        self.labels.shrink_to_fit();
        self.seconds.shrink_to_fit();
    }

    /// Adds the child nodes of `grown` to the tree; returns them.
    fn grow_children<'m>(&mut self, grown: &Grown<'m>, bytes: &[u8]) -> Vec<Grown<'m>> {
        let child = self.nodes.len();
        let further = self.grow(grown.marks, bytes, grown.depth);
        let children = (self.nodes.len() - child) as u8;
        self.nodes[grown.at] = Node { child: child as u32, children, ..self.nodes[grown.at] };
        further
    }

    /// Adds the root entry of the node at index `at`, a first byte whose children are in the order of their bytes. No
    /// text contains the highest bytes, and the nodes of first and second bytes precede all others, so that the small
    /// integer types suffice.
    fn add_root(&mut self, at: usize) {
        let node = self.nodes[at];
        let children = &self.nodes[node.child as usize..][..usize::from(node.children)];
        let start = self.seconds.len();
        let lowest = children.first().map_or(0, |child| child.lead);
        for (child, number) in children.iter().zip(node.child + 1..) {
            self.seconds.resize(start + usize::from(child.lead - lowest), 0);
            self.seconds.push(number as u16);
        }
        let (count, is_whole) =
            ((self.seconds.len() - start) as u8, self.sets[usize::from(node.sets)].1 != Kinds::NONE);
        self.roots[usize::from(node.lead)] = Root { node: at as u16 + 1, start: start as u16, lowest, count, is_whole };
    }

    /// Adds a node for each byte that follows in `marks`, which are equal up to `depth`; returns the new nodes.
    fn grow<'m>(&mut self, marks: &'m [Spelt], bytes: &[u8], depth: usize) -> Vec<Grown<'m>> {
        let mut grown = Vec::new();
        for marks in marks.chunk_by(|mark, next| mark.of(bytes).get(depth) == next.of(bytes).get(depth)) {
            let ([first, ..], [.., last]) = (marks, marks) else { continue };
            let (first, last) = (first.of(bytes), last.of(bytes));
            let mut same = first.iter().zip(last).take_while(|(byte, other)| byte == other).count();
            // The first byte has a node of its own.
            if depth == 0 {
                same = same.min(1);
            }
            // These literals are over here.
            if same <= depth {
                continue;
            }
            let kinds = marks.iter().fold(Kinds::NONE, |kinds, mark| kinds | mark.kinds);
            let ended = marks.iter().take_while(|mark| usize::from(mark.length) == same);
            let ends = ended.fold(Kinds::NONE, |kinds, mark| kinds | mark.kinds);
            let sets = self.sets.iter().position(|sets| *sets == (kinds, ends)).unwrap_or(self.sets.len());
            if sets == self.sets.len() {
                self.sets.push((kinds, ends));
            }
            let label = self.labels.len() as u32;
            self.labels.extend(&first[depth + 1..same]);
            grown.push(Grown { at: self.nodes.len(), marks, depth: same });
            let bytes = (same - depth - 1) as u8;
            self.nodes.push(Node { label, child: 0, sets: sets as u16, bytes, children: 0, lead: first[depth] });
        }
        grown
    }

    /// Returns those of `kinds` whose literals `text` may begin with; all of them for an empty text.
    ///
    /// If one literal is a prefix of another, the kinds of both are included.
    #[inline(never)] // Most text is looked up once or not at all, so that what is kept in registers for more is lost.
    pub(crate) fn fit(&self, text: &[u8], kinds: Kinds) -> Fit {
        let [first, rest @ ..] = text else { return Fit { kinds, is_whole: false } };
        let Some(root) = self.roots.get(usize::from(*first)) else { return Fit::NONE };
        let (number, rest) = match rest {
            [second, rest @ ..] if !root.is_whole => {
                let at = second.wrapping_sub(root.lowest);
                let number = if at < root.count { self.seconds[usize::from(root.start) + usize::from(at)] } else { 0 };
                (number, rest)
            }
            _ => (root.node, rest),
        };
        match number.checked_sub(1) {
            Some(node) => self.fit_node(usize::from(node), rest, kinds),
            None => Fit::NONE,
        }
    }

    #[inline(never)] // Nearly no text comes here.
    fn fit_node(&self, at: usize, mut rest: &[u8], kinds: Kinds) -> Fit {
        let mut node = &self.nodes[at];
        loop {
            let (all, ends) = self.sets[usize::from(node.sets)];
            let found = all & kinds;
            if found == Kinds::NONE {
                return Fit::NONE;
            }
            let label = &self.labels[node.label as usize..][..usize::from(node.bytes)];
            // Most labels are short: a loop costs less than a call.
            for wanted in label {
                match rest {
                    [] => return Fit { kinds: found, is_whole: false },
                    [byte, after @ ..] if byte == wanted => rest = after,
                    _ => return Fit::NONE,
                }
            }
            if ends.has(kinds) {
                return Fit { kinds: found, is_whole: true };
            }
            let [next, after @ ..] = rest else { return Fit { kinds: found, is_whole: false } };
            let children = &self.nodes[node.child as usize..][..usize::from(node.children)];
            // They are in the order of their bytes; most nodes have few.
            let child = match children.len() > FEW {
                true => children.get(children.partition_point(|child| child.lead < *next)),
                false => children.iter().find(|child| child.lead >= *next),
            };
            let Some(child) = child.filter(|child| child.lead == *next) else { return Fit::NONE };
            (node, rest) = (child, after);
        }
    }
}

/// Number of leading letters that are compared of a word whose case does not matter.
const ANY_CASE: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const A: Kinds = Kinds::ELEMENT;
    const B: Kinds = Kinds::TOKEN;
    const C: Kinds = Kinds::CLOSER;

    fn may_be(kinds: Kinds) -> Fit {
        Fit { kinds, is_whole: false }
    }

    fn is(kinds: Kinds) -> Fit {
        Fit { kinds, is_whole: true }
    }

    #[test]
    fn a_text_fits_as_long_as_a_mark_may_begin_so() {
        let mut marks = Prefixes::default();
        for mark in ["<search_file>", "<search_page>", "<search>", "<｜end▁of▁turn｜>", "<a>", "<aé>"] {
            marks.add_mark(mark, A);
        }
        marks.add(b"th", A);
        marks.seal();
        for (text, found) in [
            ("", may_be(A)),
            ("s", may_be(A)),
            ("search", may_be(A)),
            ("search>", is(A)),
            ("search_", may_be(A)),
            ("search_<", Fit::NONE),
            ("search_files>", Fit::NONE),
            ("search_file>x", is(A)),
            ("searching", Fit::NONE),
            ("x", Fit::NONE),
            ("\0", Fit::NONE),
            ("\u{7f}", Fit::NONE),
            ("a", may_be(A)),
            ("a>", is(A)),
            ("aé", may_be(A)),
            ("aé>", is(A)),
            ("t", may_be(A)),
            ("thing", is(A)),
            ("tea", Fit::NONE),
            ("｜end", is(A)),
            ("|end of turn", is(A)),
            ("|en", may_be(A)),
            ("|e|", Fit::NONE),
        ] {
            assert_eq!(marks.fit(text.as_bytes(), A), found, "{text}");
        }
        assert_eq!(Prefixes::default().fit(b"x", A), Fit::NONE);

        let (mut long, name) = (Prefixes::default(), "x".repeat(300));
        long.add_mark(&format!("<{name}>"), A);
        long.seal();
        assert_eq!(long.fit(&name.as_bytes()[..LONGEST - 1], A), may_be(A));
        assert_eq!(long.fit(&name.as_bytes()[..LONGEST], A), is(A));
    }

    #[test]
    fn a_mark_tells_what_it_may_be_among_the_kinds_that_count() {
        let mut marks = Prefixes::default();
        for (mark, kinds) in [("<a>", A), ("<ab", B), ("<abc>", C), ("<ab", A), ("<｜x▁y", A), ("<｜x▁z", B)] {
            marks.add_mark(mark, kinds);
        }
        marks.seal();
        let all = A | B | C;
        for (text, kinds, found) in [
            ("a>", all, is(A)),
            ("a>", B | C, Fit::NONE),
            ("a", B | C, may_be(B | C)),
            ("abc>", all, is(all)),
            ("abd", all, is(all)),
            ("abd", C, Fit::NONE),
            ("abc", C, may_be(C)),
            ("abc>", C, is(C)),
            ("|x z", all, is(A | B)),
        ] {
            assert_eq!(marks.fit(text.as_bytes(), kinds), found, "{text}");
        }
    }

    #[test]
    fn marks_may_go_on_with_any_byte_of_a_text() {
        let texts: Vec<String> = ('\0'..='\u{10ffff}').step_by(61).map(|c| format!("<{c}a{c}")).collect();
        let mut marks = Prefixes::default();
        texts.iter().for_each(|text| marks.add_mark(text, A));
        marks.seal();
        for text in texts.iter().filter(|text| !text.contains(['｜', '▁'])) {
            assert_eq!(marks.fit(&text.as_bytes()[1..], A), is(A), "{text:?}");
            assert_eq!(marks.fit(&text.as_bytes()[1..text.len() - 1], A), may_be(A), "{text:?}");
        }
    }
}
