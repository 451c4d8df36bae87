//! The search for what a create has made without naming it, by the mark that it has put on. Other resources may bear the
//! mark of the same reference, such as one that was released, or that AWS shows although it is deleted: the mark names the
//! operation, too.

use std::collections::BTreeSet;

use ucp_model::operation::{ResourceWork, Search, Searched};
use ucp_model::{Fault, FaultClass, Identifier, Mark, ResourceDescription, Timestamp};
use ucp_schema::ResourceSchema;

use crate::Reader;
use crate::listing::Lister;

/// How many pages of a list are searched.
pub(crate) const PAGES_MAX: usize = 50;

/// How many resources are read, since most lists do not show tags.
pub(crate) const READS_MAX: usize = 1_000;

/// How many of them are read at a time. AWS takes some tens a second.
const READS_AT_ONCE: usize = 100;

/// How often a resource is read that the list shows and no read finds.
const LOOKS: u32 = 3;

/// How long a token may be that is kept: Cloud Control takes none that is longer.
const TOKEN_MAX_BYTES: usize = 2_048;

/// Tells which resources are accounted for.
pub trait Accounts: Send {
    /// Why it could not even ask.
    type Error;

    /// Returns those that a reference of any group stands for, or that the register of leftovers has.
    fn accounted_for(
        &mut self,
        identifiers: &[Identifier],
    ) -> impl Future<Output = Result<BTreeSet<Identifier>, Self::Error>> + Send;
}

/// Searches a page of the resources of the type for one that bears the mark of the operation's create and is not
/// accounted for. A list that shows the mark may be out of date, so that a read has to show it too.
///
/// Returns how far the search has come, too, if it is not over. It goes on from there with the work that has that.
pub async fn search<E, S>(
    work: &ResourceWork,
    schema: Option<&ResourceSchema>,
    now: Timestamp,
    searcher: &mut S,
) -> Result<(Search, Option<Searched>), E>
where
    S: Reader<Error = E> + Lister<Error = E> + Accounts<Error = E>,
{
    let is_searchable =
        |schema: &&ResourceSchema| schema.handlers().list_all && schema.shows_marks();
    let lineage = work.reference.as_ref().and_then(|_| work.lineage());
    let (Some(schema), Some(lineage), Some(creation), true) = (
        schema.filter(is_searchable),
        lineage,
        work.creation,
        work.marked,
    ) else {
        return Ok((Search::Unsearchable, None));
    };
    let mark = Mark::of_create(&lineage, creation);
    let searched = work.searched.clone();
    let mut searched = searched.unwrap_or_else(|| Searched::since(now));
    let page = match searcher.page(searched.next_token.as_deref()).await? {
        Ok(page) => page,
        Err(fault) if is_expired(&searched, &fault) => {
            let again = Searched {
                began_again: true,
                ..Searched::since(now)
            };
            return Ok((Search::More, Some(again)));
        }
        Err(fault) => return Ok(interrupted(searched, fault)),
    };
    let candidates = page.resources.iter();
    let candidates = candidates.filter_map(|listed| candidate(listed, schema, &mark));
    let candidates: Vec<Identifier> = candidates
        .filter(|identifier| Some(identifier) != work.replaced())
        .filter(|identifier| !searched.read.contains(identifier))
        .collect();
    let accounted_for = if candidates.is_empty() {
        BTreeSet::new()
    } else {
        searcher.accounted_for(&candidates).await?
    };
    let reads_before = searched.reads;
    for identifier in candidates {
        if accounted_for.contains(&identifier) {
            continue;
        }
        if searched.reads == READS_MAX {
            return Ok((Search::TooMany, None));
        }
        if searched.reads - reads_before == READS_AT_ONCE {
            return Ok((Search::More, Some(searched)));
        }
        match read_listed(searcher, &identifier).await? {
            Ok(read) if schema.mark_in(&read.properties) == Some(mark.as_str()) => {
                let identifier = schema.answered(&read.identifier, &read.properties);
                return Ok((Search::Found(identifier), None));
            }
            Ok(_) => {}
            Err(fault) if fault.class == FaultClass::Missing => {
                let fault = contradicted(&identifier);
                searched.unread = searched.unread.or(Some(fault));
            }
            // It would refuse the next read too.
            Err(fault) if fault.class == FaultClass::Throttled => {
                return Ok(interrupted(searched, fault));
            }
            // One that cannot be read must not hide another.
            Err(fault) => searched.unread = searched.unread.or(Some(fault)),
        }
        searched.reads += 1;
        searched.read.insert(identifier);
    }
    Ok(after_page(searched, page.next_token))
}

