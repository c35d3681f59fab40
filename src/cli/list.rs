//! `relight ls`.

use std::process::ExitCode;

use serde_json::json;

use crate::config::dirs::Dirs;
use crate::wire::host::SessionLine;

use super::failure::Result;
use super::{output, reach};

/// Lists the sessions.
pub async fn run(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    let (client, _events) = reach::host(dirs).await?;
    let lines: Vec<SessionLine> = client.call("session.list", json!({})).await?;
    output::either(json, &lines, || {
        if lines.is_empty() {
            return "no sessions; `relight new` starts one".into();
        }
        let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
        output::table(&["NAME", "ID", "AGENT", "ACTIVITY", "WHY"], &rows, output::columns()).join("\n")
    })
}

fn row(line: &SessionLine) -> Vec<String> {
    let progress = line.progress.map(|percent| format!(" {percent}%")).unwrap_or_default();
    vec![
        short(&line.name, 20),
        line.session_id.short().to_owned(),
        short(&line.agent, 10),
        format!("{}{progress}", line.activity),
        line.why.clone(),
    ]
}

/// The first `limit` characters: the reason keeps some room at 80 columns.
fn short(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}
