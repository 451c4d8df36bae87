//! `docs/errors/retry-classes.md` is what the table of the code says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::fmt::Write;

use ucp_model::operation::{
    Action, Class, Course, IN_PROGRESS, IN_THE_WAY, Left, Problem, UNNAMED_QUEUE, retry_class,
};
use ucp_model::{Exception, HandlerErrorCode};

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/errors/retry-classes.md"
);

fn name(class: Class) -> &'static str {
    match class {
        Class::Again => "Again",
        Class::LookThenAgain => "LookThenAgain",
        Class::Queue => "Queue",
        Class::Unknown => "Unknown",
        Class::KeepWatching => "KeepWatching",
        Class::Prove => "Prove",
        Class::Absent => "Absent",
        Class::Soon => "Soon",
        Class::Permission => "Permission",
        Class::Follow => "Follow",
        Class::Overdue => "Overdue",
        Class::MayLeave => "MayLeave",
        Class::Terminal => "Terminal",
    }
}

fn meaning(class: Class) -> &'static str {
    match class {
        Class::Again => "It passes: made again under a new token, after a back-off.",
        Class::LookThenAgain => "It passes, but the change may have been made: looked at first.",
        Class::Queue => "Something else is changing or using the resource: queued behind it.",
        Class::Unknown => "The outcome is not known: looked at, and never created anew.",
        Class::KeepWatching => {
            "The change goes on without its handler: watched, and never created anew."
        }
        Class::Prove => "A resource has the identifier already: it is seen whose it is.",
        Class::Absent => "AWS says that the resource is gone: looked at.",
        Class::Soon => "Credentials that have just changed or expired take a moment.",
        Class::Permission => {
            "Permissions take a moment too: as `Soon`, right after a put of a role or a policy of the account under the same group; otherwise as `Terminal`."
        }
        Class::Follow => {
            "AWS knows the client token under a request that its message names: that one is followed."
        }
        Class::Overdue => {
            "The change ran past its time and was cancelled for that: made again, a few times."
        }
        Class::MayLeave => {
            "As `Terminal`, but the handler may have made something before it failed."
        }
        Class::Terminal => "It does not pass by itself: the operation fails, in AWS's words.",
    }
}

fn course(course: Course) -> &'static str {
    match course {
        Course::Again => "sent again",
        Course::GoOn => "gone on with",
        Course::Watch => "watched",
        Course::Prove => "adopted if it may be, else fails",
        Course::Follow => "followed",
        Course::Succeed => "succeeds",
        Course::Unknown => "ends `OutcomeUnknown`",
        Course::Fail => "fails",
    }
}

fn problems() -> Vec<(String, Problem)> {
    let failed = HandlerErrorCode::ALL.iter().cloned();
    let refused = Exception::ALL.iter().cloned();
    let of_handlers = failed.map(|code| (format!("`{}`", code.as_str()), Problem::Failed(code)));
    let of_calls = refused.map(|code| (format!("`{}`", code.as_str()), Problem::Refused(code)));
    let other = |kind: &str| format!("any other {kind}");
    let rest = [
        (
            other("handler error code"),
            Problem::Failed(HandlerErrorCode::of("?")),
        ),
        (other("exception"), Problem::Refused(Exception::of("?"))),
        ("no connection".to_owned(), Problem::Unreached),
        ("no reply".to_owned(), Problem::Lost),
        ("past its time".to_owned(), Problem::Overdue),
    ];
    of_handlers.chain(of_calls).chain(rest).collect()
}

