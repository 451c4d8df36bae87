//! The resources that are the same in every region of an account.

use ucp_model::TypeName;

/// The region in which the resources of global services are kept.
pub(crate) const REGION: &str = "us-east-1";

/// Whether the resources of a type are the same in every region.
pub(crate) fn is_global(type_name: &str) -> bool {
    TypeName::from_cloudformation(type_name).is_ok_and(|it| it.is_global())
}

#[cfg(test)]
mod tests {
    use ucp_model::GLOBAL_SERVICES;
    use ucp_schema::Catalogue;

    #[test]
    fn each_service_has_types() {
        let catalogue = Catalogue::embedded();
        for service in GLOBAL_SERVICES {
            let prefix = format!("AWS::{service}::");
            let mut names = catalogue.type_names();
            let first = names.find(|name| name.as_str().starts_with(&prefix));
            assert!(first.is_some_and(|name| name.is_global()), "{service}");
        }
    }
}
