use std::fmt;
use std::str::FromStr;

/// A moment at which a process may die: just before or just after something that the rest of the world can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrashPoint {
    /// Which side of it.
    pub edge: Edge,
    /// Of what.
    pub moment: Moment,
}

/// Which side of a [`Moment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// It has not happened.
    Before,
    /// It has happened, and nobody has learned of it.
    After,
}

macro_rules! moments {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// Each commit and each AWS call in the life of an operation. A commit that is refused has no [`Edge::After`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Moment {
            $($(#[$doc])* $name,)*
        }

        impl Moment {
            /// All of them, in the order of an operation's life.
            pub const ALL: &[Moment] = &[$(Moment::$name),*];

            /// Its name in `UCP_PAUSE_AT`.
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
    /// The commit that takes a lease.
    Claim = "claim",
    /// The commit that starts an operation as a part of one on a group.
    StartChild = "start-child",
    /// `GetResource`, before anything is decided and after AWS's verdict.
    Look = "look",
    /// The commit of the intent: client token and exact bytes.
    RecordIntent = "record-intent",
    /// `CreateResource`.
    Create = "create",
    /// `UpdateResource`.
    Update = "update",
    /// `DeleteResource`.
    Delete = "delete",
    /// The commit of a request token, of a revealed identifier, or of how far an operation on a group is.
    RecordProgress = "record-progress",
    /// `GetResourceRequestStatus`.
    Poll = "poll",
    /// `CancelResourceRequest`.
    Cancel = "cancel",
    /// The commit of AWS's verdict, before the result is read.
    RecordVerdict = "record-verdict",
    /// The commit of the end.
    Finish = "finish",
}

impl CrashPoint {
    /// Just before `moment`.
    pub const fn before(moment: Moment) -> Self {
        Self {
            edge: Edge::Before,
            moment,
        }
    }

    /// Just after `moment`.
    pub const fn after(moment: Moment) -> Self {
        Self {
            edge: Edge::After,
            moment,
        }
    }

    /// Every crash point, in the order of an operation's life.
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
                    "'{text}' is not a crash point; there are {}",
                    known.join(", ")
                )
            })
    }
}

/// One occurrence of a crash point in a process: `after-claim` is the first, `after-claim#2` the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrashTurn {
    /// Where.
    pub point: CrashPoint,
    /// Which occurrence, counted from 1.
    pub turn: u32,
}

impl CrashTurn {
    /// What is still to come once `point` was reached; none when this was the occurrence.
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
            .map_err(|_| format!("'{turn}' is not a count"))?;
        Ok(Self {
            point: point.parse()?,
            turn,
        })
    }
}
