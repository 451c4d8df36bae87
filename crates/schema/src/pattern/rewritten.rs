//! Patterns of public types whose look-around cannot be taken apart, or that take long, and patterns that match the same
//! texts in a short time. A test compares each pair on many texts.

/// Each pattern as it is published, and the one in our dialect that takes its place.
const REWRITTEN: [(&str, &str); 19] = [
    // Any text with a character that is not a space has a place from which not all is space.
    (r"(?!\s*$).+", r"\S"),
    // Not all of the text is digits, except if the match begins after the first one.
    (
        r"((?!^[0-9]+$)([a-zA-Z0-9-_]+))",
        r"[a-zA-Z_-]|[0-9][\s\S]|[\s\S][0-9]",
    ),
    (
        r"(?!^[0-9]+$)([a-zA-Z0-9-_' ']+)",
        r"[a-zA-Z_' -]|[0-9][\s\S]|[\s\S][0-9]",
    ),
    (
        r"(?!^[0-9]+$)([a-zA-Z0-9\-_' ']+)",
        r"[a-zA-Z_' -]|[0-9][\s\S]|[\s\S][0-9]",
    ),
    // The lengths are also the maximum lengths of the properties.
    (
        r"(?=.{1,1024}$)(https)://([^/]+)/(.+)",
        r"https://[^/\n]+/[^\n]+$",
    ),
    (
        r"(?=.{1,32}$)[a-zA-Z0-9](-*[a-zA-Z0-9])*",
        r"[a-zA-Z0-9][^\n]*$",
    ),
    // The match may begin after the `a` of `aws.`, and after `$` nothing is required.
    (
        r"(?=[/\.\-_A-Za-z0-9]+)((?!aws\.).*)|(\$(\.[\w/_-]+(\[(\d+|\*)\])*)*)",
        r"[/.\-_A-Za-z0-9$]",
    ),
    (
        r"^(((?!-)[A-Za-z0-9-]{0,62}[A-Za-z0-9])\.)+((?!-)[A-Za-z0-9-]{1,62}[A-Za-z0-9])(\.)?$",
        r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9]\.?$",
    ),
    (r"^((?![:*$])[\x00-\x7F]){1,255}", r"^[\x00-#%-)+-9;-\x7F]"),
    (
        r"^(-?)P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)([DW]))?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$",
        r"^-?P([0-9]+Y([0-9]+M)?([0-9]+[DW])?|[0-9]+M([0-9]+[DW])?|[0-9]+[DW])(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?$|^-?PT([0-9]+H([0-9]+M)?([0-9]+(\.[0-9]+)?S)?|[0-9]+M([0-9]+(\.[0-9]+)?S)?|[0-9]+(\.[0-9]+)?S)$",
    ),
    (
        r"^(?!^\s+$)((?![\x5c'\x2b,;<=>#\x22])([\x20-\x7E]))+$",
        r"^(?!\s+$)[ !$-&(-*\--:?-\[\]-~]+$",
    ),
    (
        r"^(?:(?!\$\{[a-zA-Z]+:)[\P{C}])+$",
        r"^(?!.*\$\{[a-zA-Z]+:)\P{C}+$",
    ),
    (
        r"^(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}((-gov)|(-iso(b?)))?-[a-z]+-\d{1}:)?(\d{12}:)?(function:)?([a-zA-Z0-9-_]+)(:((?!\d+)[0-9a-zA-Z-_]+))?$",
        r"^(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}(-gov|-isob?)?-[a-z]+-[0-9]:)?([0-9]{12}:)?(function:)?[a-zA-Z0-9_-]+(:[a-zA-Z_-][0-9a-zA-Z_-]*)?$",
    ),
    // An asterisk among the twelve characters of the account, or after them.
    (
        r"^(arn:.+:iam::((?!\*|\?)[0-9]{12}|(?=.*\*)[0-9*?]{1,12}|[0-9?]{12}):role/.+|\*)$",
        r"^(arn:.+:iam::([0-9?]{12}:role/.+|[0-9*?]{1,12}:role/.*\*.*|(\*[0-9*?]{0,11}|[0-9?]\*[0-9*?]{0,10}|[0-9?]{2}\*[0-9*?]{0,9}|[0-9?]{3}\*[0-9*?]{0,8}|[0-9?]{4}\*[0-9*?]{0,7}|[0-9?]{5}\*[0-9*?]{0,6}|[0-9?]{6}\*[0-9*?]{0,5}|[0-9?]{7}\*[0-9*?]{0,4}|[0-9?]{8}\*[0-9*?]{0,3}|[0-9?]{9}\*[0-9*?]{0,2}|[0-9?]{10}\*[0-9*?]?|[0-9?]{11}\*):role/.+)|\*)$",
    ),
    (
        r"^(arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:[a-z\-]*\/)?([a-zA-Z0-9]([a-zA-Z0-9-]){0,62})(?<!-)(\/[0-9]{1,9})?$",
        r"^(arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:[a-z\-]*/)?[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(/[0-9]{1,9})?$",
    ),
    // The last part has at least two characters, a letter and no two hyphens in a row.
    (
        r"^(localhost)$|^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$|(?=^[a-zA-Z0-9\.\*-]{4,253}$)(?!.*\.-)(?!.*-\.)(?!.*\.\.)(?!.*[^\.]{64,})^(\*\.)?(?![-\.\*])[^\*]{1,}\.(\*|(?!.*--)(?=.*[a-zA-Z])[^\*]{1,}[^\*-])$",
        r"^localhost$|^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$|^(?=[a-zA-Z0-9.*-]{4,253}$)(?!.*\.-)(?!.*-\.)(?!.*\.\.)(?!.*[^.]{64})(\*\.)?[^-.*][^*]*\.(\*|((-?[^*-])+-?[a-zA-Z](-?[^*-])*|-?[a-zA-Z](-?[^*-])+|-[a-zA-Z]))$",
    ),
    (
        r"^[a-zA-Z0-9]?((?!-)([A-Za-z0-9-]*[A-Za-z0-9])\.)+[a-zA-Z0-9]+$",
        r"^[a-zA-Z0-9]?([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[a-zA-Z0-9]+$",
    ),
    (
        r"^arn:(aws|aws-cn|aws-iso|aws-iso-[a-z]{1}|aws-us-gov):iam::[0-9]{12}:role\/(([^\/][\x21-\x7E]+\/){1,511})?[A-Za-z0-9_+=,.@-]{1,64}$",
        // One part of the path may have all that several have, unless a later one begins with a character that none goes on
        // with. Where parts may begin anywhere, all 511 are tried at each character.
        r"^arn:(aws|aws-cn|aws-iso|aws-iso-[a-z]|aws-us-gov):iam::[0-9]{12}:role/([^/][!-~]+/([^!-~][!-~]+/){0,510})?[A-Za-z0-9_+=,.@-]{1,64}$",
    ),
    (
        r"^jdbc:(redshift|postgresql)://((?!-)[A-Za-z0-9-]{1,63}(?<!-)\.)+(redshift(-serverless)?)\.([a-zA-Z0-9\.\-]+):\d{1,5}/[a-zA-Z0-9_$-]+$",
        r"^jdbc:(redshift|postgresql)://([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+redshift(-serverless)?\.[a-zA-Z0-9.\-]+:[0-9]{1,5}/[a-zA-Z0-9_$-]+$",
    ),
];

/// Returns the pattern, in our dialect, that takes the place of `pattern`, if any.
pub(super) fn rewritten(pattern: &str) -> Option<&'static str> {
    let mut pairs = REWRITTEN.iter();
    let pair = pairs.find(|(published, _)| *published == pattern)?;
    Some(pair.1)
}
