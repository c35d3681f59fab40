//! Files and git of the session's directory, whatever the agent does.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;

use crate::domain::words::ErrorCode;
use crate::link::server::{Answer, Params, answer};
use crate::wire::agentctl::{FileText, GitCommit, GitStatus, SearchHit, TreeEntry};
use crate::wire::host::WireError;
use crate::workspace::root::Root;
use crate::workspace::{files, repository, search};

use super::shared::Shared;

type Here = State<Arc<Shared>>;

/// Paths below `/workspace` and `/git`.
pub fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/workspace/tree", get(tree))
        .route("/workspace/file", get(file))
        .route("/workspace/search", get(find))
        .route("/git/status", get(status))
        .route("/git/diff", get(diff))
        .route("/git/log", get(log))
}

/// A path below the directory; empty: the directory itself.
#[derive(Debug, Deserialize)]
struct AtPath {
    #[serde(default)]
    path: String,
}

/// A text to find.
#[derive(Debug, Deserialize)]
struct ForText {
    text: String,
}

fn root(shared: &Shared) -> Result<Root, WireError> {
    shared.serving()?;
    let Some(path) = shared.directory() else {
        let text = format!("session `{}` has no directory yet", shared.session);
        return Err(WireError::new(ErrorCode::WorktreeMissing, text).hint("start its agent or a shell first"));
    };
    Root::new(&path).map_err(WireError::from)
}

async fn tree(State(shared): Here, Params(at): Params<AtPath>) -> Answer<Vec<TreeEntry>> {
    answer(files::tree(&root(&shared)?, &at.path).await.map_err(WireError::from))
}

async fn file(State(shared): Here, Params(at): Params<AtPath>) -> Answer<FileText> {
    answer(files::file(&root(&shared)?, &at.path).await.map_err(WireError::from))
}

async fn find(State(shared): Here, Params(wanted): Params<ForText>) -> Answer<Vec<SearchHit>> {
    answer(search::search(&root(&shared)?, &wanted.text).await.map_err(WireError::from))
}

async fn status(State(shared): Here) -> Answer<GitStatus> {
    answer(repository::status(&root(&shared)?).await.map_err(WireError::from))
}

async fn diff(State(shared): Here, Params(at): Params<AtPath>) -> Answer<FileText> {
    answer(repository::diff(&root(&shared)?, Some(&at.path)).await.map_err(WireError::from))
}

async fn log(State(shared): Here) -> Answer<Vec<GitCommit>> {
    answer(repository::log(&root(&shared)?).await.map_err(WireError::from))
}
