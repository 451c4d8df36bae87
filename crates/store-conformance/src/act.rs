//! The acts of writers, for the cases that set writers against each other.

use ucp_access::Role;
use ucp_model::{PlanPolicy, ReviewVerdict};

/// What a writer does in one call, or, for [`Act::CarryOut`], in a few. Numbers name operations, texts name aliases and
/// resources.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    PutPlane,
    DeletePlane,
    /// A schema of a type, and when it was fetched.
    PutSchema(&'static str, i64),
    PutCredential(&'static str),
    DeleteCredential,
    /// Gives this role over the group and elsewhere, as judged on what was read, or on nothing.
    Assign(Role),
    Unassign,
    ReadAssignment,
    PutGroup,
    /// Tells whether the group exists.
    ReadGroup,
    DeleteGroup(u64),
    Import(u64),
    /// An apply to the group.
    ApplySet(u64),
    /// An order of a service instance, judged with this revision, or the first one. It cancels operation 11.
    Order(u64, Option<u64>),
    /// The same, to delete it.
    OrderDeletion(u64, u64),
    /// The end of the operation of an order.
    FinishOrder(u64),
    /// Deletes the instance without an operation.
    DeleteService(u64),
    RemoveGoneServices,
    Put(u64, &'static str),
    /// Keeps a plan, and approves or rejects it. The first number of the acts on plans is that of the plan.
    KeepPlan(u64),
    Review(u64, ReviewVerdict),
    /// A put under an alias that carries out the plan, or a member of it.
    PutPlanned(u64, u64, &'static str, Option<usize>),
    /// The same of the whole plan by who may not approve it, that leaves to others what it replaces.
    GiveUpPlanned(u64, u64, &'static str),
    /// Moves what was read of an alias to another one, by the refactor of this number.
    Move(u64, &'static str, &'static str),
    /// The same, with a deployment that puts the other alias; the second number is that of its operation.
    Deploy(u64, u64, &'static str, &'static str),
    /// Takes back what a refactor has moved, as the deployment: the refactor of that, the refactor, and the deployment.
    TakeBack(u64, u64, u64),
    /// Keeps the record of a refactor that is planned, or removes those that are old.
    KeepRefactor(u64),
    RemoveRefactors,
    /// The same as a move, and the other alias to the first one.
    Swap(u64, &'static str, &'static str),
    /// Lets the group take only what was planned, or approved.
    Require(PlanPolicy),
    ErasePlans,
    RemovePlans,
    /// Removes what the maker of the plan has kept, as another of their plans would need the room.
    MakeRoom(u64),
    /// Removes what was over at the beginning of time.
    RemoveNoPlans,
    /// A put under an alias, whose declaration names the resource.
    PutNamed(u64, &'static str, &'static str),
    Delete(u64, &'static str),
    DeleteByName(u64, &'static str),
    /// A delete under an alias that gives the resource up to others, and passes the ownership on to this one.
    PassOn(u64, &'static str, &'static str),
    /// Gives up a reference as it was read, without an operation.
    GiveUp(&'static str),
    /// A delete under an alias, as a child of another operation.
    DeleteAsChild(u64, u64, &'static str),
    /// A put of a resource in another region, with a look.
    PutElsewhere(u64, &'static str, &'static str),
    /// [`Act::PutNamed`] that takes the ownership.
    PutOwning(u64, &'static str, &'static str),
    /// A put that replaces its resource, and deletes the old one first.
    PutReplacing(u64, &'static str),
    /// Claims what is due, for the acts below.
    Claim,
    /// The same for no time.
    ClaimBriefly,
    /// Claims what is due here, in other regions or nowhere.
    ClaimHere,
    ClaimElsewhere,
    ClaimNowhere,
    /// A step that reveals the resource.
    Reveal(u64, &'static str),
    /// A step that learns that AWS spells the resource in lower case.
    Respell(u64),
    /// The end of a put that has learned so.
    ApplyRespelled(u64),
    /// A step that writes a document.
    Record(u64),
    /// A step that deletes what is replaced, and the one after it.
    DeleteOld(u64),
    OldGone(u64),
    /// A step of an operation on a group, which has seen this many children end and waits for the others.
    Await(u64, usize),
    Apply(u64, &'static str),
    /// The end of a put whose create failed.
    Fail(u64),
    /// The end of a put that leaves another resource.
    Leave(u64, &'static str, &'static str),
    /// Accepts a delete of what the end of another operation left.
    Retry(u64, u64, &'static str),
    /// The end of a put whose create has an unknown outcome.
    LoseTrack(u64),
    /// The same of a create that AWS may have made this by.
    LoseTrackOf(u64, &'static str),
    /// Accepts a resolve of what another operation has lost track of.
    Resolve(u64, u64, &'static str),
    /// The end of a resolve that has found the resource, or nothing out.
    FindOut(u64, Option<&'static str>),
    /// A put that abandons what there may be, which [`Act::Apply`] ends.
    Abandon(u64, &'static str),
    ForgetLeftover(u64),
    /// Claims the leftovers that are to be tried.
    ClaimLeftovers,
    FailDelete(u64),
    FinishDelete(u64),
    /// The same of a delete that has learned how AWS spells the resource.
    FinishDeleteRespelled(u64),
    FinishOnGroup(u64),
    /// Claims a put and applies it.
    CarryOut(u64, &'static str),
    /// Renews, releases or hands back the lease of a claimed operation, arms the operation or disarms it.
    Renew(u64),
    Arm(u64),
    Disarm(u64),
    Release(u64),
    HandBack(u64),
    /// Seals the declaration of an operation anew, the document of one, its look, the secret of a credential or a digest
    /// key.
    Reseal(u64),
    ResealDocument(u64),
    ResealLook(u64),
    ResealCredential(&'static str),
    ResealKey(&'static str),
    /// Offers a digest key.
    EnsureKey(&'static str),
    ReplaceKey(&'static str),
    UpdateGroup,
    Cancel(u64),
    Forget(&'static str),
    Own(&'static str),
    /// Reads what is recorded of an alias, for the acts below.
    Read(&'static str),
    /// The same of a resource.
    ReadTarget(&'static str),
    /// Remembers what a put has learned that changed nothing.
    Remember(&'static str),
    /// Lets an alias stand for a resource, and own it or not.
    Adopt(&'static str, &'static str, bool),
    /// [`Act::PutNamed`] with a look.
    PutLooked(u64, &'static str, &'static str),
    RemoveEnded,
    RemoveEvents,
}

impl Act {
    /// A claim passes over an operation that another writer has locked, even if the operation could be claimed before that
    /// one and after it, and so does a sweep over a plan. Returns what does so against `writer`: a claim of what is
    /// elsewhere, or a sweep that passes over every plan.
    pub(super) fn passing_over(self, writer: Act) -> Option<Act> {
        let locks_operation = matches!(
            writer,
            Act::Release(_) | Act::Cancel(_) | Act::ResealLook(_)
        );
        let locks_plan = matches!(
            writer,
            Act::Review(..)
                | Act::PutPlanned(..)
                | Act::Apply(..)
                | Act::Fail(_)
                | Act::ErasePlans
                | Act::RemovePlans
                | Act::MakeRoom(_)
        );
        match self {
            Act::Claim if locks_operation => Some(Act::ClaimHere),
            Act::ClaimElsewhere if locks_operation => Some(Act::ClaimNowhere),
            Act::ErasePlans | Act::RemovePlans | Act::MakeRoom(_) if locks_plan => {
                Some(Act::RemoveNoPlans)
            }
            _ => None,
        }
    }
}
