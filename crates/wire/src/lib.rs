//! Bodies of the API, once for who writes them and who reads them.
//!
//! The server serializes and describes them, clients deserialize them. They are read tolerantly: members that a reader does not
//! know are skipped, and words are texts, since a later server may have others. What they are made of is in `ucp-model`.

mod error;
mod refactor;

pub use error::{AdditionalInfoType, ErrorAdditionalInfo, ErrorBody, ErrorDetail, ErrorResponse};
pub use refactor::{
    AmbiguityBody, ChangesBody, EnvironmentBody, GroupsBody, HistoryBody, MoveBody, RefactorBody,
    RefactorFindings, RefusedBody,
};
