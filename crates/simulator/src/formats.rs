//! The checks of the `format` keyword in resource schemas.

use std::net::{Ipv4Addr, Ipv6Addr};

type Check = fn(&str) -> bool;

/// Formats that are not listed are checked as defined by JSON Schema, or not at all.
pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("ipv4-network", is_ipv4_network),
    ("ipv6-network", is_ipv6_network),
    ("json", is_json),
    ("arn", is_arn),
    ("AWS::IAM::Role.Arn", is_arn),
    ("AWS::KMS::Key.Arn", is_arn),
    ("AWS::Lambda::Function.Arn", is_arn),
    ("AWS::SNS::Topic.Arn", is_arn),
    ("AWS::SQS::Queue.Arn", is_arn),
    ("AWS::EC2::Image.Id", |text| is_ec2_id(text, "ami-")),
    ("AWS::EC2::SecurityGroup.Id", |text| is_ec2_id(text, "sg-")),
    ("AWS::EC2::Subnet.Id", |text| is_ec2_id(text, "subnet-")),
    ("AWS::EC2::VPC.Id", |text| is_ec2_id(text, "vpc-")),
];

fn is_ipv4_network(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, length)| {
        address.parse::<Ipv4Addr>().is_ok() && is_prefix_length(length, 32)
    })
}

fn is_ipv6_network(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, length)| {
        address.parse::<Ipv6Addr>().is_ok() && is_prefix_length(length, 128)
    })
}

fn is_prefix_length(text: &str, most: u8) -> bool {
    text.parse().is_ok_and(|length: u8| length <= most)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// `arn:partition:service:region:account:resource`; region and account may be empty.
fn is_arn(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    matches!(parts[..], ["arn", partition, service, _, _, resource]
        if partition.starts_with("aws") && !service.is_empty() && !resource.is_empty())
}

/// A prefix followed by 8 or 17 hexadecimal digits.
fn is_ec2_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|digits| {
        matches!(digits.len(), 8 | 17) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_arns_and_ids_are_told_from_others() {
        assert!(is_ipv4_network("10.0.0.0/16"));
        for text in ["10.0.0.0", "10.0.0.0/33", "10.0.0/8", "fd00::/8", ""] {
            assert!(!is_ipv4_network(text), "{text}");
        }
        assert!(is_ipv6_network("fd00::/8"));
        assert!(is_arn("arn:aws:iam::123456789012:role/admin"));
        assert!(!is_arn("arn:aws:iam"));
        assert!(is_ec2_id("vpc-0123456789abcdef0", "vpc-"));
        assert!(!is_ec2_id("vpc-xyz", "vpc-"));
    }
}
