//! Keys, texts and suggestions for forms, and what becomes of a form that is done.

use crate::tui::form::{Did, Form, Purpose};
use crate::tui::msg::{Call, Effect};
use crate::tui::state::{Mode, State};
use crate::wire::host::SessionCreate;
use crate::wire::input::Key;

/// Opens the form for a new session.
pub fn open(state: &mut State, out: &mut Vec<Effect>) {
    let setup = &state.setup;
    state.mode = Mode::Form(Form::new_session(&setup.agents, &setup.executors, &setup.cwd));
    suggest(state, out);
}

/// A key for a form.
pub fn key(state: &mut State, key: &Key, out: &mut Vec<Effect>) {
    let Mode::Form(form) = &mut state.mode else { return };
    match form.key(key) {
        Did::Stay => suggest(state, out),
        Did::Cancel => state.mode = Mode::Normal,
        Did::Submit => submit(state, out),
    }
}

/// Pasted or composed text for a form.
pub fn insert(state: &mut State, text: &str, out: &mut Vec<Effect>) {
    if let Mode::Form(form) = &mut state.mode {
        form.insert(text);
        suggest(state, out);
    }
}

/// Directories were found for a text that was typed.
pub fn completed(state: &mut State, text: &str, found: Vec<String>) {
    if let Mode::Form(form) = &mut state.mode {
        form.suggest("Directory", text, found);
    }
}

/// Looks for what the text in the focused field may become, when it has changed.
fn suggest(state: &mut State, out: &mut Vec<Effect>) {
    let mut titles: Vec<String> = state.tabs.iter().map(|tab| tab.line.task_title.clone()).collect();
    titles.sort();
    titles.dedup();
    let Mode::Form(form) = &mut state.mode else { return };
    let Some((label, text)) = form.changed() else { return };
    match label {
        "Directory" => out.push(Effect::Complete(text)),
        "Task" if !text.is_empty() => {
            titles.retain(|title| title.starts_with(&text));
            form.suggest(label, &text, titles);
        }
        _ => {}
    }
}

fn submit(state: &mut State, out: &mut Vec<Effect>) {
    let size = state.new_size();
    let setup = state.setup.clone();
    let Mode::Form(form) = &mut state.mode else { return };
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let call = match &form.purpose {
        Purpose::New if form.text("Agent").is_empty() => Err("No agent was found on PATH; see `relight config path`."),
        Purpose::New => Ok(Call::Create(Box::new(SessionCreate {
            agent: form.text("Agent").to_owned(),
            name: filled(form.text("Name")),
            task: filled(form.text("Task")),
            cwd: directory(form.text("Directory"), &setup.cwd, &setup.home),
            prompt: filled(form.text("Prompt")),
            executor: filled(form.text("Executor")),
            args: vec![],
            env: setup.env,
            size: Some(size),
        }))),
        Purpose::Rename(_) if form.text("Name").is_empty() => Err("A session needs a name."),
        Purpose::Rename(session) => Ok(Call::Rename(session.clone(), form.text("Name").to_owned())),
    };
    match call {
        Ok(call) => {
            form.busy = true;
            form.error = None;
            out.push(Effect::Call(call));
        }
        Err(why) => form.error = Some(why.into()),
    }
}

/// What was typed as a directory, absolute.
fn directory(text: &str, cwd: &str, home: &str) -> String {
    let rest = |text: &str| text.strip_prefix('/').map(str::to_owned);
    let below = |base: &str, text: &str| format!("{}/{text}", base.trim_end_matches('/'));
    let path = match text.strip_prefix('~') {
        _ if text.is_empty() => cwd.to_owned(),
        Some("") if !home.is_empty() => home.to_owned(),
        Some(tail) if !home.is_empty() && tail.starts_with('/') => below(home, &rest(tail).unwrap_or_default()),
        _ if text.starts_with('/') => text.to_owned(),
        _ => below(cwd, text),
    };
    if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_directory_becomes_absolute() {
        let is = |text: &str| directory(text, "/data", "/home/anna");
        assert_eq!(
            [is(""), is("~"), is("~/src/"), is("/tmp"), is("shop/")],
            ["/data", "/home/anna", "/home/anna/src", "/tmp", "/data/shop"]
        );
        assert_eq!([is("/"), is("~other")], ["/", "/data/~other"]);
    }
}
