//! Semantic versions.

/// Returns whether a text is a semantic version, such as `1.0.0` or `2.1.1-rc.1+abcdef`.
pub(crate) fn is_semantic(text: &str) -> bool {
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (core, before) = match text.split_once('-') {
        Some((core, before)) => (core, Some(before)),
        None => (text, None),
    };
    let is_number = |part: &str| {
        let is_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        is_digits && (part == "0" || !part.starts_with('0'))
    };
    let is_word = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(is_letter)
    };
    let is_before = |part: &str| {
        let is_digits = part.bytes().all(|byte| byte.is_ascii_digit());
        is_word(part) && (!is_digits || is_number(part))
    };
    let core: Vec<&str> = core.split('.').collect();
    core.len() == 3
        && core.into_iter().all(is_number)
        && before.is_none_or(|before| before.split('.').all(is_before))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_and_what_may_follow() {
        for version in [
            "1.0.0",
            "0.10.2",
            "1.0.0-rc.1",
            "2.1.1+abcdef",
            "1.0.0-a-b+001",
        ] {
            assert!(is_semantic(version), "{version}");
        }
        for text in [
            "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "v1.0.0", "1.a.0",
        ] {
            assert!(!is_semantic(text), "{text}");
        }
    }
}