/// The fault of a resource that a list shows and no read finds: it may be what is searched for. What is deleted leaves the list
/// soon.
fn contradicted(identifier: &Identifier) -> Fault {
    let message = format!("a list shows '{identifier}', and it is not found");
    Fault::new(FaultClass::Transient, "ResourceNotFoundException", message)
}

/// Reads what the list shows. That it is not found proves little: it is asked for again.
async fn read_listed<S: Reader>(
    searcher: &mut S,
    identifier: &Identifier,
) -> Result<Result<ResourceDescription, Fault>, S::Error> {
    let mut tries = 1;
    loop {
        match searcher.read(identifier).await? {
            Err(fault) if fault.class == FaultClass::Missing && tries < LOOKS => tries += 1,
            other => return Ok(other),
        }
    }
}

/// Returns whether AWS does not know the token any more that the search goes on with. It begins again once.
fn is_expired(searched: &Searched, fault: &Fault) -> bool {
    fault.class == FaultClass::Rejected && searched.next_token.is_some() && !searched.began_again
}

/// Keeps how far the search has come.
fn interrupted(searched: Searched, fault: Fault) -> (Search, Option<Searched>) {
    let searched = Some(searched).filter(Searched::has_begun);
    (Search::Unknown(fault), searched)
}

/// Returns what comes after a page on which nothing was found.
fn after_page(searched: Searched, next_token: Option<String>) -> (Search, Option<Searched>) {
    let pages = searched.pages + 1;
    match (next_token, searched.unread) {
        (None, None) => {
            let began_at = searched.began_at;
            (Search::Lacks { began_at }, None)
        }
        (None, Some(fault)) => (Search::Unknown(fault), None),
        (Some(_), _) if pages == PAGES_MAX => (Search::TooMany, None),
        (Some(token), _) if token.len() > TOKEN_MAX_BYTES => (Search::Unsearchable, None),
        (Some(token), unread) => {
            let searched = Searched {
                pages,
                next_token: Some(token),
                read: BTreeSet::new(),
                unread,
                ..searched
            };
            (Search::More, Some(searched))
        }
    }
}

