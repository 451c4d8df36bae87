//! For tests only: what a run leaves out, so that it is quick. Each commit leaves out something else, and the nightly run
//! has it all.

use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The variable that names the choice to repeat, in place of the commit.
const CHOICE: &str = "UCP_CHOICE";
/// The variable that says, as `all`, that no kill, crash or race is left out.
const MISHAPS: &str = "UCP_MISHAPS";
/// The variable that says, as `all`, that nothing is left out over databases either.
const MATRIX: &str = "UCP_MATRIX";
/// The variable that says on which stores scenarios run.
const STORES: &str = "UCP_STORES";
/// The variable that names a file for a line about each choice.
const FILE: &str = "UCP_CHOICES";

/// Returns what decides what this run leaves out: the commit, or without git the version. The first call tells it.
pub fn choice() -> &'static str {
    static SEED: OnceLock<String> = OnceLock::new();
    SEED.get_or_init(|| {
        let asked = std::env::var(CHOICE).ok().or_else(commit);
        let seed = asked.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned());
        // Not captured, as what a passing test prints is.
        let told = writeln!(
            std::io::stderr(),
            "{CHOICE}={seed} chooses what this run leaves out: databases of scenarios, kills, crashes, races. With {STORES}=all \
             {MISHAPS}=all none is left out."
        );
        // Nobody may listen.
        drop(told);
        note("choice", &seed);
        seed
    })
}

fn commit() -> Option<String> {
    let mut git = Command::new("git");
    let git = git.args(["rev-parse", "--short=12", "HEAD"]);
    let output = git.current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?;
    let commit = commit.trim();
    (output.status.success() && !commit.is_empty()).then(|| commit.to_owned())
}

/// Returns whether this run has every kill, crash and race.
pub fn has_all() -> bool {
    std::env::var(MISHAPS).is_ok_and(|which| which == "all")
}

/// Returns whether scenarios over databases meet every mishap that those in memory meet, which takes hours.
pub fn is_matrix_whole() -> bool {
    std::env::var(MATRIX).is_ok_and(|which| which == "all")
}

/// Draws a number below `of` for a name.
pub fn drawn(of: usize, name: impl std::hash::Hash) -> usize {
    let mut hasher = DefaultHasher::new();
    (choice(), name).hash(&mut hasher);
    (hasher.finish() % of as u64) as usize
}

/// Returns the cases that this run has: one in `of`, as their names draw them, and at least one, or all.
pub fn part<T>(of: usize, cases: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
    if has_all() {
        return cases;
    }
    let is_drawn = |case: &T| drawn(of, name(case)) == 0;
    let (mut part, others): (Vec<T>, Vec<T>) = cases.into_iter().partition(is_drawn);
    // A test that tries nothing finds nothing.
    if part.is_empty() && !others.is_empty() {
        let only = drawn(others.len(), others.iter().map(name).collect::<Vec<_>>());
        part.extend(others.into_iter().nth(only));
    }
    part
}

/// Returns which of the cases of `name` this run has: the first one, and the distance to the next. One in `of`, or all.
pub fn share(of: usize, name: impl std::hash::Hash) -> (usize, usize) {
    if has_all() {
        (0, 1)
    } else {
        (drawn(of, name), of)
    }
}

/// Writes a line about a choice, if somebody reads it.
pub fn note(what: &str, name: &str) {
    let Ok(file) = std::env::var(FILE) else {
        return;
    };
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(Path::new(&file));
    let written = file.and_then(|mut file| file.write_all(format!("{what} {name}\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("{FILE}: {error}"));
}

/// Returns the name of the test that runs on this thread.
pub fn test() -> String {
    let thread = std::thread::current();
    thread.name().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{has_all, part};

    #[test]
    fn a_part_of_some_cases_is_never_empty_and_the_same_again() {
        for most in 1..100 {
            let cases: Vec<u32> = (0..most).collect();
            let tried = part(4, cases.clone(), u32::to_string);
            assert!(!tried.is_empty() && tried.is_sorted(), "{tried:?}");
            assert!(tried.iter().all(|case| cases.contains(case)));
            assert_eq!(tried, part(4, cases, u32::to_string));
        }
    }

    #[test]
    fn as_many_are_tried_as_asked_for_unless_it_is_all() {
        for of in 2..5 {
            let tried = part(of, (0..1_200).collect(), u32::to_string).len();
            let expected = 1_200 / of;
            if has_all() {
                assert_eq!(tried, 1_200)
            } else {
                assert!(tried.abs_diff(expected) < 100, "{tried} of {expected}")
            }
        }
    }

    #[test]
    fn nothing_is_a_part_of_nothing() {
        assert_eq!(part(2, Vec::new(), u32::to_string), [0; 0]);
    }
}
