use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::*;

const TRACKED: &str =
    "/planes/radius/local/resourceGroups/My-RG/providers/AWS.EC2/VPC:reference/My-VPC";

#[test]
fn a_reference_id_keeps_its_casing_and_compares_without_it() {
    let id: ReferenceId = TRACKED.parse().unwrap();
    assert_eq!(
        id.to_string(),
        "/planes/radius/local/resourcegroups/My-RG/providers/AWS.EC2/VPC:reference/My-VPC"
    );
    assert_eq!(
        id.key(),
        TRACKED
            .to_ascii_uppercase()
            .parse::<ReferenceId>()
            .unwrap()
            .key()
    );
    assert_eq!(id.type_name.as_str(), "AWS::EC2::VPC");
}

#[test]
fn what_is_not_a_reference_id_says_so() {
    for text in [
        "",
        "my-vpc",
        "/planes/radius/local/resourceGroups/rg",
        "/planes/aws/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a",
        "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC/a",
        "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/:reference/a",
        "/planes/radius/local/resourceGroups/rg/providers/EC2/VPC:reference/a",
        "/planes/radius/local/resourceGroups/rg./providers/AWS.EC2/VPC:reference/a",
        "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/",
        "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a%00",
        "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/é:reference/a/b",
    ] {
        assert!(text.parse::<ReferenceId>().is_err(), "{text}");
    }
}

#[test]
fn identifiers_are_escaped_in_ids_and_compared_byte_for_byte() {
    let scope = Scope::new("aws", "123456789012", "us-west-2").unwrap();
    let type_name = TypeName::from_segments("AWS.Logs", "LogGroup").unwrap();
    let identifier = Identifier::new("a/b|c d");
    assert_eq!(
        scope.resource(&type_name, &identifier),
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/a%2Fb|c%20d"
    );
    let key = |name| {
        Target {
            scope: &scope,
            type_name: &type_name,
            identifier: &Identifier::new(name),
        }
        .key()
    };
    assert_ne!(key("Foo"), key("foo"));
}

#[test]
fn what_is_the_same_in_all_regions_is_one_resource() {
    let key = |account: &str, region: &str, type_name: &str| {
        Target {
            scope: &Scope::new("aws", account, region).unwrap(),
            type_name: &type_name.parse().unwrap(),
            identifier: &Identifier::new("x"),
        }
        .key()
    };
    let is_one = |type_name: &str| {
        key("1234", "us-east-1", type_name) == key("1234", "eu-west-1", type_name)
    };
    for service in GLOBAL_SERVICES {
        let type_name = format!("AWS::{service}::Thing");
        assert!(is_one(&type_name), "{type_name}");
        assert_ne!(
            key("1234", "us-east-1", &type_name),
            key("5678", "us-east-1", &type_name)
        );
    }
    for type_name in [
        "AWS::S3::Bucket",
        "AWS::Route53Resolver::ResolverRule",
        "Other::IAM::Role",
    ] {
        assert!(!is_one(type_name), "{type_name}");
    }
}

#[test]
fn one_name_may_stand_under_several_types_and_in_several_regions() {
    let place = |region: &str, type_name: &str| {
        let scope = Scope::new("aws", "1234", region).unwrap();
        scope.place_of_name(&type_name.parse().unwrap())
    };
    let here = |type_name: &str| place("us-east-1", type_name);
    for (one, other) in [
        ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"),
        ("AWS::Neptune::DBCluster", "AWS::RDS::DBCluster"),
        ("AWS::DocDB::DBInstance", "AWS::Neptune::DBInstance"),
        ("aws::s3::bucket", "AWS::S3::Bucket"),
    ] {
        assert_eq!(here(one), here(other), "{one} {other}");
    }
    assert_ne!(here("AWS::RDS::DBCluster"), here("AWS::RDS::DBInstance"));
    for (type_name, is_one) in [
        ("AWS::S3::Bucket", true),
        ("AWS::IAM::Role", true),
        ("AWS::DynamoDB::Table", false),
    ] {
        let is_same = here(type_name) == place("eu-west-1", type_name);
        assert_eq!(is_same, is_one, "{type_name}");
    }
}

#[test]
fn regions_are_checked_for_form_only() {
    assert!(Scope::new("aws", "1234", "eu-north-9").is_ok());
    for region in [
        "",
        "US-EAST-1",
        "us_east_1",
        "us-east-1/..",
        "us-east-1.evil.example",
        "-us",
        "us-",
    ] {
        assert!(Scope::new("aws", "1234", region).is_err(), "{region}");
    }
}

#[test]
fn arm_ids_are_read_as_they_are_written() {
    let plane = PlaneId::new(PlaneKind::Radius, "Local").unwrap();
    assert_eq!(plane.to_string().parse(), Ok(plane));
    let group = GroupId::new("local", "My-RG").unwrap();
    assert_eq!(group.to_string().parse(), Ok(group));
    for name in ["0f8fad5b-d9cb-469f-a165-70867728950e", "Bob-1", "7"] {
        let assignment = RoleAssignmentId::new("local", name).unwrap();
        assert_eq!(assignment.to_string().parse(), Ok(assignment));
    }
    for name in ["", "-a", "a-", "a b", "a/b", "é", &"a".repeat(64)] {
        assert!(RoleAssignmentId::new("local", name).is_err(), "{name}");
    }
    let credential = CredentialId::new("aws", "Default").unwrap();
    assert_eq!(credential.to_string().parse(), Ok(credential));
    for text in [
        "",
        "/planes/aws",
        "/planes/aws/aws/resourcegroups/rg",
        "planes/aws/aws",
    ] {
        assert!(text.parse::<PlaneId>().is_err(), "{text}");
        assert!(text.parse::<GroupId>().is_err(), "{text}");
        assert!(text.parse::<CredentialId>().is_err(), "{text}");
    }
}

