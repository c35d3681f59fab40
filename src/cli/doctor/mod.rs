//! `relight doctor`: what a person would trip over. `look` finds out, `judge` says what it means (pure), and here it is
//! told. Nothing is started but programs that say their version, nothing is changed, and every look has a deadline.

mod facts;
mod finding;
mod judge;
mod look;

use std::process::ExitCode;

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::config::dirs::Dirs;
use crate::domain::plain::plain;

use super::failure::{Exit, Result};
use super::output;
use finding::{Finding, Level};

/// Below this many columns the terminal itself breaks lines better.
const FEWEST_COLUMNS: usize = 60;

/// Looks, and tells what was found. The exit code says whether there is a problem.
pub async fn run(dirs: &Dirs, as_json: bool) -> Result<ExitCode> {
    let findings = judge::findings(&Box::pin(look::everything(dirs)).await);
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, notes) = (count(Level::Problem), count(Level::Note));
    output::either(as_json, &json!({ "problems": problems, "notes": notes, "findings": findings }), || {
        let mut lines = lines(&findings, output::columns());
        lines.push(String::new());
        lines.push(summary(problems, notes));
        lines.join("\n")
    })?;
    Ok(if problems > 0 { Exit::Failed.into() } else { ExitCode::SUCCESS })
}

fn summary(problems: usize, notes: usize) -> String {
    let some = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    match problems {
        0 => format!("no problem, {}", some(notes, "note")),
        _ => format!("{}, {}", some(problems, "problem"), some(notes, "note")),
    }
}

/// One line each, in three columns; on a terminal the last one is broken into lines below each other.
fn lines(findings: &[Finding], columns: Option<usize>) -> Vec<String> {
    let levels = Level::Problem.as_str().len();
    let topics = findings.iter().map(|finding| finding.topic.width()).max().unwrap_or(0);
    let indent = levels + topics + 4;
    let room = columns.filter(|columns| *columns >= FEWEST_COLUMNS).map(|columns| columns - indent);
    let mut out = Vec::new();
    for finding in findings {
        let head = format!("{:levels$}  {:topics$}  ", finding.level.as_str(), finding.topic);
        let text = plain(&finding.text());
        for (number, line) in broken(&text, room).into_iter().enumerate() {
            out.push(if number == 0 { format!("{head}{line}") } else { format!("{:indent$}{line}", "") });
        }
    }
    out
}

/// `text` in lines of at most `room` columns; a longer word stays whole.
fn broken(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![text.to_owned()] };
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match out.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => out.push(word.to_owned()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_in_columns_and_are_broken_only_on_a_terminal() {
        let findings =
            [Finding::ok("host", "none runs"), Finding::problem("open files", "a b ".repeat(20).trim(), "raise it")];
        let plain = lines(&findings, None);
        assert_eq!(plain[0], "ok       host        none runs");
        assert!(plain[1].starts_with("problem  open files  a b a b") && plain[1].ends_with("b; raise it"), "{plain:?}");
        assert_eq!(plain.len(), 2);
        let narrow = lines(&findings, Some(60));
        assert!(narrow.iter().all(|line| line.width() <= 60), "{narrow:#?}");
        assert!(narrow[2].starts_with("                     "), "{narrow:#?}");
        assert_eq!(narrow.join(" ").split_whitespace().count(), plain.join(" ").split_whitespace().count());
        assert_eq!((summary(0, 1), summary(1, 2)), ("no problem, 1 note".into(), "1 problem, 2 notes".into()));
    }
}
