//! Marks with all of their bytes: what tells at the first byte that fits none of them.
//!
//! Two bytes tell nearly all texts apart ([`Leads`](super::triggers::Leads)). A text that
//! repeats the beginning of a mark passes them each time, and would be compared with each
//! mark that begins so. Here what marks begin with is a tree, and each byte is looked at once.

use crate::json::window::{Match, No, Undecided};

/// Marks that begin with the same byte, which is not looked at.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    /// The marks and their bytes, until they are [sealed](Self::seal).
    marks: Vec<Spelt>,
    bytes: Vec<u8>,
    nodes: Vec<Node>,
    /// What the nodes stand for.
    labels: Vec<u8>,
    /// By first byte, the number of the node that it begins, from 1; 0 where none does.
    roots: Vec<u16>,
}

/// Whose a mark is, by bit, for those who ask for it.
pub(crate) type Owners = u8;

/// A mark in one of its spellings: where what is looked at of it stands, and whose it is.
#[derive(Debug, Clone, Copy)]
struct Spelt {
    start: u32,
    length: u8,
    owners: Owners,
}

impl Spelt {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..usize::from(self.length)]
    }
}

/// Bytes that marks have in common behind those of the node before it. A tree is kept for each
/// configuration, so that it is small.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Where the bytes behind the first begin in [`Prefixes::labels`].
    label: u32,
    /// The first of the nodes behind it.
    child: u32,
    /// How many bytes and nodes these are: at most [`LONGEST`], and one for each byte that a
    /// text can hold. A mark ends where there are no nodes.
    bytes: u8,
    children: u8,
    /// The first byte.
    lead: u8,
    /// Of a mark that ends here, and of all that begin with it.
    owners: Owners,
}

/// A node, while the tree is made.
struct Grown<'m> {
    at: usize,
    /// The marks that have it.
    marks: &'m [Spelt],
    /// How far they are alike.
    depth: usize,
}

/// So many nodes are looked at one by one.
const FEW: usize = 8;

/// Bytes of a mark that are looked at: no text goes further with a mark that it does not mean.
const LONGEST: usize = 128;

impl Prefixes {
    /// Adds a mark, in all spellings that special tokens have. Where one has many, the bytes
    /// before it are enough.
    pub(crate) fn add_mark(&mut self, mark: &str, owners: Owners) {
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
        spelt.iter().for_each(|bytes| self.add(bytes, owners));
    }

    /// Adds all marks that have these bytes behind their first one.
    pub(crate) fn add_lead(&mut self, lead: &[u8]) {
        self.add(lead, 0);
    }

    fn add(&mut self, bytes: &[u8], owners: Owners) {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        if !bytes.is_empty() {
            self.marks.push(Spelt { start: self.bytes.len() as u32, length: bytes.len() as u8, owners });
            self.bytes.extend(bytes);
        }
    }

