//! What a race comes to.

use crate::stage::Stage;

/// What both writers reply, and what they leave behind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    one: Vec<String>,
    other: Vec<String>,
    state: Vec<String>,
    /// Whether the store has answered each writer, and whoever asked what they leave behind.
    pub(super) is_answered: bool,
}

/// Returns whether these are answers of the store. A database on a busy machine may be late.
pub(super) fn are_answers(replies: &[String]) -> bool {
    !replies.iter().any(|reply| reply.contains("Unavailable"))
}

impl Outcome {
    /// Returns what is the same on every stage.
    pub(super) async fn of(stage: &Stage, one: Vec<String>, other: Vec<String>) -> Self {
        let state = stage.state().await;
        let [one, other, state] = [one, other, state].map(|texts: Vec<String>| -> Vec<String> {
            let texts = texts.iter().map(|text| stage.without_number(text));
            texts.collect()
        });
        let is_answered = [&one, &other, &state].into_iter().all(|it| are_answers(it));
        Self {
            one,
            other,
            state,
            is_answered,
        }
    }

    /// Returns the outcomes that leave one line behind as `other` does, and all others as this one. There are none unless both
    /// reply alike.
    pub(super) fn mixes(&self, other: &Self) -> Vec<Outcome> {
        let are_alike = (&self.one, &self.other, self.state.len())
            == (&other.one, &other.other, other.state.len());
        let lines = self.state.iter().zip(&other.state).enumerate();
        let differing = lines.filter(|(_, (own, others))| are_alike && own != others);
        let mixes = differing.map(|(line, (_, others))| {
            let mut mix = self.clone();
            mix.state[line].clone_from(others);
            mix
        });
        mixes.collect()
    }

    /// Returns, in words, in what this differs from each of `orders`.
    pub(super) fn differences(&self, orders: &[Outcome]) -> String {
        let mut text = String::new();
        for (number, order) in orders.iter().enumerate() {
            let (own, others) = (self.lines(), order.lines());
            for line in own.iter().filter(|line| !others.contains(line)) {
                text += &format!("order {number}, has    {line}\n");
            }
            for line in others.iter().filter(|line| !own.contains(line)) {
                text += &format!("order {number}, has not {line}\n");
            }
        }
        text
    }

    fn lines(&self) -> Vec<String> {
        let replies = |name: &str, replies: &[String]| -> Vec<String> {
            let replies = replies.iter().enumerate();
            replies
                .map(|(act, reply)| format!("{name}, reply {act}: {reply}"))
                .collect()
        };
        let (one, other) = (replies("one", &self.one), replies("other", &self.other));
        [one, other, self.state.clone()].concat()
    }
}