fn duration(seconds: u64) -> String {
    match seconds {
        0 => "any time".to_owned(),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Retry classes

How an operation goes on after each error of AWS. This page is generated from the code
(`crates/model/src/operation/resource/retry_class.rs`); a test compares the two.

While an operation waits for another try, `properties.progress` of its status has the error in `lastError`, the number
of tries in `attempt`, the time of the next one in `nextTryAt`, and what it waits for in `waitingFor`.

## Classes

An operation gives up when both the tries and the time of its class are used up. The deletion of a group makes the
deletes of the class `Queue` again itself, in its own order.

AWS refuses an update with `ResourceConflict` both while another change is in progress and for what no time changes, such as
an engine version that no upgrade leads to. So such an update is given up after IN_ALL, unless AWS's words name what is in
the way. If it changes a conditional create-only property, it fails at once, in AWS's words, unless they say that a change is in
progress, or an operation of `ucp`'s own is in the way. These say so:

IN_PROGRESS

These name something else that is in the way:

IN_THE_WAY

| class | meaning | tries | time | delays |
|---|---|---|---|---|
",
    );
    let list = |words: &[&str]| {
        let words = words.iter().map(|words| format!("- \"{words}\""));
        words.collect::<Vec<_>>().join("\n")
    };
    for (place, text) in [
        ("IN_ALL", duration(UNNAMED_QUEUE.as_secs())),
        ("IN_PROGRESS", list(&IN_PROGRESS)),
        ("IN_THE_WAY", list(&IN_THE_WAY)),
    ] {
        page = page.replace(place, &text);
    }
    for class in Class::ALL {
        let bound = match class.bound() {
            Some(bound) => format!(
                "{} | {} | {} to {}",
                bound.tries,
                duration(bound.time.as_secs()),
                duration(bound.first.as_secs()),
                duration(bound.longest.as_secs()),
            ),
            None => "| |".to_owned(),
        };
        writeln!(page, "| `{}` | {} | {bound} |", name(class), meaning(class)).unwrap();
    }
    page.push_str(
        "
## What follows

What an error leads to depends on what the change has left. A name is one that AWS gave in an event of the request, or
one that the declaration has. What has only a declared name is never owned for that. A replacement that creates first
gives up a new resource that is half made, and keeps the old one.

A create may fail without naming anything although its handler has made the resource. What it made bears the mark of the
reference, the tag `ucp:reference`. If AWS gives the name, the type has tags and its list needs no input, the resource is
searched for three times in the minute after the failure: in fifty pages of the list, of which a thousand resources are
read. What is found is ours, and the operation goes on as with a resource. If nothing is, it goes on as with a name and
nothing there. Where no search can tell, it goes on as without a name; if there are too many resources to search, a create
that would be sent again ends `OutcomeUnknown` instead. ",
    );
    let hiding = Class::ALL.into_iter().filter(|class| class.may_hide());
    let hiding: Vec<String> = hiding.map(|class| format!("`{}`", name(class))).collect();
    writeln!(
        page,
        "Searched for are failures of these classes:\n{};\nafter a denial that is final, once, in a page.",
        hiding.join(", ")
    )
    .unwrap();
    page.push_str(
        "
| class | change | without a name | a name, and nothing there | a resource |
|---|---|---|---|---|
",
    );
    for class in Class::ALL {
        for action in Action::ALL {
            let of = |left| course(class.course(action, left));
            writeln!(
                page,
                "| `{}` | {action} | {} | {} | {} |",
                name(class),
                of(Left::Unnamed),
                of(Left::Absent),
                of(Left::Present)
            )
            .unwrap();
        }
    }
    page.push_str(
        "
## Errors

Handler error codes come first: AWS accepted the call, and the handler of the type failed. The others are answers to the
call itself, which is then sent again under its own token. If that is refused in the end, and an earlier send of the same
update or delete has no answer, the message says so: the earlier send may have arrived.

| error | create | update | delete |
|---|---|---|---|
",
    );
    for (shown, problem) in problems() {
        let of = |action| name(retry_class(&problem, action));
        let [create, update, delete] = Action::ALL.map(of);
        writeln!(page, "| {shown} | {create} | {update} | {delete} |").unwrap();
    }
    page
}

/// `UCP_REWRITE_RETRY_CLASSES=1 cargo test -p ucp-model --test retry_classes` writes the page anew.
#[test]
fn the_page_is_what_the_table_says() {
    let page = page();
    if std::env::var_os("UCP_REWRITE_RETRY_CLASSES").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/errors/retry-classes.md is not what the code says; run this test with UCP_REWRITE_RETRY_CLASSES=1"
    );
}

#[test]
fn a_second_create_is_sent_only_where_nothing_can_be_lost() {
    for class in Class::ALL {
        assert_ne!(
            class.course(Action::Create, Left::Present),
            Course::Again,
            "{class:?}"
        );
    }
    // Its alias stays, so that the same template does not send one either.
    for class in [Class::LookThenAgain, Class::Unknown, Class::KeepWatching] {
        assert_eq!(
            class.course(Action::Create, Left::Unnamed),
            Course::Unknown,
            "{class:?}"
        );
    }
}

#[test]
fn every_code_comes_back_from_its_spelling() {
    for code in HandlerErrorCode::ALL {
        assert_eq!(HandlerErrorCode::of(code.as_str()), *code);
    }
    for code in Exception::ALL {
        assert_eq!(Exception::of(code.as_str()), *code);
    }
    assert_eq!(HandlerErrorCode::ALL.len(), 16);
}
