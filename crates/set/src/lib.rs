//! Sets: declarations of several resources, with references between them.
//!
//! A [`Set`] is what a request declares. [`Draft::of`] reads the expressions in it and says which names are not its own.
//! Once these are looked up, [`Draft::link`] resolves every name, and returns the set with the order of its members, and
//! all that is wrong with it. In a linked value each reference names a tracking id, so that it means the same later on;
//! [`resolve`](fn@resolve) puts the values in.
//!
//! [`Expression`] and [`Graph`] are what references and orders are made of, for others that read declarations with
//! references.
//!
//! Nothing here performs I/O. Validating, showing and applying a set begin with these functions.

mod address;
mod declarations;
mod detail_code;
mod draft;
mod expression;
mod graph;
mod limits;
mod link;
mod names;
mod path;
mod referent;
mod referred;
mod resolve;
mod set;

pub use address::address;
pub use declarations::{Declarations, DeclaredMember};
pub use detail_code::DetailCode;
pub use draft::{Draft, Linked, LinkedMember};
pub use expression::{Address, Expression, Misread, Part, renamed, visit};
pub use graph::{Graph, Sorted};
pub use limits::{
    CONCAT_PARTS_MAX, LIMITS, MEMBERS_MAX, OUTPUTS_MAX, OUTSIDE_MAX, REFERENCES_MAX,
    REFERRED_MAX_BYTES,
};
pub use link::Link;
pub use names::{Outside, ambiguous};
pub use path::objection;
pub use referent::{RecordedReferent, Referent, UnreadReferent};
pub use referred::Referred;
pub use resolve::{Unresolved, left_open, links, links_of, resolve, with_unknown};
pub use set::{Goal, Member, Set};
