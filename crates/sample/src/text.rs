use std::ops::RangeInclusive;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use ucp_schema::{Patterns, in_our_dialect};

use crate::chance::Chance;
use crate::choice::Choice;

const ATTEMPTS: usize = 48;

/// The maximum length when a schema sets none.
const MAX_LENGTH: usize = 4_096;

/// The characters to prefer when a pattern leaves the choice.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:@+= ,;!#$%&*'()?~^|<>{}[]\"\\`";

/// The texts to try for a pattern that cannot be parsed.
const COMMON: [&str; 14] = [
    "sample",
    "a",
    "Sample1",
    "sample-1",
    "1",
    "123456789012",
    "us-east-1",
    "2026-01-01",
    "00:00",
    "Password123!",
    "10.0.0.0/16",
    "example.com",
    "https://example.com/sample",
    "arn:aws:iam::123456789012:role/sample",
];

/// Generates a text with the length, format and pattern of a schema.
pub(crate) fn fitting(choice: &Choice, patterns: &Patterns, chance: &mut Chance) -> Option<String> {
    let keyword = |name| choice.keywords.get(name).and_then(|value| value.as_str());
    let most = choice.count("maxLength").unwrap_or(MAX_LENGTH);
    // An empty text is rarely meaningful, even where it is allowed.
    let lengths = choice.count("minLength").unwrap_or(0).max(1).min(most)..=most;
    let pattern = keyword("pattern");
    let fits = |text: &String| {
        lengths.contains(&text.chars().count())
            && pattern.is_none_or(|pattern| is_match(pattern, text, patterns))
    };
    let formatted = keyword("format").and_then(|format| of_format(format, chance));
    if let Some(formatted) = formatted.filter(fits) {
        return Some(formatted);
    }
    match pattern {
        Some(pattern) => matching(pattern, lengths, patterns, chance),
        None => Some(plain(&lengths, chance)),
    }
}

/// Generates a text of one of these lengths that matches a pattern.
pub(crate) fn matching(
    pattern: &str,
    lengths: RangeInclusive<usize>,
    patterns: &Patterns,
    chance: &mut Chance,
) -> Option<String> {
    let fits = |text: &String| {
        lengths.contains(&text.chars().count()) && is_match(pattern, text, patterns)
    };
    let pattern = in_our_dialect(pattern);
    let read = |pattern: &str| regex_syntax::parse(pattern).ok();
    let hir = read(&pattern)
        .or_else(|| read(&without_look_around(&pattern)))
        .unwrap_or_else(Hir::empty);
    let shortest = write(&hir, 0, true, chance).chars().count();
    let missing = lengths.start().saturating_sub(shortest);
    let written = (0..ATTEMPTS).map(|attempt| {
        let spare = missing + chance.below(attempt + 8);
        // Only greedy repetitions reach an exact length; random ones look better.
        let is_greedy = attempt % 2 == 1;
        write(&hir, spare, is_greedy, chance)
    });
    // If the pattern is not anchored, anything may follow.
    let padded = |text: String| {
        let length = text.chars().count();
        let padding = lengths.start().saturating_sub(length);
        if fits(&text) {
            text
        } else {
            text + &"a".repeat(padding)
        }
    };
    let common = COMMON.into_iter().map(str::to_owned);
    written.map(padded).chain(common).find(fits)
}

/// Returns whether `text` matches, also for a pattern that cannot be matched in linear time.
fn is_match(pattern: &str, text: &str, patterns: &Patterns) -> bool {
    let is_exact_match = || {
        let exact = fancy_regex::Regex::new(&in_our_dialect(pattern));
        exact.map_or(true, |exact| exact.is_match(text).unwrap_or(false))
    };
    patterns.matches(pattern, text) && (patterns.checks(pattern) || is_exact_match())
}

/// Generates a text without a pattern.
fn plain(lengths: &RangeInclusive<usize>, chance: &mut Chance) -> String {
    let length = (*lengths.start()).max(8).min(*lengths.end());
    let letters = LETTERS.as_bytes();
    (0..length)
        .map(|_| char::from(letters[chance.below(26)]))
        .collect()
}

