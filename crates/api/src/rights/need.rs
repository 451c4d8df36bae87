//! What a route needs.

use ucp_access::{Invalid, Right, Scope};
use ucp_model::PlaneKind;

/// What a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing, not even to say who calls.
    Public,
    /// To say who calls. The app judges what it concerns, and lists show what the caller may read.
    Authenticated,
    /// A right over something. The app judges over what, as it is stored now.
    Somewhere(Right, Action),
    /// A right over what the path names. The action is what a refusal names.
    Over(Right, Place, Action),
}

/// What a path names that rights are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Everything.
    Everything,
    /// The plane.
    Plane,
    /// The resource group.
    Group,
    /// The AWS account and region.
    Region,
    /// The AWS service.
    Namespace,
    /// The AWS resource type, as in `…/providers/AWS.EC2/VPC`.
    Type,
    /// The AWS resource type, as in `…/providers/AWS.EC2/resourceTypes/VPC`.
    DescribedType,
}

/// The name of what a request does, in ARM's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// This.
    Named(&'static str),
    /// This on the plane that the path names, such as `System.Radius/planes/write`.
    OnPlane(&'static str),
    /// This on the resource type that the path names, such as `AWS.EC2/VPC/write`.
    OnType(&'static str),
}

impl Place {
    /// Returns the scope in the segments of a canonical path.
    pub(super) fn of(self, segments: &[&str]) -> Result<Scope, Invalid> {
        let first = |count: usize| {
            let segments = segments.iter().take(count);
            segments.fold(String::new(), |path, segment| path + "/" + segment)
        };
        let path = match self {
            Place::Everything => return Ok(Scope::everything()),
            Place::Plane => first(3),
            Place::Group => first(5),
            Place::Region => first(7),
            Place::Namespace => first(9),
            Place::Type => first(10),
            Place::DescribedType => {
                let resource = segments.get(10).copied().unwrap_or_default();
                format!("{}/{resource}", first(9))
            }
        };
        path.parse()
    }
}

impl Action {
    /// Returns the name for a path with these segments.
    pub(super) fn on(self, segments: &[&str]) -> String {
        match self {
            Action::Named(name) => name.to_owned(),
            Action::OnPlane(verb) => {
                let kind = segments.get(1).copied().unwrap_or_default();
                let kind = match kind.parse::<PlaneKind>() {
                    Ok(kind) => kind.arm_type(),
                    Err(_) => kind,
                };
                format!("{kind}/{verb}")
            }
            Action::OnType(verb) => {
                let mut providers = segments.iter().skip_while(|word| **word != "providers");
                let mut next = || providers.next().copied().unwrap_or_default();
                let (_, namespace, mut resource) = (next(), next(), next());
                if resource == "resourceTypes" {
                    resource = next();
                }
                format!("{namespace}/{resource}/{verb}")
            }
        }
    }
}