#[test]
fn group_names_are_as_wide_as_arms() {
    let longest = "é".repeat(GROUP_NAME_MAX_CHARS);
    let decomposed = "e\u{301}".repeat(GROUP_NAME_MAX_CHARS);
    for (given, name) in [
        ("rg", "rg"),
        ("0", "0"),
        ("-a_(b).c-", "-a_(b).c-"),
        ("..a", "..a"),
        ("Größe", "Größe"),
        ("Gro\u{308}ße", "Größe"),
        ("東京-๑", "東京-๑"),
        ("مرحبا", "مرحبا"),
        (&longest, &longest),
        (&decomposed, &longest),
    ] {
        let id = GroupId::new("local", given).unwrap();
        assert_eq!(id.name, name);
    }
}

#[test]
fn a_refused_group_name_says_what_is_allowed() {
    for name in [
        "",
        ".",
        "..",
        "rg.",
        "a b",
        "a/b",
        "a%b",
        "a:b",
        "a\u{0}",
        "a\u{7f}",
        "a\u{85}",
        "a\u{200b}b",
        "a\u{202e}b",
        "a\u{2066}b",
        "x\u{302}",
        "\u{958}",
        "½",
        "Ⅷ",
        "🦀",
        &"a".repeat(GROUP_NAME_MAX_CHARS + 1),
    ] {
        let message = GroupId::new("local", name).unwrap_err().to_string();
        let allowed = "is not a resource group name: 1 to 90 letters and digits of any script, underscores, periods, \
                       parentheses and hyphens, not ending with a period";
        assert!(message.ends_with(allowed), "{name:?}: {message}");
        assert!(
            message.chars().all(|shown| shown != '\u{202e}'),
            "{message}"
        );
    }
}

/// A stored key is found again by every later version.
#[test]
fn keys_of_group_names_stay() {
    let key = |name| GroupId::new("Local", name).unwrap().key();
    for (name, folded) in [
        ("My-RG", "my-rg"),
        ("ΟΔΟΣ-1", "οδοσ-1"),
        ("οδος-1", "οδοσ-1"),
        ("GRÖSSE", "grösse"),
        ("Größe", "grösse"),
        ("İ", "i\u{307}"),
        ("ı", "ı"),
    ] {
        let expected = format!("/planes/radius/local/resourcegroups/{folded}");
        assert_eq!(key(name), expected);
    }
}

#[test]
fn ids_escape_the_group() {
    let group = GroupId::new("local", "Größe_(1)").unwrap();
    let escaped = "/planes/radius/local/resourcegroups/Gr%C3%B6%C3%9Fe_(1)";
    assert_eq!(group.to_string(), escaped);
    let id = format!("{escaped}/providers/AWS.EC2/VPC:reference/a");
    let reference: ReferenceId = id.parse().unwrap();
    assert_eq!(reference.group, group);
    assert_eq!(reference.to_string(), id);
    for broken in ["%FF", "a%2Fb", "a%00"] {
        let group = format!("/planes/radius/local/resourcegroups/{broken}");
        assert!(group.parse::<GroupId>().is_err(), "{broken}");
        let reference = format!("{group}/providers/AWS.EC2/VPC:reference/a");
        assert!(reference.parse::<ReferenceId>().is_err(), "{broken}");
    }
}

proptest! {
    #[test]
    fn a_group_is_found_in_every_case_and_normalisation(
        name in r"[\p{L}\p{Nd}_.()-]{0,30}[\p{L}\p{Nd}_()-]"
    ) {
        // NFC writes a few letters as a letter and a mark.
        prop_assume!(!name.nfc().any(is_combining_mark));
        // The letter that upper case and case folding disagree about.
        prop_assume!(!name.contains('ı'));
        let id = GroupId::new("local", &name).unwrap();
        let found = |other: &str| GroupId::new("local", other).map(|id| id.key());
        prop_assert_eq!(found(&name.nfd().collect::<String>()), Ok(id.key()));
        prop_assert_eq!(id.to_string().parse::<GroupId>(), Ok(id.clone()));
        for other in [name.to_lowercase(), name.to_uppercase()] {
            // The other case of a few letters is a letter and a mark.
            if let Ok(key) = found(&other) {
                prop_assert_eq!(key, id.key(), "{}", other);
            }
        }
    }

    /// Names that were valid before names were as wide as ARM's keep their keys.
    #[test]
    fn narrow_group_names_keep_their_keys(name in "[A-Za-z][-A-Za-z0-9]{0,61}[A-Za-z0-9]") {
        let id = GroupId::new("local", &name).unwrap();
        let key = format!("/planes/radius/local/resourcegroups/{}", name.to_ascii_lowercase());
        prop_assert_eq!(id.key(), key);
        prop_assert_eq!(&id.name, &name);
    }
}

/// What changes how the text around it is shown could pass for another name.
#[test]
fn names_have_no_letters_that_mislead() {
    let group = GroupId::new("local", "rg").unwrap();
    let vpc = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    for letter in [
        '\0', '\n', '\u{7f}', '\u{85}', '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}',
        '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}',
    ] {
        let name = format!("a{letter}b");
        let alias = ReferenceId::new(group.clone(), vpc.clone(), &name).unwrap_err();
        assert!(!alias.to_string().contains(letter), "{alias}");
        Identifier::parse(&name).unwrap_err();
    }
    for name in ["grüße", "مرحبا", "a b", "🦀", "a\u{200d}b"] {
        ReferenceId::new(group.clone(), vpc.clone(), name).unwrap();
        Identifier::parse(name).unwrap();
    }
}
