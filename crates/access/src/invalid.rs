use ucp_model::ids::InvalidId;

/// Why a text is not a scope, a role or a name. A sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub(crate) String);

impl From<InvalidId> for Invalid {
    fn from(error: InvalidId) -> Self {
        let text = error.to_string();
        let mut letters = text.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        Self(first.into_iter().chain(letters).chain(['.']).collect())
    }
}
