//! Lists of a type, as witnesses of whether a resource exists.

use ucp_model::operation::Listing;
use ucp_model::{Fault, Identifier, ResourcePage};
use ucp_schema::ResourceSchema;

/// How many resources a list may have to be searched.
pub(crate) const LONGEST: usize = 1_000;
/// How many pages a list may have to be searched. Most types have pages of 20 to 100 resources.
pub(crate) const PAGES_MAX: usize = 50;

/// Lists the resources of a type.
pub trait Lister: Send {
    /// Why the lister could not even ask.
    type Error;

    /// Returns the page that `next_token` refers to, or the first one.
    fn page(
        &mut self,
        next_token: Option<&str>,
    ) -> impl Future<Output = Result<Result<ResourcePage, Fault>, Self::Error>> + Send;
}

/// Returns whether a list of the type holds the resource. A list that is too long says nothing.
pub async fn list<L: Lister>(
    schema: Option<&ResourceSchema>,
    identifier: &Identifier,
    lister: &mut L,
) -> Result<Listing, L::Error> {
    let Some(schema) = schema.filter(|schema| schema.handlers().list_all) else {
        return Ok(Listing::Unlisted);
    };
    let mut next_token = None;
    let mut count = 0;
    for _ in 0..PAGES_MAX {
        let page = match lister.page(next_token.as_deref()).await? {
            Ok(page) => page,
            Err(fault) => return Ok(Listing::Unknown(fault)),
        };
        count += page.resources.len();
        let holds = page.resources.iter().any(|listed| {
            let listed = schema.answered(&listed.identifier, &listed.properties);
            listed.as_str().eq_ignore_ascii_case(identifier.as_str())
        });
        if holds {
            return Ok(Listing::Holds);
        }
        if page.next_token.is_none() {
            return Ok(Listing::Lacks);
        }
        if count >= LONGEST {
            break;
        }
        next_token = page.next_token;
    }
    Ok(Listing::Unlisted)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::{Value, json};
    use ucp_model::ResourceDescription;

    use super::*;

    /// Lists this many resources on each page, as long as it is asked.
    struct Pages {
        sizes: Vec<usize>,
        asked: usize,
    }

    impl Lister for Pages {
        type Error = Infallible;

        async fn page(
            &mut self,
            _: Option<&str>,
        ) -> Result<Result<ResourcePage, Fault>, Infallible> {
            let size = self.sizes[self.asked];
            self.asked += 1;
            let other = ResourceDescription {
                identifier: Identifier::new("other"),
                properties: Value::Null,
            };
            Ok(Ok(ResourcePage {
                resources: vec![other; size],
                next_token: (self.asked < self.sizes.len()).then(|| "next".to_owned()),
            }))
        }
    }

    /// Returns what a list with pages of these sizes says of a resource that is not in it, and how many pages are read.
    async fn listed(sizes: &[usize]) -> (Listing, usize) {
        let schema = json!({
            "typeName": "Acme::Test::Thing",
            "properties": {"Name": {"type": "string"}},
            "primaryIdentifier": ["/properties/Name"],
            "handlers": {"list": {"permissions": []}},
        });
        let schema = ResourceSchema::parse(&schema.to_string()).expect("a schema");
        let mut pages = Pages {
            sizes: sizes.to_vec(),
            asked: 0,
        };
        let Ok(said) = list(Some(&schema), &Identifier::new("lost"), &mut pages).await;
        (said, pages.asked)
    }

    #[tokio::test]
    async fn a_list_has_only_so_many_resources() {
        let half = LONGEST / 2;
        assert_eq!(listed(&[half, half]).await, (Listing::Lacks, 2));
        assert_eq!(listed(&[half, half, 0]).await, (Listing::Unlisted, 2));
    }

    #[tokio::test]
    async fn a_list_has_only_so_many_pages() {
        let pages = [0; PAGES_MAX + 1];
        assert_eq!(listed(&pages[1..]).await, (Listing::Lacks, PAGES_MAX));
        assert_eq!(listed(&pages).await, (Listing::Unlisted, PAGES_MAX));
    }
}
