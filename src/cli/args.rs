//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// What `--help` says after the options.
const AFTER_HELP: &str = "\
Sessions are named by id, by a unique beginning of an id, or by name.

Exit codes:
  0  done
  1  failed for another reason than those below; also `doctor` that found a problem
  2  wrong usage (also: a terminal that cannot show the screen, a text that is too long)
  3  no such session, task, terminal or agent, or the name fits several
  4  refused: it cannot be done in the present state (not resumable, already running, already bound, …);
     also `resume` with \"resumed\": false
  5  the host or the session's executor does not answer
  6  the configuration or a directory is wrong (also: the state directory of another machine,
     or one that was removed while the host ran)
  7  the database cannot be used (locked, corrupt, newer than the program, disk full,
     gone while sessions run)
  8  the other side speaks another protocol version, or belongs to another user
  129, 130, 131, 143  the screen ended because its terminal is gone or by SIGHUP, by SIGINT, SIGQUIT, SIGTERM
With --json an error is one JSON object on stderr: {\"error\": {\"code\", \"message\", \"hint\", \"exit_code\"}}.

Environment:
  RELIGHT_HOME=DIR   configuration, data, state, logs and sockets of one instance under DIR; unset: the XDG places";

/// What `relight doctor --help` says after the options.
const DOCTOR_HELP: &str = "\
Each line is one finding: `ok`, `note` (good to know; relight works) or `problem` (something does not work, or gets lost),
what it is about, how it is, and what to do. It looks at the host and the agentctls, this terminal, what a logout ends,
directories, disks and the database, limits of the system, and at the agents on PATH, which it asks for their version.

Exit codes: 0 no problem, 1 at least one; 6 not even the directories are known.";

/// What `relight demo --help` says after the options.
const DEMO_HELP: &str = "\
Everything of it lies in a directory of its own under TMPDIR (/tmp when unset). Leaving the screen ends the demo's host and
agents and removes the directory; what a demo that was killed has left, the next one removes.";

/// A terminal multiplexer for coding agents whose sessions come back by themselves.
#[derive(Debug, Parser)]
#[command(name = "relight", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub struct Args {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do; nothing: attach
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the sessions in this terminal (as `relight` alone does)
    Attach {
        /// Session to show first
        session: Option<String>,
        /// Look only: no key reaches an agent, and the window's size changes nothing
        #[arg(short, long)]
        read_only: bool,
        /// Detach every other screen first; the agents and other calls go on
        #[arg(short, long)]
        detach_others: bool,
    },
    /// Start a session
    New(New),
    /// List the sessions
    Ls,
    /// Say everything about one session
    Status {
        /// Session
        session: String,
    },
    /// Type text into a session's agent, and Enter
    Send(Send),
    /// Print what a session's terminal shows
    Capture {
        /// Session
        session: String,
        /// Lines of history above the screen, at most
        #[arg(long, default_value_t = 0, value_name = "N")]
        history: u32,
        /// Keep colours and styles
        #[arg(long)]
        ansi: bool,
    },
    /// Resume a session whose agent is dead
    Resume {
        /// Session
        session: String,
        /// Also one that you killed or closed
        #[arg(long)]
        reopen: bool,
    },
    /// Make a session from a conversation that ran outside relight
    Adopt(Adopt),
    /// End a session for good: it does not come back
    Kill {
        /// Session
        session: String,
    },
    /// Put the failure of a session away: nothing more is tried by itself
    Dismiss {
        /// Session
        session: String,
    },
    /// Give a session another name
    Rename {
        /// Session
        session: String,
        /// New name
        name: String,
    },
    /// Print what happened, one event a line
    Events {
        /// Only what came after this number; without it everything that is kept, or with --follow what comes from now on
        #[arg(long, value_name = "SEQ")]
        since: Option<u64>,
        /// Go on with what happens
        #[arg(long)]
        follow: bool,
    },
    /// The background process that keeps everything going
    Host {
        #[command(subcommand)]
        command: HostCommand,
    },
    /// The settings file
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Try relight in a throw-away instance: three demo agents, and a guide that says what to kill
    #[command(after_help = DEMO_HELP)]
    Demo {
        /// Leave the instance as it is at the end
        #[arg(long)]
        keep: bool,
    },
    /// List the agents that can be started
    Agents,
    /// Look for what you would trip over: nothing is started or changed
    #[command(after_help = DOCTOR_HELP)]
    Doctor,
    /// Print the completions for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
pub struct New {
    /// Agent, as `relight agents` lists them
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// Name of the session
    #[arg(long, value_name = "N")]
    pub name: Option<String>,
    /// Task it belongs to, by id or title; a new title makes a task
    #[arg(long, value_name = "T")]
    pub task: Option<String>,
    /// Directory to work in; the present one if not given
    #[arg(long, value_name = "D")]
    pub cwd: Option<PathBuf>,
    /// First prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,
    /// Where it runs, as configured under `[executors]`
    #[arg(long, value_name = "E")]
    pub executor: Option<String>,
    /// Do not attach to it
    #[arg(long)]
    pub detach: bool,
    /// Arguments for the agent
    #[arg(last = true, value_name = "AGENT-ARGS")]
    pub args: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct Send {
    /// Session
    pub session: String,
    /// Text; `-` reads it from stdin
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Do not press Enter afterwards
    #[arg(long)]
    pub no_enter: bool,
    /// Wait in the queue while no agent runs, instead of failing
    #[arg(long)]
    pub queue: bool,
}

#[derive(Debug, clap::Args)]
pub struct Adopt {
    /// Agent whose conversation it is
    #[arg(long, value_name = "A")]
    pub agent: String,
    /// The conversation's id, as the agent names it
    #[arg(long, value_name = "ID")]
    pub token: String,
    /// Directory it ran in; the present one if not given
    #[arg(long, value_name = "D")]
    pub cwd: Option<PathBuf>,
    /// Name of the session
    #[arg(long, value_name = "N")]
    pub name: Option<String>,
    /// Task it belongs to, by id or title; a new title makes a task
    #[arg(long, value_name = "T")]
    pub task: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum HostCommand {
    /// Be the host, in the foreground
    Run,
    /// Start it in the background, if none runs
    Start,
    /// End it; agents go on, and none starts by itself until you use relight again
    Stop {
        /// End the agents as well; they come back with the next host
        #[arg(long)]
        agents: bool,
    },
    /// End it and start it anew; agents go on
    Restart,
    /// Say who it is and what it has
    Status,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check the settings file
    Check,
    /// Print where the settings file is
    Path,
    /// Print a settings file with every setting and its default
    Example,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn agent_arguments_stand_after_two_hyphens() {
        let args = Args::parse_from(["relight", "new", "--agent", "demo", "--json", "--", "--json", "x"]);
        let Some(Command::New(new)) = args.command else { panic!("not new") };
        assert!(args.json);
        assert_eq!(new.args, ["--json", "x"]);
    }

    #[test]
    fn text_to_send_may_begin_with_a_hyphen() {
        let args = Args::parse_from(["relight", "send", "s", "- one", "--no-enter"]);
        let Some(Command::Send(send)) = args.command else { panic!("not send") };
        assert_eq!((send.text.as_str(), send.no_enter), ("- one", true));
    }
}
