//! What an operation says of the other references that stand for its resource.

use super::resource::{Kind, ResourceWork};
use crate::{Detail, ErrorCode, Failure, Identifier, ReferenceId, Target, Warning};

/// How many references are named in a failure.
const NAMED_MAX: usize = 20;
/// The code of the warning that a resource is given up.
const GIVEN_UP: &str = "SharedResource";

impl ResourceWork {
    /// Warns that `left`, which it would delete or replace, is left to the other references that stand for it. An heir in another
    /// group is not named: not everybody who reads this may read that.
    pub fn giving_up(&self, left: Option<&Identifier>) -> Warning {
        let own = self.reference.as_ref().map(|own| own.group.key());
        let owner = match &self.heir {
            Some(heir) => {
                let heir = if own == Some(heir.group.key()) { heir.to_string() } else { "one of them, in another resource group,".to_owned() };
                format!(
                    "From now on {heir} owns it, unless an operation works on that then, or its group is being deleted: then nobody does."
                )
            }
            None => {
                "Unless one of them owns it already, nobody does from now on. To delete it, name it: DELETE it by its AWS name."
                    .to_owned()
            }
        };
        let what = match self.kind {
            Kind::Put => "the resource that was replaced",
            Kind::Delete | Kind::Import | Kind::Resolve => "the resource, or its set declares it",
        };
        let target = left.map(|identifier| Target {
            scope: &self.scope,
            type_name: &self.type_name,
            identifier,
        });
        let target = target.map(|it| it.scope.resource(it.type_name, it.identifier));
        Warning {
            code: GIVEN_UP.to_owned(),
            message: format!("Other references stand for {what}, so it is left alone. {owner}"),
            target: target.unwrap_or_default(),
        }
    }

    /// Returns what it has told of a resource that it has given up.
    pub fn given_up(&self) -> impl Iterator<Item = &Warning> {
        let warnings = self.warnings.iter();
        warnings.filter(|warning| warning.code == GIVEN_UP)
    }
}

/// Returns the failure of a deletion of a resource that `others` stand for, too. Those in groups that the reader may not read are
/// counted, and not named.
pub fn shared_elsewhere(
    others: &[ReferenceId],
    may_be_named: impl Fn(&ReferenceId) -> bool,
) -> Failure {
    const CODE: &str = "ResourceShared";
    let (mut named, hidden): (Vec<_>, Vec<_>) =
        others.iter().partition(|other| may_be_named(other));
    named.sort_unstable_by_key(|other| other.key());
    let mut details: Vec<Detail> = (named.iter().take(NAMED_MAX))
        .map(|other| Detail::at(CODE, "stands for the resource too", other.to_string()))
        .collect();
    let more = named.len().saturating_sub(NAMED_MAX) + hidden.len();
    if more > 0 {
        let message = if named.is_empty() {
            format!("{more} references of other resource groups stand for the resource too")
        } else {
            format!("{more} more references stand for the resource too")
        };
        details.push(Detail {
            code: CODE.to_owned(),
            message,
            target: None,
        });
    }
    let message = "Other references stand for the resource, which they would lose. It was neither deleted nor replaced. Delete those references first, which leaves the resource alone if they do not own it. Or give it up under this alias: POST to the :release of the reference, or send onShared release with the set, with the put, or with a POST to the :delete of the group. To delete it for all of them, name it: DELETE it by its AWS name, without a plan.";
    Failure::new(ErrorCode::Conflict, message).with_details(details)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupId, TypeName};

    fn reference(group: &str, alias: &str) -> ReferenceId {
        let group = GroupId::new("local", group).unwrap();
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        ReferenceId::new(group, type_name, alias).unwrap()
    }

    #[test]
    fn what_may_not_be_read_is_counted_and_not_named() {
        let others = [reference("ours", "a"), reference("theirs", "b")];
        let is_ours = |other: &ReferenceId| other.group.key() == others[0].group.key();
        let failure = shared_elsewhere(&others, is_ours);
        let targets: Vec<_> = failure.details.iter().map(|it| it.target.clone()).collect();
        assert_eq!(targets, [Some(others[0].to_string()), None]);
        let said = format!("{failure:?}");
        assert!(
            said.contains("1 more") && !said.contains("theirs"),
            "{said}"
        );
        let none = shared_elsewhere(&others, |_| false);
        assert!(none.details[0].message.starts_with("2 references"));
    }

    #[test]
    fn so_many_are_named_and_no_more() {
        let others: Vec<_> = (0..=NAMED_MAX)
            .map(|index| reference("ours", &index.to_string()))
            .collect();
        let failure = shared_elsewhere(&others, |_| true);
        assert_eq!(failure.details.len(), NAMED_MAX + 1);
        assert!(failure.details[NAMED_MAX].message.starts_with("1 more"));
    }
}
