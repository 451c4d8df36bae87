use ucp_model::{Beyond, Limit, Most};

use crate::{listing, search};

/// What is limited of lists that are read to learn what became of a resource.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "listed-resources",
        what: "The resources of a list that is read to prove that one is absent",
        most: Most::Number(listing::LONGEST),
        beyond: Beyond::Told(
            "The list proves nothing; looks alone prove that the resource is absent.",
        ),
    },
    Limit {
        name: "listed-pages",
        what: "The pages of such a list",
        most: Most::Number(listing::PAGES_MAX),
        beyond: Beyond::Told(
            "The list proves nothing; looks alone prove that the resource is absent.",
        ),
    },
    Limit {
        name: "searched-pages",
        what: "The pages of a list that are searched for what a create has made without naming it",
        most: Most::Number(search::PAGES_MAX),
        beyond: Beyond::Told("The search cannot tell, and what the create made stays unknown."),
    },
    Limit {
        name: "searched-reads",
        what: "The resources that are read in such a search",
        most: Most::Number(search::READS_MAX),
        beyond: Beyond::Told("The search cannot tell, and what the create made stays unknown."),
    },
];
