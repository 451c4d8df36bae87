//! What honest clients got, turn by turn. Turns are short and compared with their neighbours, so that whatever else a machine
//! has to do in a long run concerns both alike.

use std::fmt;

/// Honest puts a second: alone in a turn, then among hostile clients, then alone, and so on.
pub(super) struct Rates {
    /// One more than there are turns of hostile clients.
    alone: Vec<f64>,
    among: Vec<f64>,
}

impl Rates {
    pub(super) fn beginning(alone: f64) -> Self {
        Self {
            alone: vec![alone],
            among: Vec::new(),
        }
    }

    /// Adds a turn of hostile clients and the one after it.
    pub(super) fn add(&mut self, among: f64, alone: f64) {
        self.among.push(among);
        self.alone.push(alone);
    }

    /// Returns the last rounds.
    pub(super) fn last(&self, rounds: usize) -> Self {
        let first = self.among.len() - rounds;
        Self {
            alone: self.alone[first..].to_vec(),
            among: self.among[first..].to_vec(),
        }
    }

    /// Returns the share that was left to honest clients: the median, over all neighbouring turns.
    pub(super) fn share(&self) -> f64 {
        median(self.shares())
    }

    fn shares(&self) -> Vec<f64> {
        let before = self.among.iter().zip(&self.alone);
        let after = self.among.iter().zip(&self.alone[1..]);
        let shares = before.chain(after).map(|(among, alone)| among / alone);
        shares.collect()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alone, among) = (median(self.alone.clone()), median(self.among.clone()));
        let lowest = self.shares().into_iter().fold(f64::INFINITY, f64::min);
        write!(
            f,
            "{alone:.1} honest puts a second alone, {among:.1} among hostile clients; in {} rounds {:.2} of the rate alone, {lowest:.2} at the lowest",
            self.among.len(),
            self.share(),
        )
    }
}
