use ucp_model::operation::Work;
use ucp_model::{Operation, TypeName};

/// The prediction of an operation that has ended, as a track record counts it.
#[derive(Clone, Debug)]
pub struct Predicted<'a> {
    /// The type of the resource.
    pub type_name: &'a TypeName,
    /// The key of the track record.
    pub key: String,
    /// Whether AWS shows all that was planned.
    pub is_exact: bool,
}

/// Returns what the end of an operation adds to the track record of its type, if anything.
pub fn predicted(operation: &Operation) -> Option<Predicted<'_>> {
    let Work::Resource(work) = &operation.work else {
        return None;
    };
    let prediction = work.prediction.as_ref()?;
    Some(Predicted {
        type_name: &work.type_name,
        key: track_record_key(&work.scope.plane, &work.type_name),
        is_exact: prediction.exact,
    })
}

/// Returns the key of a track record: the aws plane and the type, in lower case.
pub fn track_record_key(plane: &str, type_name: &TypeName) -> String {
    format!("{plane}/{type_name}").to_ascii_lowercase()
}
