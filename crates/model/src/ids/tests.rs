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
        "/planes/radius/local/resourceGroups/-rg/providers/AWS.EC2/VPC:reference/a",
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
