use ucp_model::pointer;
use ucp_schema::Violation;

use crate::change::Change;
use crate::edit::Edit;
use crate::warning::Warning;

/// The findings of a walk other than edits.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The create-only properties whose declared value differs.
    pub(crate) replace_paths: Vec<String>,
    /// The corresponding changes, with values.
    pub(crate) replacements: Vec<Change>,
    pub(crate) warnings: Vec<Warning>,
    /// Why the declaration can never be satisfied.
    pub(crate) errors: Vec<Violation>,
}

impl Found {
    /// Sorts everything, since the order of members is irrelevant.
    pub(crate) fn sort(&mut self) {
        self.replace_paths.sort_unstable();
        self.replace_paths.dedup();
        self.replacements
            .sort_by(|one, other| one.path.cmp(&other.path));
        self.warnings
            .sort_by(|one, other| one.path.cmp(&other.path));
        self.errors
            .sort_by(|one, other| one.pointer.cmp(&other.pointer));
    }

    /// Returns the number of replacements found so far.
    pub(crate) fn mark(&self) -> usize {
        self.replace_paths.len()
    }

    /// Forgets the replacements found since `mark`.
    pub(crate) fn forget_replacements(&mut self, mark: usize) {
        self.replace_paths.truncate(mark);
        self.replacements.truncate(mark);
    }

    /// Records a replacement for every change, for a type without an update handler.
    pub(crate) fn replace_all_of(&mut self, edit: &Edit) {
        if let Edit::Members(edits) = edit {
            let changed = edits.iter().filter(|(_, edit)| edit.is_change());
            let paths = changed.map(|(name, _)| pointer::join("/properties", name));
            self.replace_paths.extend(paths);
            self.replace_paths.sort_unstable();
        }
    }
}
