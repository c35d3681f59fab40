//! Conversations on disk: one file of JSON lines per id, written before anything follows from a message; a lock file
//! with the pid of who has it open; and a record of every start, by which two agents on one conversation are found.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::brain::Message;

/// Longest conversation id, in bytes.
const MAX_ID_BYTES: usize = 128;

/// Name of the record of starts.
const STARTS: &str = "starts.jsonl";

/// Whether `id` can name a conversation, and a file.
pub fn plausible(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= MAX_ID_BYTES
        && !id.starts_with(['-', '.'])
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// An open conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Its id.
    pub id: String,
    dir: PathBuf,
}

/// A conversation with what was found when it was opened.
#[derive(Debug)]
pub struct Opened {
    /// It.
    pub conversation: Conversation,
    /// Its messages so far.
    pub messages: Vec<Message>,
    /// It was there before.
    pub resumed: bool,
    /// What to tell the person.
    pub notes: Vec<String>,
}

impl Conversation {
    /// Begins a conversation, with the id that was chosen or a random one. Its file comes with the first message.
    pub fn begin(dir: &Path, id: Option<&str>) -> Result<Opened, String> {
        let id = id.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned);
        let conversation = Self { id, dir: dir.to_owned() };
        if !conversation.read()?.is_empty() {
            return Err(format!("Session ID {} is already in use.", conversation.id));
        }
        conversation.open(Vec::new(), false)
    }

    /// Takes up a conversation.
    pub fn resume(dir: &Path, id: &str) -> Result<Opened, String> {
        let conversation = Self { id: id.to_owned(), dir: dir.to_owned() };
        let messages = conversation.read()?;
        if !messages.iter().any(|message| message.role == "user") {
            return Err(format!("No conversation found with session ID: {id}"));
        }
        conversation.open(messages, true)
    }

    fn open(self, messages: Vec<Message>, resumed: bool) -> Result<Opened, String> {
        let problem = |e: io::Error| format!("cannot keep conversations in {}: {e}", self.dir.display());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(problem)?;
        let other = self.holder();
        self.lock().map_err(problem)?;
        self.record(resumed, other).map_err(problem)?;
        let notes = other.map(|pid| format!("This conversation is also open in process {pid}.")).into_iter().collect();
        Ok(Opened { conversation: self, messages, resumed, notes })
    }

    /// Where its messages are.
    pub fn file(&self) -> PathBuf {
        self.dir.join(format!("{}.jsonl", self.id))
    }

    fn lock_file(&self) -> PathBuf {
        self.dir.join(format!("{}.lock", self.id))
    }

    fn lock(&self) -> io::Result<()> {
        let temporary = self.dir.join(format!(".{}.lock.{}", self.id, std::process::id()));
        std::fs::write(&temporary, format!("{}\n", std::process::id()))?;
        std::fs::rename(&temporary, self.lock_file())
    }

    /// A live process, other than this one, that has the conversation open. One that is dead and not yet waited for has
    /// nothing open.
    fn holder(&self) -> Option<u32> {
        let pid: u32 = std::fs::read_to_string(self.lock_file()).ok()?.trim().parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Behind the command's name, which may hold anything, a bracket included.
        let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
        (pid != std::process::id() && !matches!(state, 'Z' | 'X')).then_some(pid)
    }

    fn record(&self, resumed: bool, other: Option<u32>) -> io::Result<()> {
        let line = json!({"id": self.id, "pid": std::process::id(), "resumed": resumed, "also_open_in": other});
        append(&self.dir.join(STARTS), &line)
    }

    /// Lets go of it: removes the lock if it is ours.
    pub fn release(&self) {
        let ours = std::fs::read_to_string(self.lock_file());
        if ours.is_ok_and(|text| text.trim() == std::process::id().to_string()) {
            let _ = std::fs::remove_file(self.lock_file());
        }
    }

    /// Adds a message; it is on disk when this returns.
    pub fn add(&self, message: &Message) -> io::Result<()> {
        append(&self.file(), &json!({"id": message.id, "role": message.role, "text": message.text}))
    }

    /// Its messages; a last line that was cut by a crash is left out.
    fn read(&self) -> Result<Vec<Message>, String> {
        let mut text = String::new();
        match File::open(self.file()).and_then(|mut file| file.read_to_string(&mut text)) {
            Ok(_) => Ok(text.lines().filter_map(message).collect()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(format!("cannot read conversation {}: {e}", self.file().display())),
        }
    }
}

fn message(line: &str) -> Option<Message> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(Message { id: text("id")?, role: text("role")?, text: text("text")? })
}

/// Appends one line in one write, and waits until it is on disk.
fn append(path: &Path, line: &Value) -> io::Result<()> {
    let fresh = !path.exists();
    let mut file = OpenOptions::new().append(true).create(true).read(true).mode(0o600).open(path)?;
    let mut text = String::new();
    // A line cut by a crash is ended first, so that it does not spoil the next one.
    if !fresh && !ends_with_newline(&file)? {
        text.push('\n');
    }
    text.push_str(&line.to_string());
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    if fresh && let Some(dir) = path.parent() {
        File::open(dir)?.sync_all()?;
    }
    Ok(())
}

fn ends_with_newline(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::FileExt as _;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last == [b'\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message { id: "m".into(), role: "user".into(), text: text.into() }
    }

    #[test]
    fn a_conversation_comes_back_once_it_was_prompted() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("store");
        let opened = Conversation::begin(&dir, Some("a")).unwrap();
        assert!(!opened.resumed && opened.messages.is_empty());
        let unknown = "No conversation found with session ID: a";
        assert_eq!(Conversation::resume(&dir, "a").unwrap_err(), unknown);
        opened.conversation.add(&user("one")).unwrap();
        opened.conversation.add(&user("two")).unwrap();
        let again = Conversation::resume(&dir, "a").unwrap();
        assert!(again.resumed);
        assert_eq!(again.messages, [user("one"), user("two")]);
        assert_eq!(Conversation::begin(&dir, Some("a")).unwrap_err(), "Session ID a is already in use.");
    }

    #[test]
    fn a_line_cut_by_a_crash_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let opened = Conversation::begin(dir.path(), Some("a")).unwrap();
        opened.conversation.add(&user("one")).unwrap();
        let mut file = OpenOptions::new().append(true).open(opened.conversation.file()).unwrap();
        file.write_all(b"{\"id\":\"m\",\"ro").unwrap();
        opened.conversation.add(&user("two")).unwrap();
        assert_eq!(opened.conversation.read().unwrap(), [user("one"), user("two")]);
    }

    #[test]
    fn who_has_it_open_is_seen_and_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let opened = Conversation::begin(dir.path(), Some("a")).unwrap();
        opened.conversation.add(&user("one")).unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero();
        std::fs::write(dir.path().join("a.lock"), parent.to_string()).unwrap();
        let again = Conversation::resume(dir.path(), "a").unwrap();
        assert_eq!(again.notes, [format!("This conversation is also open in process {parent}.")]);
        let starts = std::fs::read_to_string(dir.path().join(STARTS)).unwrap();
        let last: Value = serde_json::from_str(starts.lines().last().unwrap()).unwrap();
        assert_eq!(last["also_open_in"], parent.get());
        again.conversation.release();
        assert!(!dir.path().join("a.lock").exists());
    }
}
