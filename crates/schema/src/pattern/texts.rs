//! Texts that nearly match a pattern, for tests.

use std::collections::BTreeMap;

use fancy_regex::{AstNode, Expr};
use regex::Regex;

/// The characters that texts consist of.
const LETTERS: &str = "aAbzZ019-_.:/ \t\n*$@,=+{}[]()<>|'\"\\%#?!~;&^`é\u{0}";

/// Texts that match a pattern if its look-around is ignored, half of them with an error.
pub(super) struct Texts {
    expr: Expr,
    source: Source,
}

/// Where the letters come from.
struct Source {
    chance: Chance,
    /// The letters of each class.
    classes: BTreeMap<String, Vec<char>>,
}

impl Texts {
    pub(super) fn of(pattern: &str) -> Option<Self> {
        Some(Self {
            expr: Expr::parse_tree(pattern).ok()?.expr,
            source: Source {
                chance: Chance(1),
                classes: BTreeMap::new(),
            },
        })
    }

    pub(super) fn next(&mut self) -> String {
        let mut text = String::new();
        write(&self.expr, &mut self.source, &mut text);
        let chance = &mut self.source.chance;
        while chance.below(2) == 0 {
            let mut letters: Vec<char> = text.chars().collect();
            let at = chance.below(letters.len() + 1);
            match chance.below(3) {
                0 => letters.insert(at, letter(chance)),
                1 if at < letters.len() => drop(letters.remove(at)),
                _ if at < letters.len() => letters[at] = letter(chance),
                _ => {}
            }
            text = letters.into_iter().collect();
        }
        text
    }
}

fn letter(chance: &mut Chance) -> char {
    let letters: Vec<char> = LETTERS.chars().collect();
    letters[chance.below(letters.len())]
}

fn write(expr: &Expr, source: &mut Source, text: &mut String) {
    let chance = &mut source.chance;
    match expr {
        Expr::Any { .. } => text.push(letter(chance)),
        Expr::Literal { val, .. } => text.push_str(val),
        Expr::Delegate { inner, .. } => {
            let letters = source.classes.entry(inner.clone()).or_insert_with(|| {
                let class = Regex::new(&format!("^(?:{inner})$")).unwrap();
                let fits = |letter: &char| class.is_match(&letter.to_string());
                LETTERS.chars().filter(fits).collect()
            });
            if !letters.is_empty() {
                text.push(letters[chance.below(letters.len())]);
            }
        }
        Expr::Concat(parts) => parts.iter().for_each(|part| write(part, source, text)),
        Expr::Alt(parts) => {
            let chosen = chance.below(parts.len());
            write(&parts[chosen], source, text);
        }
        Expr::Group(inner) => write(inner, source, text),
        Expr::AstNode(AstNode::AstGroup { inner, .. }, _) => write(inner, source, text),
        Expr::Repeat { child, lo, hi, .. } => {
            let more = hi.saturating_sub(*lo).min(4);
            let times = lo + chance.below(more + 1);
            for _ in 0..times {
                write(child, source, text);
            }
        }
        _ => {}
    }
}

/// Xorshift.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}
