//! Suggestions for misspelt names.

/// How much of a name is compared, in characters. No name that is known is as long.
const COMPARED_CHARS: usize = 256;

/// Returns the candidate with the smallest edit distance to `given`, ignoring case, or `None` if even that differs in
/// more than a third of the letters.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let given = fold(given);
    let length = given.chars().count();
    let bound = (length / 3).min(4);
    candidates
        .filter(|candidate| candidate.len().abs_diff(length) <= bound)
        .map(|candidate| (strsim::osa_distance(&given, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Converts to lower case, and truncates to the length of names worth comparing.
fn fold(name: &str) -> String {
    let name = name.chars().take(COMPARED_CHARS);
    name.map(|letter| letter.to_ascii_lowercase()).collect()
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
