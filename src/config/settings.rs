//! The settings, checked. `config.example.toml` names every one of them with its default.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::domain::profile::Profile;
use crate::domain::rules::{AllWord, ResumePolicy, ResumeStates};
use crate::domain::words::{AutoResume, Runtime, SessionState};

use super::profiles::Profiles;

/// Everything that a person can set.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Automatic resume.
    pub resume: ResumePolicy,
    /// Names of the variables that a resumed agent gets from the last client instead of from its first start.
    pub refresh_env: Vec<String>,
    /// What a new session has when nothing else is said.
    pub defaults: Defaults,
    /// Terminals.
    pub terminal: Terminal,
    /// The screen.
    pub ui: Ui,
    /// Its keys, as written.
    pub keys: Keys,
    /// Log files.
    pub log: Log,
    /// Places where sessions can run. `local` is always there.
    pub executors: BTreeMap<String, ExecutorConfig>,
    /// The built-in agent profiles and the person's own.
    pub profiles: Profiles,
}

impl Default for Config {
    fn default() -> Self {
        Self::new(Raw::default(), Profiles::builtin())
    }
}

impl Config {
    pub(super) fn new(raw: Raw, profiles: Profiles) -> Self {
        let Raw { resume, defaults, terminal, ui, keys, log, mut executors, agents: _ } = raw;
        executors.entry("local".into()).or_default();
        Self {
            resume: ResumePolicy {
                auto: resume.auto,
                states: resume.states,
                max_attempts: resume.max_attempts,
                parallel: resume.parallel,
            },
            refresh_env: resume.refresh_env,
            defaults,
            terminal,
            ui,
            keys,
            log,
            executors,
            profiles,
        }
    }
}

/// The file as written, each value within its range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Raw {
    pub resume: Resume,
    pub defaults: Defaults,
    pub terminal: Terminal,
    pub ui: Ui,
    pub keys: Keys,
    pub log: Log,
    pub executors: BTreeMap<String, ExecutorConfig>,
    /// Read here only to find mistakes with their line; the profiles themselves are merged from tables.
    pub agents: BTreeMap<String, Profile>,
}

impl Default for Raw {
    fn default() -> Self {
        Self {
            resume: Resume::default(),
            defaults: Defaults::default(),
            terminal: Terminal::default(),
            ui: Ui::default(),
            keys: Keys::default(),
            log: Log::default(),
            executors: BTreeMap::from([("local".into(), ExecutorConfig::default())]),
            agents: BTreeMap::new(),
        }
    }
}

/// `[resume]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Resume {
    pub auto: AutoResume,
    #[serde(deserialize_with = "states")]
    pub states: ResumeStates,
    #[serde(deserialize_with = "within::<_, 1, 100>")]
    pub max_attempts: u32,
    #[serde(deserialize_with = "within::<_, 1, 64>")]
    pub parallel: u32,
    #[serde(deserialize_with = "variables")]
    pub refresh_env: Vec<String>,
}

impl Default for Resume {
    fn default() -> Self {
        let ResumePolicy { auto, states, max_attempts, parallel } = ResumePolicy::default();
        let refresh_env = [
            "SSH_AUTH_SOCK",
            "SSH_CONNECTION",
            "SSH_CLIENT",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XAUTHORITY",
            "DBUS_SESSION_BUS_ADDRESS",
            "XDG_RUNTIME_DIR",
        ];
        Self { auto, states, max_attempts, parallel, refresh_env: refresh_env.map(String::from).to_vec() }
    }
}

/// `[defaults]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    /// Profile of a new session. Empty: the first agent of the known ones whose program is on PATH, else `demo`.
    pub agent: String,
    /// Program of shell terminals, absolute. Empty: `$SHELL`, else `/bin/sh`.
    #[serde(deserialize_with = "absolute_or_empty")]
    pub shell: String,
}

/// `[terminal]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Terminal {
    /// Lines above the screen that a terminal keeps in memory.
    #[serde(deserialize_with = "within::<_, 100, 100_000>")]
    pub history_lines: u32,
}

impl Default for Terminal {
    fn default() -> Self {
        // A screenful of an agent's answer is 50 lines: some 40 answers back, at about 2 MB for 200 columns.
        Self { history_lines: 2_000 }
    }
}

