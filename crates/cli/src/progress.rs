//! The progress of an operation: live on a terminal, a line for each event elsewhere.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;
use tokio::time::Instant;

use crate::id;
use crate::output::{self, Output};
use crate::render::readable;

/// How often the times on a terminal go on.
const TICK: Duration = Duration::from_millis(200);

/// Something that has come to pass since the status before.
#[derive(Debug, PartialEq)]
enum Event {
    /// A resource of a set is being changed.
    Started { name: String },
    /// AWS has refused the change of a resource of a set, which goes on.
    Refused { name: String, why: String },
    /// A resource of a set has come to its end.
    Ended {
        name: String,
        state: String,
        took: Duration,
    },
    /// The operation does something else than before.
    Says(String),
}

/// What is known of an operation.
#[derive(Default)]
struct Tracker {
    /// The state of each resource of a set, and when it was first seen in it or last seen waiting.
    resources: HashMap<String, (String, Duration)>,
    /// The latest error of each resource of a set that was told.
    refused: HashMap<String, String>,
    said: String,
}

impl Tracker {
    /// Compares a status with the one before. `at` is the time since the beginning.
    fn observe(&mut self, status: &Value, at: Duration) -> Vec<Event> {
        let properties = &status["properties"];
        match properties["resources"].as_array() {
            Some(resources) => {
                let events = resources.iter().filter_map(|resource| {
                    let name = id::short(resource["trackedBy"].as_str()?);
                    let state = resource["status"].as_str()?;
                    let changed = self.resource(name.clone(), state, at);
                    Some([changed, self.refused(name, &resource["lastError"])])
                });
                events.flatten().flatten().collect()
            }
            None => self.says(&properties["progress"]).into_iter().collect(),
        }
    }

    fn resource(&mut self, name: String, state: &str, at: Duration) -> Option<Event> {
        let before = self.resources.get(&name);
        let is_new = before.is_none_or(|(before, _)| before != state);
        let since = before.map_or(at, |(_, since)| *since);
        if is_new || state == "Waiting" {
            let seen = (state.to_owned(), at);
            self.resources.insert(name.clone(), seen);
        }
        match state {
            _ if !is_new => None,
            // There may be hundreds.
            "Waiting" | "Unchanged" => None,
            "Running" => Some(Event::Started { name }),
            _ => Some(Event::Ended {
                name,
                state: state.to_owned(),
                took: at.saturating_sub(since),
            }),
        }
    }

    fn refused(&mut self, name: String, error: &Value) -> Option<Event> {
        let (code, message) = (error["code"].as_str()?, error["message"].as_str()?);
        let why = format!("{code}: {message}");
        let before = self.refused.insert(name.clone(), why.clone());
        (before.as_ref() != Some(&why)).then_some(Event::Refused { name, why })
    }

    fn says(&mut self, progress: &Value) -> Option<Event> {
        let phase = progress["phase"].as_str()?;
        let mut text = format!("{phase}: waiting for {}", progress["waitingFor"].as_str()?);
        if let Some(error) = progress["lastError"]["message"].as_str() {
            text.push_str(&format!(" (last error: {error})"));
        }
        if text == self.said {
            return None;
        }
        self.said.clone_from(&text);
        Some(Event::Says(text))
    }
}

/// Shows the progress of an operation.
pub(crate) struct Progress {
    tracker: Tracker,
    began: Instant,
    screen: Screen,
}

enum Screen {
    Live {
        bars: MultiProgress,
        /// The line of each resource that is being changed.
        running: HashMap<String, ProgressBar>,
        /// The last line.
        all: ProgressBar,
    },
    Lines(Output, Phases),
}

/// Whether the phases of an operation are told where they are not live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phases {
    /// They are: somebody watches.
    Told,
    /// They are not: what counts is the end.
    Untold,
}

impl Progress {
    /// Shows it where `output` leaves room for people.
    pub(crate) fn new(output: Output, phases: Phases) -> Self {
        let is_terminal = if output.is_json() {
            io::stderr().is_terminal()
        } else {
            io::stdout().is_terminal()
        };
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let screen = if is_terminal && !is_dumb {
            let target = if output.is_json() {
                ProgressDrawTarget::stderr()
            } else {
                ProgressDrawTarget::stdout()
            };
            let bars = MultiProgress::with_draw_target(target);
            let all = bars.add(spinner());
            Screen::Live {
                bars,
                running: HashMap::new(),
                all,
            }
        } else {
            Screen::Lines(output, phases)
        };
        Self {
            tracker: Tracker::default(),
            began: Instant::now(),
            screen,
        }
    }

    /// Shows what has come to pass. That nobody reads it does not stop the operation.
    pub(crate) fn observe(&mut self, status: &Value) {
        for event in self.tracker.observe(status, self.began.elapsed()) {
            self.screen.show(&event);
        }
        if let (Screen::Live { all, .. }, Some(percent)) =
            (&self.screen, status["percentComplete"].as_u64())
        {
            all.set_message(format!("{percent} %"));
        }
    }
}

