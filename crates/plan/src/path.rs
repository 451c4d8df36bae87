use ucp_model::json;
use ucp_model::pointer::{PointerBuf, Token};

/// The current location of a walk through a declaration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path<'a>(Vec<Step<'a>>);

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Key(&'a str),
    Element {
        index: usize,
        /// The index of the same element in the last declaration.
        last: Option<usize>,
    },
}

impl<'a> Path<'a> {
    pub(crate) fn push(&mut self, step: json::Step<'a>) {
        match step {
            json::Step::Member(name) => self.push_key(name),
            json::Step::Element(index) => self.push_element(index, None),
        }
    }

    pub(crate) fn push_key(&mut self, name: &'a str) {
        self.0.push(Step::Key(name));
    }

    pub(crate) fn push_element(&mut self, index: usize, last: Option<usize>) {
        self.0.push(Step::Element { index, last });
    }

    /// Returns the name of the last step, if it is a member.
    pub(crate) fn last_key(&self) -> Option<&'a str> {
        match self.0.last() {
            Some(Step::Key(name)) => Some(name),
            Some(Step::Element { .. }) | None => None,
        }
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// Returns whether it is the path of a top-level property.
    pub(crate) fn is_top(&self) -> bool {
        self.0.len() == 1
    }

    /// Returns the JSON Pointer into the declaration.
    pub(crate) fn pointer(&self) -> String {
        self.written(|step| match step {
            Step::Key(name) => Token::new(*name),
            Step::Element { index, .. } => Token::from(*index),
        })
    }

    /// Returns the JSON Pointer with `*` in place of indexes.
    pub(crate) fn pattern(&self) -> String {
        self.written(|step| match step {
            Step::Key(name) => Token::new(*name),
            Step::Element { .. } => Token::new("*"),
        })
    }

    /// Returns the JSON Pointer into the last declaration, if it had this location.
    pub(crate) fn last_pointer(&self) -> Option<String> {
        let had_it = |step: &Step<'_>| !matches!(step, Step::Element { last: None, .. });
        self.0.iter().all(had_it).then(|| {
            self.written(|step| match step {
                Step::Key(name) => Token::new(*name),
                Step::Element { last, .. } => Token::from(last.unwrap_or_default()),
            })
        })
    }

    fn written(&self, token: impl Fn(&Step<'a>) -> Token<'a>) -> String {
        PointerBuf::from_tokens(self.0.iter().map(token)).to_string()
    }
}
