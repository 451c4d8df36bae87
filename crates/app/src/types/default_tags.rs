//! The tags that a put has besides those declared.

use std::collections::BTreeMap;

use ucp_model::ResourceGroup;

use crate::{PutResource, TypeCases};

impl TypeCases {
    /// Returns the tags that a put has besides those declared.
    pub(crate) fn default_tags(
        &self,
        put: &PutResource,
        group: Option<&ResourceGroup>,
    ) -> BTreeMap<String, String> {
        let mut default_tags = self.default_tags.in_account(&put.scope.account);
        if let Some(group) = group {
            default_tags.extend(group.body.default_tags.clone());
        }
        default_tags.extend(put.default_tags.clone());
        default_tags.extend(put.tags.clone());
        default_tags
    }
}
