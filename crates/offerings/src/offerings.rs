use std::collections::BTreeMap;

use serde_json::Value;
use ucp_schema::Catalogue;

use crate::limits::FILES_MAX;
use crate::offering::Offering;
use crate::problem::{Problem, Problems};
use crate::reading::offering::{Identity, Written};
use crate::source::SourceFile;
use crate::{catalog, reading, source};

/// The offerings of a broker.
#[derive(Debug, Default)]
pub struct Offerings {
    all: Vec<Offering>,
    notes: Vec<Problem>,
}

impl Offerings {
    /// Reads files, of which each describes an offering. Fails with all that is wrong with all of them, in the order of
    /// their names and lines.
    pub fn read(files: &[SourceFile], catalogue: &Catalogue) -> Result<Self, Vec<Problem>> {
        let mut files: Vec<&SourceFile> = files.iter().collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(beyond) = files.get(FILES_MAX) {
            let mut problems = Problems::of(&beyond.name);
            problems.add(1, format!("a broker has at most {FILES_MAX} offerings"));
            return Err(problems.into_parts().0);
        }
        let mut found = Vec::new();
        let mut notes = Vec::new();
        let mut offerings = Vec::new();
        let mut identities = Vec::new();
        for file in files {
            let mut problems = Problems::of(&file.name);
            if let Some(node) = source::read(file, &mut problems) {
                let (identity, offering) = reading::offering::read(&node, catalogue, &mut problems);
                identities.push((file.name.as_str(), identity));
                offerings.extend(offering);
            }
            let (wrong, noted) = problems.into_parts();
            found.extend(wrong);
            notes.extend(noted);
        }
        repeated(&identities, &mut found);
        found.sort();
        found.dedup();
        if found.is_empty() {
            Ok(Self {
                all: offerings,
                notes,
            })
        } else {
            Err(found)
        }
    }

    /// Returns the offering with a service id.
    pub fn offering(&self, service_id: &str) -> Option<&Offering> {
        self.iter().find(|offering| offering.id() == service_id)
    }

    /// Returns all offerings, in the order of their files' names.
    pub fn iter(&self) -> impl Iterator<Item = &Offering> {
        self.all.iter()
    }

    /// Returns what is good to know of the files, in the order of their names: which plan changes leave an instance without a
    /// resource for a while.
    pub fn notes(&self) -> &[Problem] {
        &self.notes
    }

    /// Returns the body of `GET /v2/catalog`, with those offerings that are allowed.
    pub fn catalog(&self, allowed: impl Fn(&Offering) -> bool) -> Value {
        catalog::of(self.iter().filter(|offering| allowed(offering)))
    }
}

/// Tells of ids and names that are there before.
fn repeated(identities: &[(&str, Identity)], problems: &mut Vec<Problem>) {
    let each =
        |what: &str, written: fn(&Identity) -> Vec<&Written>, problems: &mut Vec<Problem>| {
            let mut known: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
            for (file, identity) in identities {
                for (text, line) in written(identity) {
                    if let Some((other, first)) = known.get(text.as_str()) {
                        problems.push(Problem {
                            file: (*file).to_owned(),
                            line: *line,
                            message: format!("the {what} `{text}` is that of {other}:{first} too"),
                        });
                        continue;
                    }
                    known.insert(text, (file, *line));
                }
            }
        };
    each("id", |identity| identity.id.iter().collect(), problems);
    each("name", |identity| identity.name.iter().collect(), problems);
    each(
        "id of a plan",
        |identity| identity.plans.iter().collect(),
        problems,
    );
}
