//! Lists of a type, as witnesses of whether a resource exists.

use ucp_model::operation::Listing;
use ucp_model::{Fault, Identifier, ResourcePage};
use ucp_schema::ResourceSchema;

/// How many resources a list may have to be searched, and in how many pages.
const LONGEST: usize = 1_000;
const PAGES_MAX: usize = 50;

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
