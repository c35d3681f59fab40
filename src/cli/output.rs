//! Writes results to stdout.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::domain::plain;

use super::failure::{Failure, Result};

/// Width of the output when it is no terminal, or one that does not say.
const DEFAULT_COLUMNS: usize = 80;

/// Prints one line.
///
/// # Errors
/// When stdout cannot be written. A reader that went away (`relight events | head -1`) is no failure: the program ends.
pub fn line(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Failure::new(format!("cannot write to stdout: {error}"))),
    }
}

/// Prints `value` as one line of JSON.
///
/// # Errors
/// As [`line()`].
pub fn json(value: &impl Serialize) -> Result<()> {
    let text =
        serde_json::to_string(value).map_err(|error| Failure::new(format!("cannot write the answer: {error}")))?;
    line(&plain::json(&text))
}

/// Prints `value` as JSON, or `words`.
///
/// # Errors
/// As [`line()`].
pub fn either(as_json: bool, value: &impl Serialize, words: impl FnOnce() -> String) -> Result<ExitCode> {
    if as_json {
        json(value)?;
    } else {
        line(&words())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Columns to fill; `None` when stdout is no terminal, so that nothing is cut for a script.
pub fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    Some(size.map(|s| usize::from(s.ws_col)).filter(|n| *n > 0).unwrap_or(DEFAULT_COLUMNS))
}

/// Lays `rows` out under `heads`, two spaces between columns; the last column is cut to what is left of `columns`.
pub fn table(heads: &[&str], rows: &[Vec<String>], columns: Option<usize>) -> Vec<String> {
    let clean: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| plain::plain(cell)).collect()).collect();
    let width = |i: usize| {
        let longest = clean.iter().filter_map(|row| row.get(i)).map(|cell| cell.width()).max().unwrap_or(0);
        longest.max(heads.get(i).map_or(0, |head| head.width()))
    };
    let last = heads.len().saturating_sub(1);
    let used: usize = (0..last).map(|i| width(i) + 2).sum();
    let lay = |cells: &[&str]| {
        let mut out = String::new();
        for (i, cell) in cells.iter().enumerate() {
            if i == last {
                out.push_str(&cut(cell, columns.map(|all| all.saturating_sub(used))));
            } else {
                out.push_str(cell);
                out.push_str(&" ".repeat(width(i).saturating_sub(cell.width()) + 2));
            }
        }
        out.trim_end().to_owned()
    };
    let mut out = vec![lay(heads)];
    for row in &clean {
        out.push(lay(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    out
}

fn cut(text: &str, limit: Option<usize>) -> String {
    let Some(limit) = limit.filter(|limit| text.width() > *limit) else { return text.to_owned() };
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide >= limit {
            break;
        }
        used += wide;
        out.push(c);
    }
    if limit > 0 {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_by_what_is_seen() {
        let rows = vec![
            vec!["äpi".into(), "one".into(), "a long story".into()],
            vec!["界界".into(), "t\x1bwo".into(), "short".into()],
        ];
        let lines = table(&["N", "S", "WHY"], &rows, Some(20));
        assert_eq!(lines, ["N     S     WHY", "äpi   one   a long …", "界界  t wo  short"]);
        assert_eq!(table(&["N", "S", "WHY"], &rows, None)[1], "äpi   one   a long story");
        assert_eq!(cut("abc", Some(0)), "");
    }
}
