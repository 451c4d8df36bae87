use ucp_model::{ArmResource, ETag, NewArmResource, Timestamp};

use crate::Error;

/// The precondition of a write (RFC 9110, section 13). It is checked in the transaction that writes, so no other write
/// can come in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// The current ETag must be one of these.
    pub if_match: Option<Tags>,
    /// The current ETag must not be one of these.
    pub if_none_match: Option<Tags>,
    /// A group must take no more changes without a plan than before: the caller may not approve any.
    pub keeps_plan_policy: bool,
}

/// A write of a resource, with what it replaced in the same transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written<T> {
    /// What was there; `None` if it is new.
    pub before: Option<T>,
    /// What is there now.
    pub after: T,
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// `*`: any existing resource.
    Any,
    /// One of these.
    Of(Vec<ETag>),
}

impl Tags {
    fn name(&self, current: Option<&ETag>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Tags::Any, Some(_)) => true,
            (Tags::Of(tags), Some(current)) => tags.contains(current),
        }
    }
}

impl Precondition {
    /// The precondition that always holds.
    pub const NONE: Self = Self {
        if_match: None,
        if_none_match: None,
        keeps_plan_policy: false,
    };

    /// `If-None-Match: *`: the resource must not exist.
    pub fn absent() -> Self {
        Self {
            if_none_match: Some(Tags::Any),
            ..Self::NONE
        }
    }

    /// `If-Match` with one tag.
    pub fn matches(tag: ETag) -> Self {
        Self {
            if_match: Some(Tags::Of(vec![tag])),
            ..Self::NONE
        }
    }

    /// Returns what a PUT of `new` over `current` writes, or [`Error::PreconditionFailed`].
    pub fn put<Id: Clone, Body>(
        &self,
        current: Option<&ArmResource<Id, Body>>,
        new: NewArmResource<Id, Body>,
        now: Timestamp,
    ) -> Result<ArmResource<Id, Body>, Error> {
        self.judge(current.map(ArmResource::etag))?;
        Ok(ArmResource::put(current, new, now))
    }

    /// Checks the precondition against the current ETag; `None` if there is no resource.
    pub fn judge(&self, current: Option<ETag>) -> Result<(), Error> {
        let named = |tags: &Tags| tags.name(current.as_ref());
        let holds = self.if_match.as_ref().is_none_or(named)
            && !self.if_none_match.as_ref().is_some_and(named);
        if holds {
            Ok(())
        } else {
            Err(Error::PreconditionFailed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(revision: u64) -> ETag {
        ETag::of_revision(Timestamp::from_millis(7), revision)
    }

    #[test]
    fn the_table_of_the_contract() {
        let exists = Precondition {
            if_match: Some(Tags::Any),
            ..Precondition::NONE
        };
        let not_this = Precondition {
            if_none_match: Some(Tags::Of(vec![tag(1)])),
            ..Precondition::NONE
        };
        for (precondition, absent, first, second) in [
            (Precondition::NONE, true, true, true),
            (exists, false, true, true),
            (Precondition::matches(tag(1)), false, true, false),
            (Precondition::absent(), true, false, false),
            (not_this, true, false, true),
        ] {
            let holds = |current| precondition.judge(current).is_ok();
            assert_eq!(holds(None), absent, "{precondition:?}");
            assert_eq!(holds(Some(tag(1))), first, "{precondition:?}");
            assert_eq!(holds(Some(tag(2))), second, "{precondition:?}");
        }
    }

    #[test]
    fn both_headers_have_to_hold() {
        let both = Precondition {
            if_match: Some(Tags::Any),
            if_none_match: Some(Tags::Of(vec![tag(1)])),
            ..Precondition::NONE
        };
        assert!(both.judge(Some(tag(2))).is_ok());
        assert!(both.judge(Some(tag(1))).is_err());
        assert!(both.judge(None).is_err());
    }
}
