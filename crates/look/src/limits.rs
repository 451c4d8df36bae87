use ucp_model::{Beyond, Limit, Most};

use crate::{listing, planner, search};

/// What is limited of looks: of what is kept to compare with, and of lists that are read to learn what became of a resource.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "compared-model",
        what: "The planned model of an update that is kept to compare with what AWS shows afterwards",
        most: Most::Bytes(planner::PLANNED_MAX),
        beyond: Beyond::Told("Only what was declared is compared."),
    },
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
        beyond: Beyond::Told(
            "The search cannot tell. A create that would be sent again ends with its outcome unknown.",
        ),
    },
    Limit {
        name: "searched-reads",
        what: "The resources that are read in such a search",
        most: Most::Number(search::READS_MAX),
        beyond: Beyond::Told(
            "The search cannot tell. A create that would be sent again ends with its outcome unknown.",
        ),
    },
];