/// `[ui]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ui {
    /// Who has the mouse.
    pub mouse: MouseUse,
}

/// Who has the mouse: relight with its programs, or the outer terminal, which selects text with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseUse {
    /// `true`: relight and the programs that ask for it; the outer terminal with Shift held.
    #[default]
    Always,
    /// `"program"`: the same while the program in the pane asks for it, else the outer terminal.
    Program,
    /// `false`: the outer terminal.
    Never,
}

impl Serialize for MouseUse {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Always => true.serialize(to),
            Self::Program => "program".serialize(to),
            Self::Never => false.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for MouseUse {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Switch(bool),
            Word(String),
        }
        let wrong = || D::Error::custom("true, \"program\" or false is needed");
        match Written::deserialize(source).map_err(|_| wrong())? {
            Written::Switch(true) => Ok(Self::Always),
            Written::Switch(false) => Ok(Self::Never),
            Written::Word(word) if word == "program" => Ok(Self::Program),
            Written::Word(_) => Err(wrong()),
        }
    }
}

/// Commands, each with its keys.
pub type Bindings = BTreeMap<String, Vec<String>>;

/// `[keys]`, as written: which commands and keys there are is known to the screen, which reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keys {
    /// The key that comes before relight's own keys.
    pub prefix: String,
    /// Keys after the prefix, in place of a command's default ones.
    pub after_prefix: Bindings,
    /// Keys without the prefix, in place of a command's default ones.
    pub direct: Bindings,
}

impl Default for Keys {
    fn default() -> Self {
        Self { prefix: "ctrl-space".into(), after_prefix: Bindings::new(), direct: Bindings::new() }
    }
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// What is written.
    pub level: Level,
    /// Daily files kept.
    #[serde(deserialize_with = "within::<_, 1, 365>")]
    pub keep: u32,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: Level::Info, keep: 7 }
    }
}

/// How much is logged: this and everything graver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Only failures.
    Error,
    /// Also what a person should look at.
    Warn,
    /// Also each start, end, resume.
    Info,
    /// Also why.
    Debug,
    /// Everything.
    Trace,
}

impl std::str::FromStr for Level {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let all = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];
        let found = all.into_iter().find(|level| level.as_str() == word);
        found.ok_or_else(|| format!("`{word}` is none of {}", all.map(Self::as_str).join(", ")))
    }
}

impl Level {
    /// The word in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// `[executors.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecutorConfig {
    /// Where it runs.
    pub runtime: Runtime,
}

impl Default for ExecutorConfig {
    fn default() -> Self {
        Self { runtime: Runtime::Local }
    }
}

fn within<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(source: D) -> Result<u32, D::Error> {
    let wanted = || format!("a whole number from {MIN} to {MAX} is needed");
    let value = i64::deserialize(source).map_err(|_| D::Error::custom(wanted()))?;
    u32::try_from(value).ok().filter(|n| (MIN..=MAX).contains(n)).ok_or_else(|| D::Error::custom(wanted()))
}

fn states<'de, D: Deserializer<'de>>(source: D) -> Result<ResumeStates, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(String),
        Many(Vec<String>),
    }
    let wrong = || D::Error::custom("\"all\" or a list of \"RUNNING\" and \"WAITING_FOR_INPUT\" is needed");
    match Written::deserialize(source).map_err(|_| wrong())? {
        Written::One(word) if word == "all" => Ok(ResumeStates::All(AllWord::All)),
        Written::One(_) => Err(wrong()),
        Written::Many(words) => {
            let state = |word: &String| match word.parse() {
                Ok(state @ (SessionState::Running | SessionState::WaitingForInput)) => Ok(state),
                _ => Err(wrong()),
            };
            Ok(ResumeStates::These(words.iter().map(state).collect::<Result<_, _>>()?))
        }
    }
}

fn variables<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(source)?;
    let good = |name: &String| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match names.iter().find(|name| !good(name)) {
        Some(name) => Err(D::Error::custom(format!("`{name}` is no name of an environment variable"))),
        None => Ok(names),
    }
}

fn absolute_or_empty<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let path = String::deserialize(source)?;
    if path.is_empty() || path.starts_with('/') {
        Ok(path)
    } else {
        Err(D::Error::custom("an absolute path is needed, or \"\" for $SHELL"))
    }
}