    /// All marks are added: makes the tree of them.
    pub(crate) fn seal(&mut self) {
        let (mut marks, mut bytes) = (std::mem::take(&mut self.marks), std::mem::take(&mut self.bytes));
        // While the tree is made, a parser holds more than ever after.
        bytes.shrink_to_fit();
        marks.sort_unstable_by_key(|mark| mark.of(&bytes));
        // What begins with another mark is told by that.
        marks.dedup_by(|next, kept| {
            let is_told = next.of(&bytes).starts_with(kept.of(&bytes));
            kept.owners |= if is_told { next.owners } else { 0 };
            is_told
        });
        let mut open = self.grow(&marks, &bytes, 0);
        self.roots = vec![0; 256];
        for Grown { at, marks, .. } in &open {
            self.roots[usize::from(marks[0].of(&bytes)[0])] = *at as u16 + 1;
        }
        while let Some(Grown { at, marks, depth }) = open.pop() {
            let child = self.nodes.len();
            open.extend(self.grow(marks, &bytes, depth));
            let children = (self.nodes.len() - child) as u8;
            self.nodes[at] = Node { child: child as u32, children, ..self.nodes[at] };
        }
        self.nodes.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    /// Adds the nodes of marks that are alike up to `depth` and go on there.
    fn grow<'m>(&mut self, marks: &'m [Spelt], bytes: &[u8], depth: usize) -> Vec<Grown<'m>> {
        let mut grown = Vec::new();
        for marks in marks.chunk_by(|mark, next| mark.of(bytes).get(depth) == next.of(bytes).get(depth)) {
            let ([first, ..], [.., last]) = (marks, marks) else { continue };
            let (first, last, owners) = (first.of(bytes), last.of(bytes), first.owners);
            let same = first.iter().zip(last).take_while(|(byte, other)| byte == other).count();
            if same <= depth {
                continue;
            }
            let label = self.labels.len() as u32;
            self.labels.extend(&first[depth + 1..same]);
            grown.push(Grown { at: self.nodes.len(), marks, depth: same });
            let bytes = (same - depth - 1) as u8;
            self.nodes.push(Node { label, child: 0, bytes, children: 0, lead: first[depth], owners });
        }
        grown
    }

    /// Whether a text with these bytes behind its first one begins with a mark, and whose marks do.
    pub(crate) fn fit(&self, behind: &[u8]) -> Match<Owners> {
        let Some(&first) = behind.first() else { return Err(Undecided) };
        let Some(root) = self.roots.get(usize::from(first)).and_then(|root| root.checked_sub(1)) else {
            return Err(No);
        };
        let (mut node, mut rest) = (&self.nodes[usize::from(root)], &behind[1..]);
        loop {
            let label = &self.labels[node.label as usize..][..usize::from(node.bytes)];
            let same = label.iter().zip(rest).take_while(|(byte, found)| byte == found).count();
            if same < label.len() {
                return if same == rest.len() { Err(Undecided) } else { Err(No) };
            }
            if node.children == 0 {
                return Ok(node.owners);
            }
            let [next, behind @ ..] = &rest[same..] else { return Err(Undecided) };
            let children = &self.nodes[node.child as usize..][..usize::from(node.children)];
            // They are in the order of their bytes; most nodes have few.
            let from = if children.len() > FEW { children.partition_point(|child| child.lead < *next) } else { 0 };
            let Some(child) = children[from..].iter().take(FEW).find(|child| child.lead == *next) else {
                return Err(No);
            };
            (node, rest) = (child, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_as_long_as_a_mark_may_begin_so() {
        let mut marks = Prefixes::default();
        for mark in ["<search_file>", "<search_page>", "<search>", "<｜end▁of▁turn｜>", "<a>", "<aé>"] {
            marks.add_mark(mark, 0);
        }
        marks.add_lead(b"th");
        marks.seal();
        for (text, found) in [
            ("", Err(Undecided)),
            ("s", Err(Undecided)),
            ("search", Err(Undecided)),
            ("search>", Ok(0)),
            ("search_", Err(Undecided)),
            ("search_<", Err(No)),
            ("search_files>", Err(No)),
            ("search_file>x", Ok(0)),
            ("searching", Err(No)),
            ("x", Err(No)),
            ("\0", Err(No)),
            ("\u{7f}", Err(No)),
            ("a", Err(Undecided)),
            ("a>", Ok(0)),
            ("aé", Err(Undecided)),
            ("aé>", Ok(0)),
            ("t", Err(Undecided)),
            ("thing", Ok(0)),
            ("tea", Err(No)),
            ("｜end", Ok(0)),
            ("|end of turn", Ok(0)),
            ("|en", Err(Undecided)),
            ("|e|", Err(No)),
        ] {
            assert_eq!(marks.fit(text.as_bytes()), found, "{text}");
        }
        assert_eq!(Prefixes::default().fit(b"x"), Err(No));

        let (mut long, name) = (Prefixes::default(), "x".repeat(300));
        long.add_mark(&format!("<{name}>"), 0);
        long.seal();
        assert_eq!(long.fit(&name.as_bytes()[..LONGEST - 1]), Err(Undecided));
        assert_eq!(long.fit(&name.as_bytes()[..LONGEST]), Ok(0));
    }

    #[test]
    fn a_mark_tells_whose_it_is_and_whose_begin_with_it() {
        let mut marks = Prefixes::default();
        for (mark, owners) in [("<a>", 1), ("<ab", 2), ("<abc>", 4), ("<ab", 8), ("<｜x▁y", 16), ("<｜x▁z", 32)] {
            marks.add_mark(mark, owners);
        }
        marks.seal();
        for (text, owners) in [("a>", 1), ("abc>", 14), ("abd", 14), ("|x z", 48)] {
            assert_eq!(marks.fit(text.as_bytes()), Ok(owners), "{text}");
        }
    }

    #[test]
    fn marks_may_go_on_with_any_byte_of_a_text() {
        let texts: Vec<String> = ('\0'..='\u{10ffff}').step_by(61).map(|c| format!("<{c}a{c}")).collect();
        let mut marks = Prefixes::default();
        texts.iter().for_each(|text| marks.add_mark(text, 0));
        marks.seal();
        for text in texts.iter().filter(|text| !text.contains(['｜', '▁'])) {
            assert_eq!(marks.fit(&text.as_bytes()[1..]), Ok(0), "{text:?}");
            assert_eq!(marks.fit(&text.as_bytes()[1..text.len() - 1]), Err(Undecided), "{text:?}");
        }
    }
}
