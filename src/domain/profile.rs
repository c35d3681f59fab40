//! An agent profile: how one agent CLI is started, resumed and observed, as data. The files are read in `config`,
//! used in `agent`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How the id of a conversation is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// Chosen by relight before the start and passed as an argument (`launch.token`).
    Preassign,
    /// Told by the agent's hook.
    Hook,
    /// Read from a file that names the agent's own pid (`token.file`).
    PidFile,
    /// Read from the name of a file that the agent's process holds open (`token.file`).
    OpenFile,
    /// Never known: the agent has no conversation id.
    #[default]
    None,
}

/// How hooks reach the agent at launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookStyle {
    /// The arguments in `hooks.args`, in which `{hook}` is the hook command and `{hook_json}` the same as a JSON string.
    Args,
    /// The environment in `hooks.env`, with the same places.
    Env,
    /// No hooks.
    #[default]
    None,
}

/// What tells the agent's state, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusSource {
    /// Hook events.
    Hook,
    /// OSC 7501 program status reports.
    ProgramStatus,
    /// The terminal title, by the patterns in `status.title_*`.
    Title,
    /// Output means working, 1.5 s of quiet mean waiting.
    Output,
}

/// Arguments of a launch or a resume. Places: `{token}` the conversation id, `{prompt}` the first prompt,
/// `{relight}` our own program. An argument that names a place without value is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LaunchRule {
    /// Arguments of every start.
    pub args: Vec<String>,
    /// Added when a conversation id is assigned in advance, e.g. `["--session-id", "{token}"]`.
    pub token: Vec<String>,
    /// Added when there is a first prompt, e.g. `["{prompt}"]`. Empty: the prompt is typed once the agent is ready.
    pub prompt: Vec<String>,
    /// Options of the agent that take no value. A word that follows one of them, or stands first, is a prompt and no
    /// option's value: a resume and a fresh start leave it out, so that nothing is sent twice.
    pub switches: Vec<String>,
}

/// How a conversation is taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeRule {
    /// Arguments of a resume; empty: this agent cannot resume. They stand where [`ResumeRule::first`] says.
    pub args: Vec<String>,
    /// Whether `args` come before the launch arguments (a subcommand, as codex has it).
    pub first: bool,
    /// Options without a value that choose a conversation in another way, e.g. `--continue`: left out of the person's
    /// own arguments when an agent is started again.
    pub drops: Vec<String>,
}

/// The conversation id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenRule {
    /// How it is learnt.
    pub source: TokenSource,
    /// Environment variable that moves the agent's own directory, e.g. `CODEX_HOME`: the place `{root}`.
    pub root: Option<String>,
    /// `{root}` when that variable is unset; place `{home}`.
    pub root_default: Option<String>,
    /// Path pattern for `pid_file` and `open_file`; places `{pid}`, `{home}`, `{root}`, `{token}`. One for `open_file`
    /// that is not absolute is compared with the end of the path.
    pub file: Option<String>,
    /// For `pid_file`: the JSON field that holds the id.
    pub field: Option<String>,
    /// For `pid_file` with `{token}` in its name, and for `lock`: the JSON field that holds the pid. Unset: the file's
    /// text is the pid.
    pub pid_field: Option<String>,
    /// Alive elsewhere? A path pattern whose existence, with a live pid inside, says that the conversation is open.
    pub lock: Option<String>,
}

/// Hooks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HookRule {
    /// How they are passed.
    pub style: HookStyle,
    /// Arguments, for [`HookStyle::Args`].
    pub args: Vec<String>,
    /// Environment, for [`HookStyle::Env`].
    pub env: BTreeMap<String, String>,
    /// The agent's event name → ours (`session_start`, `prompt`, `turn_start`, `turn_end`, `permission`, `question`,
    /// `tool`, `message`, `goodbye`).
    pub events: BTreeMap<String, String>,
    /// Name of the JSON field with the event's name.
    pub event_field: Option<String>,
    /// Name of the JSON field with the conversation id.
    pub token_field: Option<String>,
    /// Name of the JSON field with the reason of a goodbye. Unset: `reason`.
    pub reason_field: Option<String>,
    /// Our event name → the JSON field with its text: the prompt, the answer, what permission is asked for.
    pub text_fields: BTreeMap<String, String>,
    /// Our event name → the JSON field with the id of its message.
    pub id_fields: BTreeMap<String, String>,
    /// Name of the JSON field with the role of a `message`. Unset: `role`.
    pub role_field: Option<String>,
    /// Name of the JSON field of a `turn_end` that lists tasks which go on in the background.
    pub background_field: Option<String>,
}

/// What the person does to leave the agent from inside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuitRule {
    /// Lines that end the agent, e.g. `/quit`.
    pub lines: Vec<String>,
    /// How many Ctrl-C in a row end it; 0: none do.
    pub ctrl_c: u8,
    /// How many Ctrl-D in a row end it; 0: none do.
    pub ctrl_d: u8,
    /// Goodbye reasons that mean a person's quit, e.g. `prompt_input_exit`.
    pub reasons: Vec<String>,
    /// Goodbye reasons that end the conversation while the agent lives on with another one, e.g. `clear`.
    pub continues: Vec<String>,
}

/// What the agent's state is read from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatusRule {
    /// Sources, best first. Empty: output only.
    pub sources: Vec<StatusSource>,
    /// Title texts that mean working, waiting for permission, idle: a title *containing* one of them.
    pub title_working: Vec<String>,
    /// Titles that mean blocked.
    pub title_blocked: Vec<String>,
    /// Titles that mean idle.
    pub title_idle: Vec<String>,
}

/// Last words of an agent, by which a failure that no retry mends is known: the last lines of output *containing* one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailureRule {
    /// The login is gone.
    pub login_expired: Vec<String>,
    /// The conversation id is not known to the agent.
    pub unknown_conversation: Vec<String>,
}

/// One agent CLI.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Key of the profile: `claude`. Filled from the file's or table's name.
    pub name: String,
    /// In the person's configuration: the built-in profile that this one begins from. Empty once read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// What tabs show: `Claude Code`.
    pub label: String,
    /// Program, looked up on PATH; `{relight}` is our own program, `{shell}` the person's shell, and `{args}` alone
    /// the first of the person's own arguments.
    pub program: String,
    /// One line about what this profile rests on.
    pub note: String,
    /// Whether it was proved against the real program.
    pub proved: bool,
    /// Whether what runs is an agent at all (`shell` is not).
    pub agent: bool,
    /// Environment set for every start.
    pub env: BTreeMap<String, String>,
    /// Start.
    pub launch: LaunchRule,
    /// Resume.
    pub resume: ResumeRule,
    /// Conversation id.
    pub token: TokenRule,
    /// Hooks.
    pub hooks: HookRule,
    /// Leaving.
    pub quit: QuitRule,
    /// State.
    pub status: StatusRule,
    /// Failures.
    pub failures: FailureRule,
}

impl Profile {
    /// Whether the profile knows how to resume by id.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        !self.resume.args.is_empty()
    }
}