fn of_format(format: &str, chance: &mut Chance) -> Option<String> {
    let mut hex = || -> String {
        (0..17)
            .map(|_| char::from(b"0123456789abcdef"[chance.below(16)]))
            .collect()
    };
    Some(match format {
        "date-time" | "timestamp" => "2026-01-01T00:00:00Z".to_owned(),
        "json" => "{}".to_owned(),
        "uri" => "https://example.com/sample".to_owned(),
        "ipv4-network" => format!("10.{}.0.0/16", chance.below(256)),
        "ipv6-network" => format!("2001:db8:{:x}::/56", chance.below(4_096)),
        "AWS::EC2::VPC.Id" => format!("vpc-{}", hex()),
        "AWS::EC2::Subnet.Id" => format!("subnet-{}", hex()),
        "AWS::EC2::SecurityGroup.Id" => format!("sg-{}", hex()),
        "AWS::EC2::Image.Id" => format!("ami-{}", hex()),
        "AWS::IAM::Role.Arn" => format!("arn:aws:iam::123456789012:role/{}", hex()),
        "AWS::KMS::Key.Arn" => {
            "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012".to_owned()
        }
        "AWS::KMS::Key.Id" => "12345678-1234-1234-1234-123456789012".to_owned(),
        "AWS::KMS::Alias.AliasName" => "alias/sample".to_owned(),
        "AWS::SNS::Topic.Arn" => format!("arn:aws:sns:us-east-1:123456789012:{}", hex()),
        "AWS::SQS::Queue.Arn" => format!("arn:aws:sqs:us-east-1:123456789012:{}", hex()),
        "AWS::Lambda::Function.Arn" => {
            format!("arn:aws:lambda:us-east-1:123456789012:function:{}", hex())
        }
        "AWS::S3::Bucket.Name" | "AWS::Logs::LogGroup.Name" => format!("sample-{}", hex()),
        _ => return None,
    })
}

/// Generates a matching text, with up to `spare` repetitions beyond the required ones.
fn write(hir: &Hir, spare: usize, is_greedy: bool, chance: &mut Chance) -> String {
    let mut writer = Writer {
        text: String::new(),
        spare,
        is_greedy,
        chance,
    };
    writer.write(hir);
    writer.text
}

struct Writer<'a> {
    text: String,
    /// How many repetitions beyond the required ones are left.
    spare: usize,
    /// Whether each repetition uses as many as it can.
    is_greedy: bool,
    chance: &'a mut Chance,
}

impl Writer<'_> {
    fn write(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.text.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(class) => self.write_class(class),
            HirKind::Repetition(repetition) => self.write_repetition(repetition),
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.write(part)),
            HirKind::Alternation(options) => {
                if let Some(option) = self.chance.pick(options) {
                    self.write(option);
                }
            }
        }
    }

    fn write_repetition(&mut self, repetition: &Repetition) {
        let least = repetition.min as usize;
        let most = repetition.max.map_or(usize::MAX, |max| max as usize);
        let mut extra = self.spare.min(most - least);
        if !self.is_greedy {
            extra = self.chance.below(extra + 1);
        }
        self.spare -= extra;
        for _ in 0..least + extra {
            self.write(&repetition.sub);
        }
    }

    fn write_class(&mut self, class: &Class) {
        let contains = |letter: char| match class {
            Class::Unicode(class) => class
                .iter()
                .any(|range| (range.start()..=range.end()).contains(&letter)),
            Class::Bytes(class) => class.iter().any(|range| {
                u8::try_from(letter).is_ok_and(|byte| (range.start()..=range.end()).contains(&byte))
            }),
        };
        let usable: Vec<char> = LETTERS.chars().filter(|letter| contains(*letter)).collect();
        // Prefer letters and digits: they are the least likely to have a special meaning.
        let harmless: Vec<char> = usable
            .iter()
            .copied()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let options = if harmless.is_empty() {
            usable
        } else {
            harmless
        };
        let first = match class {
            Class::Unicode(class) => class.iter().next().map(|range| range.start()),
            Class::Bytes(class) => class.iter().next().map(|range| char::from(range.start())),
        };
        self.text
            .extend(self.chance.pick(&options).copied().or(first));
    }
}

/// Removes look-ahead and look-behind groups from a pattern.
fn without_look_around(pattern: &str) -> String {
    let mut kept = pattern.to_owned();
    let looks = ["(?=", "(?!", "(?<=", "(?<!"];
    while let Some(start) = looks.iter().filter_map(|look| kept.find(look)).min() {
        let end = end_of_group(&kept[start..]);
        kept.replace_range(start..start + end, "");
    }
    kept
}

/// Returns the length in bytes of the group at the start of a pattern.
fn end_of_group(pattern: &str) -> usize {
    let (mut depth, mut in_class, mut is_escaped) = (0_usize, false, false);
    for (index, letter) in pattern.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    pattern.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_met_within_their_lengths() {
        let patterns = Patterns::default();
        for (pattern, lengths) in [
            (r"^[a-z0-9-]{36}$", 36..=36),
            (r"^arn:aws[a-z-]*:iam::\d{12}:role/.+$", 20..=2_048),
            (r"^(?!aws:)[\w+=-]+$", 12..=12),
            (r"[a-z]", 5..=9),
            (r"^(?:[0-9]{1,3}\.){3}[0-9]{1,3}$", 7..=15),
            (r"^a?b*c{2,}$", 2..=40),
        ] {
            for seed in 0..50 {
                let text = matching(
                    pattern,
                    lengths.clone(),
                    &patterns,
                    &mut Chance::new(seed, 0),
                );
                let text = text.unwrap_or_else(|| panic!("{pattern}"));
                assert!(
                    patterns.matches(pattern, &text) && lengths.contains(&text.len()),
                    "{text}"
                );
            }
        }
    }
}
