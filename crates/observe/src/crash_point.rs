use std::fmt;
use std::str::FromStr;

/// A point at which a process may crash: immediately before or after an externally visible event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrashPoint {
    /// Before or after the moment.
    pub edge: Edge,
    /// The moment.
    pub moment: Moment,
}

/// The side of a [`Moment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// The event has not happened yet.
    Before,
    /// The event has happened, but its result has not been returned.
    After,
}

macro_rules! moments {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// Each commit and each AWS call in the life of an operation, or of a request that needs none. A commit that is
        /// refused has no [`Edge::After`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Moment {
            $($(#[$doc])* $name,)*
        }

        impl Moment {
            /// All moments, in the order of an operation's life.
            pub const ALL: &[Moment] = &[$(Moment::$name),*];

            /// Returns its name in `UCP_PAUSE_AT`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Moment::$name => $word,)*
                }
            }
        }
    };
}

moments! {
    /// The commit that claims the alias, or closes the group, and records the operation.
    Accept = "accept",
    /// The commit of what a request has learned that changes nothing.
    Remember = "remember",
    /// The commit of a reference that a request adopts without an operation.
    Adopt = "adopt",
    /// The commit that moves references.
    Move = "move",
    /// The commit that takes a lease.
    Claim = "claim",
    /// The commit that starts a child of an operation on a group.
    StartChild = "start-child",
    /// `GetResource`, both before a decision and after AWS's verdict.
    Look = "look",
    /// The commit of the intent: client token and exact bytes.
    RecordIntent = "record-intent",
    /// `CreateResource`.
    Create = "create",
    /// `UpdateResource`.
    Update = "update",
    /// `DeleteResource`.
    Delete = "delete",
    /// The commit of a request token, of a revealed identifier, or of the progress of an operation on a group.
    RecordProgress = "record-progress",
    /// `GetResourceRequestStatus`.
    Poll = "poll",
    /// `CancelResourceRequest`.
    Cancel = "cancel",
    /// The commit of AWS's verdict, before the result is read.
    RecordVerdict = "record-verdict",
    /// The commit that ends the operation.
    Finish = "finish",
}

impl CrashPoint {
    /// Returns the point immediately before `moment`.
    pub const fn before(moment: Moment) -> Self {
        Self {
            edge: Edge::Before,
            moment,
        }
    }

    /// Returns the point immediately after `moment`.
    pub const fn after(moment: Moment) -> Self {
        Self {
            edge: Edge::After,
            moment,
        }
    }

    /// Returns all crash points, in the order of an operation's life.
    pub fn all() -> impl Iterator<Item = CrashPoint> {
        Moment::ALL
            .iter()
            .flat_map(|moment| [Self::before(*moment), Self::after(*moment)])
    }
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edge = match self.edge {
            Edge::Before => "before",
            Edge::After => "after",
        };
        write!(f, "{edge}-{}", self.moment.as_str())
    }
}

impl FromStr for CrashPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
            .find(|point| point.to_string() == text)
            .ok_or_else(|| {
                let known: Vec<String> = Self::all().map(|point| point.to_string()).collect();
                format!(
                    "'{text}' is not a crash point. Valid crash points are {}",
                    known.join(", ")
                )
            })
    }
}

/// One occurrence of a crash point in a process: `after-claim` is the first, `after-claim#2` the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrashTurn {
    /// The crash point.
    pub point: CrashPoint,
    /// Which occurrence, counted from 1.
    pub turn: u32,
}

impl CrashTurn {
    /// Returns the occurrence to wait for after `point` has been reached; `None` if this was it.
    #[must_use]
    pub fn reached(self, point: CrashPoint) -> Option<Self> {
        match self.turn {
            _ if point != self.point => Some(self),
            0 | 1 => None,
            turn => Some(Self {
                turn: turn - 1,
                ..self
            }),
        }
    }
}

impl From<CrashPoint> for CrashTurn {
    fn from(point: CrashPoint) -> Self {
        Self { point, turn: 1 }
    }
}

impl fmt::Display for CrashTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.turn {
            1 => self.point.fmt(f),
            turn => write!(f, "{}#{turn}", self.point),
        }
    }
}

impl FromStr for CrashTurn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((point, turn)) = text.split_once('#') else {
            return text.parse().map(CrashPoint::into);
        };
        let turn = turn
            .parse()
            .map_err(|_| format!("'{turn}' is not a number"))?;
        Ok(Self {
            point: point.parse()?,
            turn,
        })
    }
}
