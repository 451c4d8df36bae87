/// Why a text is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidId(pub(super) String);

pub(super) fn invalid<T>(message: impl Into<String>) -> Result<T, InvalidId> {
    Err(InvalidId(message.into()))
}