impl Screen {
    fn show(&mut self, event: &Event) {
        match (self, event) {
            (Screen::Live { bars, running, all }, Event::Started { name }) => {
                let bar = bars.insert_before(all, spinner());
                bar.set_message(readable(name).into_owned());
                running.insert(name.clone(), bar);
            }
            (Screen::Live { bars, running, .. }, Event::Ended { name, .. }) => {
                if let Some(bar) = running.remove(name) {
                    bar.finish_and_clear();
                }
                let _ = bars.println(line(event));
            }
            (Screen::Live { bars, .. }, Event::Refused { .. }) => {
                let _ = bars.println(line(event));
            }
            (Screen::Live { all, .. }, Event::Says(text)) => {
                all.set_message(readable(text).into_owned());
            }
            (Screen::Lines(..), Event::Started { .. })
            | (Screen::Lines(_, Phases::Untold), Event::Says(_)) => {}
            (
                Screen::Lines(output, _),
                Event::Refused { .. } | Event::Ended { .. } | Event::Says(_),
            ) => {
                if output.is_json() {
                    output::tell(line(event))
                } else {
                    let _ = output::print(&format!("{}\n", line(event)));
                }
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Screen::Live { bars, .. } = self {
            let _ = bars.clear();
        }
    }
}

fn line(event: &Event) -> String {
    let line = match event {
        Event::Started { name } => name.clone(),
        Event::Refused { name, why } => format!("{name}: AWS has answered {why}"),
        Event::Ended { name, state, took } => format!("{name}: {state} after {}", seconds(*took)),
        Event::Says(text) => text.clone(),
    };
    readable(&line).into_owned()
}

/// A duration in whole seconds, as `1m 5s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = Duration::from_secs(duration.as_secs());
    humantime::format_duration(whole).to_string()
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    let bar = ProgressBar::new_spinner();
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn set(states: [&str; 2]) -> Value {
        let resource = |(alias, state): (&str, &str)| {
            json!({"symbolicName": alias, "status": state,
                "trackedBy": format!("/planes/radius/local/resourcegroups/g/providers/AWS.EC2/VPC:reference/{alias}")})
        };
        let resources: Vec<Value> = ["a", "b"].into_iter().zip(states).map(resource).collect();
        json!({"status": "Running", "properties": {"resources": resources}})
    }

    #[test]
    fn each_resource_is_told_once_with_its_own_time() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.observe(&set(["Waiting", "Waiting"]), at(0)), []);
        let started = Event::Started {
            name: "AWS.EC2/VPC a".to_owned(),
        };
        assert_eq!(
            tracker.observe(&set(["Running", "Waiting"]), at(1)),
            [started]
        );
        assert_eq!(tracker.observe(&set(["Running", "Waiting"]), at(5)), []);
        let told = tracker.observe(&set(["Succeeded", "Failed"]), at(8));
        let lines: Vec<String> = told.iter().map(line).collect();
        // The second one was last seen waiting after five seconds.
        assert_eq!(
            lines,
            [
                "AWS.EC2/VPC a: Succeeded after 7s",
                "AWS.EC2/VPC b: Failed after 3s"
            ]
        );
        assert_eq!(tracker.observe(&set(["Succeeded", "Failed"]), at(9)), []);
    }

    #[test]
    fn an_error_after_which_a_resource_goes_on_is_told_once() {
        let mut tracker = Tracker::default();
        let refused = |message: &str| {
            let mut status = set(["Running", "Waiting"]);
            status["properties"]["resources"][0]["lastError"] =
                json!({"code": "AlreadyExists", "message": message});
            status
        };
        let mut told = |status: &Value, at| {
            let events = tracker.observe(status, Duration::from_secs(at));
            events.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(
            told(&refused("Taken."), 0),
            [
                "AWS.EC2/VPC a",
                "AWS.EC2/VPC a: AWS has answered AlreadyExists: Taken."
            ]
        );
        assert_eq!(told(&refused("Taken."), 1), [""; 0]);
        // It has not been told of for a while, and is the same one.
        assert_eq!(told(&set(["Running", "Waiting"]), 2), [""; 0]);
        assert_eq!(told(&refused("Taken."), 3), [""; 0]);
        assert_eq!(
            told(&refused("Still taken."), 4),
            ["AWS.EC2/VPC a: AWS has answered AlreadyExists: Still taken."]
        );
    }

    #[test]
    fn what_is_as_declared_is_not_told() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.observe(&set(["Unchanged", "Unchanged"]), at(0)), []);
    }

    #[test]
    fn another_phase_is_told_once() {
        let mut tracker = Tracker::default();
        let status = json!({"properties": {"progress": {"phase": "Waiting", "waitingFor": "AWS",
            "lastError": {"message": "Slow down"}}}});
        let told = "Waiting: waiting for AWS (last error: Slow down)";
        assert_eq!(
            tracker.observe(&status, at(0)),
            [Event::Says(told.to_owned())]
        );
        assert_eq!(tracker.observe(&status, at(1)), []);
    }
}
