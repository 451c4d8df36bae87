//! `ucp token`: makes, lists and revokes tokens, while servers run.

use std::time::Duration;

use anyhow::{Context, bail};
use ucp_access::{Grant, Role, Scope, Subject, TOKEN_PREFIX, judge_name};
use ucp_authentication::NewToken;
use ucp_model::{Clock, CorrelationId, Entropy, Timestamp};
use ucp_store::{
    AuditEvent, AuditEvents, AuditOutcome, Reachable, TOKENS_MAX, Token, TokenState, Tokens,
};
use ucp_store_sql::Sql;

use crate::ambient::{OsEntropy, SystemClock};
use crate::cli::{CreateToken, Database, Expiry, RevokeToken, TokenCommand};
use crate::serve;

/// How many tokens are read at once.
const PAGE: usize = 500;

pub(crate) async fn run(command: TokenCommand) -> anyhow::Result<()> {
    match command {
        TokenCommand::Create(arguments) => create(arguments).await,
        TokenCommand::List(database) => list(&database).await,
        TokenCommand::Revoke(arguments) => revoke(&arguments).await,
    }
}

/// What a new token is for.
pub(crate) struct For {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) scopes: Vec<Scope>,
    /// For how long it is valid. `None` for ever.
    pub(crate) lifetime: Option<Duration>,
}

/// Makes a token and stores it without its secret.
pub(crate) async fn make(store: &Sql, of: For, now: Timestamp) -> anyhow::Result<NewToken> {
    let user = format!("{TOKEN_PREFIX}{}", of.name);
    judge_name(&user).context("--name")?;
    let Grant { role, scopes, .. } =
        Grant::new(Subject::User(user), of.role, of.scopes).context("--scope")?;
    let new = NewToken::draw(&OsEntropy);
    let token = Token {
        id: new.id.clone(),
        name: of.name,
        digest: new.digest,
        role,
        scopes,
        created_at: now,
        expires_at: of.lifetime.map(|lifetime| now.after(lifetime)),
        last_used_at: None,
        revoked_at: None,
    };
    if !store.create_token(token).await? {
        bail!(
            "there are {TOKENS_MAX} valid tokens already, the most there may be: `ucp token list` lists them, and \
             `ucp token revoke` makes room"
        );
    }
    Ok(new)
}

async fn create(arguments: CreateToken) -> anyhow::Result<()> {
    let store = open(&arguments.database).await?;
    let now = now(&store).await?;
    let of = For {
        name: arguments.name,
        role: arguments.role,
        scopes: arguments.scopes,
        lifetime: match arguments.expires {
            Expiry::After(lifetime) => Some(lifetime),
            Expiry::Never => None,
        },
    };
    let name = of.name.clone();
    let new = make(&store, of, now).await?;
    let recorded = record(&store, "write", &new.id, now).await;
    recorded.with_context(|| {
        format!(
            "the token was made, but not shown, since the audit could not record it; revoke it with `ucp token revoke {}`, \
             and make another one",
            new.id
        )
    })?;
    // Only the token is on standard output, so that a shell can take it.
    ucp_cli::tell(format_args!(
        "The callers with this token are named {TOKEN_PREFIX}{name}. It is shown only now; its id is {}.",
        new.id
    ));
    ucp_cli::print(&format!("{}\n", *new.text))?;
    Ok(())
}

async fn list(database: &Database) -> anyhow::Result<()> {
    let store = open(database).await?;
    let now = now(&store).await?;
    let mut tokens = all(&store).await?;
    tokens.sort_by_key(|token| token.created_at);
    let head = [
        "ID",
        "NAME",
        "ROLE",
        "SCOPES",
        "CREATED",
        "EXPIRES",
        "LAST USED",
        "STATE",
    ];
    let rows = tokens.iter().map(|token| row(token, now));
    let rows: Vec<_> = [head.map(str::to_owned)].into_iter().chain(rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut table = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(cell, &width)| format!("{cell:width$}"));
        table += cells.collect::<Vec<_>>().join("  ").trim_end();
        table.push('\n');
    }
    ucp_cli::print(&table)?;
    Ok(())
}

fn row(token: &Token, now: Timestamp) -> [String; 8] {
    let time =
        |time: Option<Timestamp>| time.map_or_else(|| "never".to_owned(), |time| time.to_string());
    let scopes: Vec<String> = token.scopes.iter().map(Scope::to_string).collect();
    let state = match token.state(now) {
        TokenState::Valid => "valid",
        TokenState::Expired => "expired",
        TokenState::Revoked => "revoked",
    };
    [
        token.id.clone(),
        token.name.clone(),
        token.role.to_string(),
        scopes.join(" "),
        token.created_at.to_string(),
        time(token.expires_at),
        time(token.last_used_at),
        state.to_owned(),
    ]
}

async fn revoke(arguments: &RevokeToken) -> anyhow::Result<()> {
    let store = open(&arguments.database).await?;
    let now = now(&store).await?;
    let (mut revoked, mut unrecorded) = (0, None);
    for token in all(&store).await? {
        let is_meant = token.id == arguments.token || token.name == arguments.token;
        let is_valid = token.state(now) == TokenState::Valid;
        if is_meant && is_valid && store.revoke_token(&token.id, now).await? {
            revoked += 1;
            unrecorded = unrecorded.or(record(&store, "delete", &token.id, now).await.err());
            ucp_cli::print(&format!(
                "Revoked the token {} of {}.\n",
                token.id, token.name
            ))?;
        }
    }
    if revoked == 0 {
        bail!(
            "no valid token has the id or the name '{}'; `ucp token list` lists all",
            arguments.token
        );
    }
    ucp_cli::print("Every server refuses it within five seconds.\n")?;
    match unrecorded {
        Some(error) => Err(error.context("the audit could not record that")),
        None => Ok(()),
    }
}

/// Records what the command has done, as servers record requests.
async fn record(store: &Sql, verb: &str, id: &str, now: Timestamp) -> anyhow::Result<()> {
    let request_id = OsEntropy.uuid("request-id").to_string();
    let event = AuditEvent {
        at: now,
        caller: "ucp token".to_owned(),
        peer: None,
        action: format!("System.Resources/tokens/{verb}"),
        id: format!("/tokens/{id}"),
        outcome: AuditOutcome::Allowed,
        status: None,
        code: None,
        correlation_id: CorrelationId::new(request_id.clone()),
        request_id,
        operation: None,
        change: None,
        paths: Vec::new(),
        suppressed: 0,
    };
    let recorded = store.append_audit_events(&[event]).await;
    recorded.with_context(|| {
        format!(
            "what was done to the token {id} could not be recorded in the audit; `ucp token list` shows its state"
        )
    })
}

async fn all(store: &Sql) -> anyhow::Result<Vec<Token>> {
    let mut all: Vec<Token> = Vec::new();
    loop {
        let after = all.last().map(|token| token.id.clone());
        let page = store.list_tokens(after.as_deref(), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

async fn open(database: &Database) -> anyhow::Result<Sql> {
    match (&database.database_url, &database.data_dir) {
        (Some(url), _) => serve::join(url).await,
        (None, Some(folder)) => {
            let path = folder.join("ucp.db");
            let joined = Sql::join_sqlite(&path).await;
            joined.with_context(|| format!("cannot open the database {}", path.display()))
        }
        (None, None) => bail!("name the database with --database-url or --data-dir"),
    }
}

async fn now(store: &Sql) -> anyhow::Result<Timestamp> {
    let now = store.time().await?;
    Ok(now.unwrap_or_else(|| SystemClock.now()))
}
