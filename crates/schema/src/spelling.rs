//! "Did you mean": the known name nearest to a given one.

/// The candidate with the fewest typing errors between it and `given`, letter case aside; none when even the nearest
/// one differs in more than a third of the letters.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let given: Vec<char> = fold(given);
    let bound = (given.len() / 3).min(4);
    candidates
        .filter(|candidate| candidate.len().abs_diff(given.len()) <= bound)
        .map(|candidate| (distance(&given, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lower case, and no longer than any name worth comparing.
fn fold(name: &str) -> Vec<char> {
    name.chars()
        .take(256)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

/// The edit distance: letters inserted, removed, replaced, or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_typing_errors_without_regard_to_case() {
        let known = ["CidrBlock", "Tags", "EnableDnsSupport"];
        let suggest = |given| nearest(given, known.into_iter());
        assert_eq!(suggest("Cidrblock"), Some("CidrBlock"));
        assert_eq!(suggest("CidrBlcok"), Some("CidrBlock"));
        assert_eq!(suggest("EnableDNSSuport"), Some("EnableDnsSupport"));
        assert_eq!(suggest("Tgas"), Some("Tags"));
        assert_eq!(suggest("Name"), None);
        assert_eq!(suggest(""), None);
    }
}
