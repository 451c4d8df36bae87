use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use ucp_model::{ErrorCode, Failure, Scope, TypeName, excerpt};
use ucp_schema::ResourceSchema;

use crate::{Listed, Rejection, TypeCases};

/// The resource types of one AWS service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceProvider {
    /// The namespace of the types in ids, such as `AWS.EC2`.
    pub namespace: String,
    /// The types, in alphabetical order.
    pub types: Vec<TypeName>,
}

impl TypeCases {
    /// Returns up to `top` resource providers after the namespace `after`, in the order of their namespaces, ignoring
    /// case. They have the types that every account has; private types are missing.
    pub fn list_resource_providers(
        &self,
        scope: &Scope,
        after: Option<&str>,
        top: usize,
    ) -> Result<Listed<ResourceProvider>, Rejection> {
        self.admit_region(scope)?;
        let providers = self.resource_providers();
        let after = after.map(str::to_ascii_lowercase);
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rest = providers.range::<String, _>((start, Bound::Unbounded));
        // One more than requested, to see whether there is a next page.
        let rest = rest.take(top + 1).map(|(_, provider)| provider.clone());
        Ok(Listed::of(rest.collect(), top))
    }

    /// Returns a resource provider. Its namespace compares case-insensitively.
    pub fn get_resource_provider(
        &self,
        scope: &Scope,
        namespace: &str,
    ) -> Result<ResourceProvider, Rejection> {
        self.admit_region(scope)?;
        let mut providers = self.resource_providers();
        let provider = providers.remove(&namespace.to_ascii_lowercase());
        provider.ok_or_else(|| {
            let shown = excerpt(namespace);
            let message = format!(
                "No public resource type is in the namespace '{shown}'. GET …/providers lists the namespaces. Private types are not listed, but GET …/providers/{shown}/resourceTypes/NAME describes them."
            );
            Rejection::Missing(Failure::new(ErrorCode::NotFound, message))
        })
    }

    /// Returns the schema of a resource type. The name compares case-insensitively.
    pub async fn get_resource_type(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, Rejection> {
        self.schema(scope, type_name).await
    }

    /// Returns the resource providers by their namespaces in lower case.
    fn resource_providers(&self) -> BTreeMap<String, ResourceProvider> {
        let mut providers: BTreeMap<String, ResourceProvider> = BTreeMap::new();
        for name in self.source.catalogue().type_names() {
            let namespace = name.namespace();
            let provider = providers.entry(namespace.to_ascii_lowercase()).or_default();
            provider.namespace = namespace;
            provider.types.push(name.clone());
        }
        providers
    }
}