/// Returns the identifier of a resource that may bear the mark, as far as the list shows.
fn candidate(
    listed: &ResourceDescription,
    schema: &ResourceSchema,
    mark: &Mark,
) -> Option<Identifier> {
    let ResourceDescription {
        identifier,
        properties,
    } = listed;
    let is_shown = schema.has_tags_in(properties);
    let may_bear_it = !is_shown || schema.mark_in(properties) == Some(mark.as_str());
    may_bear_it.then(|| schema.answered(identifier, properties))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use serde_json::{Value, json};
    use ucp_model::operation::{Kind, Replacing};
    use ucp_model::{
        Creation, Fault, Lineage, ReferenceId, ResourcePage, Scope, Timestamp, TypeName,
    };

    use super::*;

    const OURS: &str =
        "/planes/radius/local/resourceGroups/shop/providers/AWS.EC2/VPC:reference/main";
    const OTHERS: &str =
        "/planes/radius/local/resourceGroups/shop/providers/AWS.EC2/VPC:reference/other";

    /// AWS and the store, as the test has them.
    #[derive(Default)]
    struct Script {
        pages: Vec<Result<Vec<ResourceDescription>, Fault>>,
        tags: BTreeMap<String, Value>,
        faults: BTreeMap<String, Fault>,
        accounted_for: BTreeSet<Identifier>,
        listed: usize,
        read: Vec<String>,
        asked: usize,
    }

    impl Script {
        /// A list of identifiers, as most types have, in pages.
        fn of<'a>(pages: impl IntoIterator<Item = Vec<&'a str>>) -> Self {
            let page = |names: Vec<&'a str>| {
                let resources = names.into_iter().map(|name| listed(name, json!({})));
                Ok(resources.collect())
            };
            Self {
                pages: pages.into_iter().map(page).collect(),
                ..Self::default()
            }
        }

        fn marked(mut self, name: &str, reference: &str) -> Self {
            self.tags.insert(name.to_owned(), mark(reference));
            self
        }
    }

    fn listed(name: &str, mut properties: Value) -> ResourceDescription {
        properties["VpcId"] = name.into();
        ResourceDescription {
            identifier: Identifier::new(name),
            properties,
        }
    }

    fn creation() -> Creation {
        Creation::by("6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap())
    }

    fn mark(reference: &str) -> Value {
        let reference: ReferenceId = reference.parse().unwrap();
        json!([{ "Key": Mark::KEY, "Value": Mark::of_create(&Lineage::of(&reference), creation()).as_str() }])
    }

    impl Reader for Script {
        type Error = Infallible;

        async fn read(
            &mut self,
            identifier: &Identifier,
        ) -> Result<Result<ResourceDescription, Fault>, Infallible> {
            let name = identifier.as_str();
            self.read.push(name.to_owned());
            if let Some(fault) = self.faults.get(name) {
                return Ok(Err(fault.clone()));
            }
            let tags = self.tags.get(name).cloned().unwrap_or(json!([]));
            Ok(Ok(listed(name, json!({ "Tags": tags }))))
        }
    }

    impl Lister for Script {
        type Error = Infallible;

        async fn page(
            &mut self,
            next_token: Option<&str>,
        ) -> Result<Result<ResourcePage, Fault>, Infallible> {
            let number: usize = next_token.map_or(0, |token| token.parse().unwrap());
            self.listed += 1;
            let is_last = number + 1 == self.pages.len();
            let page = self.pages[number].clone();
            Ok(page.map(|resources| ResourcePage {
                resources,
                next_token: (!is_last).then(|| (number + 1).to_string()),
            }))
        }
    }

    impl Accounts for Script {
        type Error = Infallible;

        async fn accounted_for(
            &mut self,
            identifiers: &[Identifier],
        ) -> Result<BTreeSet<Identifier>, Infallible> {
            self.asked += 1;
            let asked: BTreeSet<Identifier> = identifiers.iter().cloned().collect();
            Ok(self.accounted_for.intersection(&asked).cloned().collect())
        }
    }

    fn schema(change: impl FnOnce(&mut Value)) -> ResourceSchema {
        let mut schema = json!({
            "typeName": "AWS::EC2::VPC",
            "description": "A network",
            "properties": {
                "VpcId": { "type": "string" },
                "Tags": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "Key": { "type": "string" }, "Value": { "type": "string" } }
                } }
            },
            "primaryIdentifier": ["/properties/VpcId"],
            "readOnlyProperties": ["/properties/VpcId"],
            "tagging": { "taggable": true, "tagProperty": "/properties/Tags" },
            "handlers": { "create": {}, "read": {}, "update": {}, "delete": {}, "list": {} }
        });
        change(&mut schema);
        ResourceSchema::parse(&schema.to_string()).unwrap()
    }

    fn work() -> ResourceWork {
        let scope = Scope::new("aws", "123456789012", "us-west-2").unwrap();
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        let start = Timestamp::from_millis(0);
        ResourceWork {
            reference: Some(OURS.parse().unwrap()),
            creation: Some(creation()),
            marked: true,
            ..ResourceWork::new(Kind::Put, scope, type_name, start)
        }
    }

    const NOW: Timestamp = Timestamp::from_millis(7);

    /// Goes on with the search of `work` as far as it can.
    async fn searched_by(mut work: ResourceWork, script: &mut Script) -> (Search, ResourceWork) {
        loop {
            let step = search(&work, Some(&schema(|_| {})), NOW, script).await;
            let Ok((search, searched)) = step;
            work.searched = searched;
            if search != Search::More {
                return (search, work);
            }
        }
    }

    async fn searched(script: &mut Script) -> Search {
        let (search, work) = searched_by(work(), script).await;
        let is_over = !matches!(search, Search::Unknown(_));
        assert!(!is_over || work.searched.is_none());
        search
    }

    const LACKS: Search = Search::Lacks { began_at: NOW };

    fn found(name: &str) -> Search {
        Search::Found(Identifier::new(name))
    }

    #[tokio::test]
    async fn what_bears_the_mark_is_found_on_any_page() {
        let mut script = Script::of([vec!["vpc-1", "vpc-2"], vec![], vec!["vpc-3", "vpc-4"]]);
        script = script.marked("vpc-2", OTHERS).marked("vpc-3", OURS);
        assert_eq!(searched(&mut script).await, found("vpc-3"));
        assert_eq!(script.read, ["vpc-1", "vpc-2", "vpc-3"]);
        assert_eq!(script.asked, 2, "once for each page that lists something");
    }

    #[tokio::test]
    async fn a_complete_list_without_the_mark_lacks_it() {
        let mut script = Script::of([vec!["vpc-1"], vec!["vpc-2"]]).marked("vpc-2", OTHERS);
        assert_eq!(searched(&mut script).await, LACKS);
    }

    #[tokio::test]
    async fn what_is_accounted_for_or_replaced_is_not_read() {
        let mut script = Script::of([vec!["vpc-1", "vpc-2"]]);
        script = script.marked("vpc-1", OURS).marked("vpc-2", OURS);
        script.accounted_for = BTreeSet::from([Identifier::new("vpc-1")]);
        let work = ResourceWork {
            replacing: Some(Replacing::NewFirst {
                old: Identifier::new("vpc-2"),
                is_named: false,
            }),
            ..work()
        };
        let (search, _) = searched_by(work, &mut script).await;
        assert_eq!(search, LACKS);
        assert_eq!(script.read, [""; 0]);
    }

    /// AWS derives the identifiers of both from one name.
    #[tokio::test]
    async fn what_has_the_identifier_of_a_deleted_one_is_found() {
        let mut script = Script::of([vec!["topic"]]).marked("topic", OURS);
        let work = ResourceWork {
            replacing: Some(Replacing::OldGone {
                old: Identifier::new("topic"),
            }),
            ..work()
        };
        let (search, _) = searched_by(work, &mut script).await;
        assert_eq!(search, found("topic"));
    }

    #[tokio::test]
    async fn a_list_that_shows_tags_saves_reads_but_proves_nothing() {
        let page = vec![
            listed("vpc-1", json!({ "Tags": [] })),
            listed("vpc-2", json!({ "Tags": mark(OTHERS) })),
            listed("vpc-3", json!({ "Tags": mark(OURS) })),
            listed("vpc-4", json!({ "Tags": mark(OURS) })),
        ];
        let script = Script {
            pages: vec![Ok(page)],
            ..Script::default()
        };
        let mut script = script.marked("vpc-4", OURS);
        assert_eq!(searched(&mut script).await, found("vpc-4"));
        assert_eq!(script.read, ["vpc-3", "vpc-4"]);
    }

    #[tokio::test]
    async fn the_last_allowed_read_and_page_may_find_it_and_no_more_are_made() {
        let names = |count: usize| (0..count).map(|n| format!("vpc-{n}")).collect::<Vec<_>>();
        let names = names(READS_MAX + 1);
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let last = all[READS_MAX - 1];
        let mut script = Script::of([all.clone()]).marked(last, OURS);
        assert_eq!(searched(&mut script).await, found(last));
        let mut script = Script::of([all.clone()]).marked(all[READS_MAX], OURS);
        assert_eq!(searched(&mut script).await, Search::TooMany);
        assert_eq!(script.read.len(), READS_MAX);
        // A complete list of exactly so many.
        let mut script = Script::of([all[..READS_MAX].to_vec()]);
        assert_eq!(searched(&mut script).await, LACKS);

        let pages = |count: usize| {
            let mut pages = vec![vec![]; count];
            pages[count - 1] = vec!["vpc-1"];
            Script::of(pages).marked("vpc-1", OURS)
        };
        assert_eq!(searched(&mut pages(PAGES_MAX)).await, found("vpc-1"));
        let mut script = pages(PAGES_MAX + 1);
        assert_eq!(searched(&mut script).await, Search::TooMany);
        assert_eq!(script.listed, PAGES_MAX);
    }

    /// Each part is a step of the operation, under a lease of its own.
    #[tokio::test]
    async fn a_page_of_many_is_read_in_parts() {
        let names: Vec<String> = (0..2 * READS_AT_ONCE + 1)
            .map(|n| format!("vpc-{n}"))
            .collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut script = Script::of([all]);
        let mut work = work();
        let mut parts = Vec::new();
        loop {
            let before = script.read.len();
            let Ok((search, searched)) =
                search(&work, Some(&schema(|_| {})), NOW, &mut script).await;
            parts.push(script.read.len() - before);
            if search != Search::More {
                assert_eq!(search, LACKS);
                break;
            }
            work.searched = searched;
        }
        assert_eq!(parts, [READS_AT_ONCE, READS_AT_ONCE, 1]);
        assert_eq!(script.read, names, "each is read once");
    }

    #[tokio::test]
    async fn what_cannot_be_searched_costs_no_call() {
        let no_list = schema(|schema| {
            schema["handlers"].as_object_mut().unwrap().remove("list");
        });
        let no_tags = schema(|schema| {
            schema["properties"].as_object_mut().unwrap().remove("Tags");
            schema["tagging"] = json!({ "taggable": false });
        });
        let hidden_tags =
            schema(|schema| schema["writeOnlyProperties"] = json!(["/properties/Tags"]));
        let marked = work();
        let unmarked = ResourceWork {
            marked: false,
            ..work()
        };
        let any = schema(|_| {});
        for (work, schema) in [
            (&marked, &no_list),
            (&marked, &no_tags),
            (&marked, &hidden_tags),
            (&unmarked, &any),
        ] {
            let mut script = Script::of([vec!["vpc-1"]]).marked("vpc-1", OURS);
            let Ok((search, _)) = search(work, Some(schema), NOW, &mut script).await;
            assert_eq!(search, Search::Unsearchable);
            assert_eq!((script.listed, script.read.len()), (0, 0));
        }
    }

    #[tokio::test]
    async fn what_cannot_be_read_hides_nothing_and_proves_nothing() {
        let denied = Fault::new(FaultClass::Denied, "AccessDeniedException", "no");
        let throttled = Fault::new(FaultClass::Throttled, "ThrottlingException", "slow down");
        let mut script = Script::of([vec!["vpc-1", "vpc-2"]]);
        script.faults.insert("vpc-1".to_owned(), denied.clone());
        assert_eq!(searched(&mut script).await, Search::Unknown(denied.clone()));
        let mut script = script.marked("vpc-2", OURS);
        assert_eq!(searched(&mut script).await, found("vpc-2"));
        // It would not read the next one either.
        script.faults.insert("vpc-1".to_owned(), throttled.clone());
        script.read.clear();
        assert_eq!(searched(&mut script).await, Search::Unknown(throttled));
        assert_eq!(script.read, ["vpc-1"]);
        let mut script = Script {
            pages: vec![Err(denied.clone())],
            ..Script::default()
        };
        assert_eq!(searched(&mut script).await, Search::Unknown(denied));
    }

    /// It may be what is searched for: "not found" is not gone.
    #[tokio::test]
    async fn what_is_listed_and_not_found_leaves_the_search_open() {
        let missing = Fault::new(FaultClass::Missing, "ResourceNotFoundException", "no");
        let mut script = Script::of([vec!["vpc-1", "vpc-2"]]);
        script.faults.insert("vpc-1".to_owned(), missing);
        let Search::Unknown(fault) = searched(&mut script).await else {
            panic!("it proves nothing")
        };
        assert_eq!(fault.class, FaultClass::Transient);
        assert_eq!(script.read, ["vpc-1", "vpc-1", "vpc-1", "vpc-2"]);
        let mut script = script.marked("vpc-2", OURS);
        assert_eq!(searched(&mut script).await, found("vpc-2"));
    }

    #[tokio::test]
    async fn an_interrupted_search_goes_on_where_it_was() {
        let denied = Fault::new(FaultClass::Denied, "AccessDeniedException", "no");
        let throttled = Fault::new(FaultClass::Throttled, "ThrottlingException", "slow down");
        let mut script = Script::of([vec!["vpc-1"], vec!["vpc-2", "vpc-3"], vec!["vpc-4"]]);
        script.faults.insert("vpc-3".to_owned(), throttled.clone());
        let (search, work) = searched_by(work(), &mut script).await;
        assert_eq!(search, Search::Unknown(throttled.clone()));
        assert_eq!(script.read, ["vpc-1", "vpc-2", "vpc-3"]);

        script.faults.insert("vpc-3".to_owned(), denied.clone());
        let last = std::mem::replace(&mut script.pages[2], Err(throttled.clone()));
        let (search, work) = searched_by(work, &mut script).await;
        assert_eq!(search, Search::Unknown(throttled));
        assert_eq!(
            script.read[3..],
            ["vpc-3"],
            "the first page is not asked for"
        );

        script.pages[2] = last;
        let (search, work) = searched_by(work, &mut script).await;
        assert_eq!(search, Search::Unknown(denied), "it was not whole");
        assert_eq!(script.read[4..], ["vpc-4"]);
        assert_eq!(work.searched, None, "the next one begins anew");
    }

    #[tokio::test]
    async fn a_search_begins_again_once_if_its_token_has_expired() {
        let expired = Fault::new(FaultClass::Rejected, "InvalidRequestException", "no");
        let mut script = Script::of([vec!["vpc-1"], vec!["vpc-2"]]);
        let last = std::mem::replace(&mut script.pages[1], Err(expired.clone()));
        let (search, work) = searched_by(work(), &mut script).await;
        assert_eq!(search, Search::Unknown(expired));
        assert_eq!(script.read, ["vpc-1", "vpc-1"]);
        assert_eq!(script.listed, 4);
        script.pages[1] = last;
        let (search, _) = searched_by(work, &mut script).await;
        assert_eq!((search, script.listed), (LACKS, 5));
    }

    #[test]
    fn no_longer_token_is_kept_than_aws_takes() {
        let after = |bytes| after_page(Searched::since(NOW), Some("t".repeat(bytes)));
        assert_eq!(after(TOKEN_MAX_BYTES).0, Search::More);
        assert_eq!(after(TOKEN_MAX_BYTES + 1), (Search::Unsearchable, None));
    }
}
