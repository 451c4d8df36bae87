//! The services that are the same in every region of an account.

/// The global services of "AWS Fault Isolation Boundaries", appendices A to C, that have resource types.
const SERVICES: [&str; 9] = [
    "CloudFront",
    "GlobalAccelerator",
    "IAM",
    "NetworkManager",
    "Organizations",
    "Route53",
    "Route53RecoveryControl",
    "Shield",
    "WAF",
];

/// The region in which the resources of global services are kept.
pub(crate) const REGION: &str = "us-east-1";

/// Whether the resources of a type are the same in every region.
pub(crate) fn is_global(type_name: &str) -> bool {
    let service = type_name.strip_prefix("AWS::");
    let service = service.and_then(|rest| rest.split("::").next());
    service.is_some_and(|service| SERVICES.contains(&service))
}

#[cfg(test)]
mod tests {
    use ucp_schema::Catalogue;

    use super::*;

    #[test]
    fn each_service_has_types() {
        let catalogue = Catalogue::embedded();
        for service in SERVICES {
            let prefix = format!("AWS::{service}::");
            let mut names = catalogue.type_names().map(|name| name.as_str());
            let first = names.find(|name| name.starts_with(&prefix));
            assert!(first.is_some_and(is_global), "{service}");
        }
        assert!(!is_global("AWS::Route53Resolver::ResolverRule"));
        assert!(!is_global("Other::IAM::Role"));
    }
}
