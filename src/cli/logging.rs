//! Log files of one process kind: one a day, the oldest removed, never on the terminal.

use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use crate::config::settings::Log;
use crate::domain::ids::SessionId;

use super::failure::{Failure, Result};

/// Variable that overrules `log.level` for one process, in the words of tracing's filters.
const VARIABLE: &str = "RELIGHT_LOG";

/// Sends everything that is traced from now on to `dir/NAME.DATE.log`, each line with the session that the process is for.
///
/// # Errors
/// When the file cannot be made.
pub fn start(dir: &Path, name: &str, log: &Log, session: Option<&SessionId>) -> Result<()> {
    // Written by the thread that traces: no thread of its own, and nothing is lost when the process is killed.
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(name)
        .filename_suffix("log")
        // It makes room for a file before it looks whether today's is there: many processes write into one, and with `keep`
        // alone each that starts would remove one more, with 1 today's.
        .max_log_files(usize::try_from(log.keep).unwrap_or(usize::MAX).saturating_add(1))
        .build(dir)
        .map_err(|error| Failure::config(format!("cannot write log files in {}: {error}", dir.display())))?;
    let filter = match std::env::var(VARIABLE) {
        Ok(words) => EnvFilter::builder()
            .parse(&words)
            .map_err(|error| Failure::config(format!("{VARIABLE}=`{words}` is no filter: {error}")))?,
        Err(_) => EnvFilter::new(log.level.as_str()),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter(filter)
        // It would tell on stderr what it cannot write, and panic when that is on the same full disk.
        .log_internal_errors(false)
        .with_timer(Stamp { session: session.cloned() })
        .with_writer(Mutex::new(Lossy(file)))
        .finish();
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|error| Failure::new(format!("cannot start logging: {error}")))
}

/// The beginning of each line. Not a span: what other threads trace has it too, and no filter takes it away.
struct Stamp {
    session: Option<SessionId>,
}

impl FormatTime for Stamp {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        SystemTime.format_time(line)?;
        match &self.session {
            Some(session) => write!(line, " session={session}"),
            None => Ok(()),
        }
    }
}

/// Log files that lose lines rather than trouble whoever traces: a full disk must not end an agent.
struct Lossy(RollingFileAppender);

impl Write for Lossy {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The appender prints to stderr when it cannot begin the next day's file, and that panics when stderr is full.
        catch_unwind(AssertUnwindSafe(|| self.0.write(line))).unwrap_or(Ok(line.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        catch_unwind(AssertUnwindSafe(|| self.0.flush())).unwrap_or(Ok(()))
    }
}
