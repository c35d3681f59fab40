//! The list at the side: tasks, and the sessions of each.

use super::state::{State, Tab};
use crate::domain::ids::{SessionId, TaskId};

/// One line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A task, with its title and how far it is.
    Task(String, &'static str),
    /// One of its sessions.
    Session(SessionId),
}

/// Its lines: tasks in the order of their oldest session, sessions in that of the tab bar.
#[must_use]
pub fn rows(state: &State) -> Vec<Row> {
    let mut tasks: Vec<&TaskId> = vec![];
    for tab in &state.tabs {
        if !tasks.contains(&&tab.line.task_id) {
            tasks.push(&tab.line.task_id);
        }
    }
    let mut rows = vec![];
    for task in tasks {
        let mut of: Vec<&Tab> = state.tabs.iter().filter(|tab| tab.line.task_id == *task).collect();
        of.sort_by_key(|tab| tab.line.created_at);
        if let Some(first) = of.first() {
            rows.push(Row::Task(first.line.task_title.clone(), word(first)));
        }
        rows.extend(of.into_iter().map(|tab| Row::Session(tab.id().clone())));
    }
    rows
}

const fn word(tab: &Tab) -> &'static str {
    use crate::domain::words::TaskState as S;
    match tab.line.task_state {
        S::Todo => "to do",
        S::InProgress => "in progress",
        S::Review => "review",
        S::Done => "done",
        S::Cancelled => "cancelled",
    }
}

/// The first line shown of `count`, in `height` lines, so that line `at` is seen.
#[must_use]
pub const fn first_shown(at: usize, count: usize, height: usize) -> usize {
    if count <= height || at < height { 0 } else { at + 1 - height }
}

/// The line with this session; 0 when there is none.
#[must_use]
pub fn place(rows: &[Row], session: Option<&SessionId>) -> usize {
    let here = |row: &Row| matches!(row, Row::Session(id) if Some(id) == session);
    rows.iter().position(here).unwrap_or(0)
}

/// The session `step` lines with sessions on from line `at`; stops at the ends.
#[must_use]
pub fn step(rows: &[Row], at: usize, step: isize) -> usize {
    let sessions: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| matches!(row, Row::Session(_))).map(|(i, _)| i).collect();
    let now = sessions.iter().position(|i| *i >= at).unwrap_or(0);
    let to = now.saturating_add_signed(step).min(sessions.len().saturating_sub(1));
    sessions.get(to).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words::Activity;
    use crate::tui::samples::{id, line, listed};

    #[test]
    fn sessions_stand_under_their_tasks_and_steps_go_over_the_titles() {
        let mut lines = vec![
            line("api", Activity::Ready, "", 1),
            line("docs", Activity::Ready, "", 2),
            line("web", Activity::Ready, "", 3),
        ];
        lines[1].task_id = TaskId::new("other").unwrap();
        lines[1].task_title = "Docs".into();
        let rows = rows(&listed((80, 24), &lines));
        let session = |name: &str| Row::Session(id(name));
        let task = |title: &str| Row::Task(title.into(), "in progress");
        assert_eq!(rows, [task("Shop"), session("api"), session("web"), task("Docs"), session("docs")]);
        assert_eq!(place(&rows, Some(&id("docs"))), 4);
        assert_eq!([step(&rows, 2, 1), step(&rows, 4, 1), step(&rows, 4, -1), step(&rows, 1, -1)], [4, 4, 2, 1]);
        assert_eq!([first_shown(3, 5, 5), first_shown(4, 5, 3), first_shown(1, 5, 3)], [0, 2, 0]);
    }
}
