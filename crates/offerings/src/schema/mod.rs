//! Schemas of parameters, in draft-04: from the type's own, narrowed by keywords, and the judge of values by them.

pub(crate) mod flat;
pub(crate) mod judge;
pub(crate) mod keywords;
pub(crate) mod narrow;
