//! The journal's file: a header with its id, then framed records. Readable up to the first damage, whatever happened.
//!
//! A frame is the length of the JSON text (u32, big endian), its CRC-32 (the same), and the text. An unfinished frame at the
//! end is what a crash leaves: it was never told to anyone, so it is cut off and its sequence number is used again. Damage
//! before the end means that records which were told are lost: the journal begins anew under another id, with all that is
//! readable and matters, so that its reader starts over too. In both cases the bytes go to `journal.torn`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::journal::{Body, Record};
use crate::domain::rows::Millis;

use super::error::Error;

/// Format of the file; a newer one is refused.
const VERSION: u32 = 1;
/// First bytes of the header, followed by the version, the id and a line feed.
const MAGIC: &str = "relight-journal ";
/// Characters of a journal's id: 128 random bits in hexadecimal.
const ID_CHARS: usize = 32;
/// Length of the header: magic, one digit, a space, id, line feed.
const HEADER_BYTES: usize = MAGIC.len() + 2 + ID_CHARS + 1;
/// Length and checksum before each record.
const FRAME_BYTES: u64 = 8;
/// Longest record: far above a hook line's bound, so that a wild length is known as damage.
const MAX_RECORD_BYTES: usize = 4 * 1024 * 1024;
/// One place in the index per so many records: a read skips at most that many.
const INDEX_EVERY: u64 = 128;
/// A batch of records read at once ends after so many bytes, whatever their number.
const BATCH_BYTES: u64 = 1024 * 1024;

/// When a record is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Milliseconds since boot, sleep included.
    pub boot_ms: u64,
    /// Kernel boot id.
    pub boot_id: String,
    /// Wall clock.
    pub at: Millis,
}

/// What opening found besides records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Nothing.
    None,
    /// An unfinished record at the end was cut off: so many bytes.
    Torn(u64),
    /// Records are lost: so many bytes were set aside, and the journal has a new id.
    Lost(u64),
}

/// An open journal, with one writer.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    id: String,
    /// Length of the good part.
    end: u64,
    /// Sequence number of the newest record.
    seq: u64,
    incarnation: u32,
    /// Sequence number and offset of every [`INDEX_EVERY`]th record.
    index: Vec<(u64, u64)>,
}

impl Journal {
    /// Opens the journal at `path`, or begins one, hands every record to `visit` in order, and counts this incarnation.
    ///
    /// # Errors
    /// When the file cannot be read or mended, or is of a newer format.
    pub fn open(path: &Path, visit: &mut dyn FnMut(&Record)) -> Result<(Self, Damage), Error> {
        let fail = |what, source| Error::file(what, path, source);
        let file = match open_file(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((Self::begin(path, 1)?, Damage::None)),
            Err(e) => return Err(fail("open the journal", e)),
        };
        let read = |e| fail("read the journal", e);
        let mut input = BufReader::new(File::open(path).map_err(read)?);
        let mut line = Vec::with_capacity(HEADER_BYTES);
        input.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut line).map_err(read)?;
        let Some(id) = header(path, &line)? else {
            let left = set_aside(path, 0).map_err(|e| fail("set aside the damaged journal", e))?.len();
            return Ok((Self::begin(path, 1)?, Damage::Lost(left as u64)));
        };
        let mut journal =
            Self { path: path.into(), file, id, end: HEADER_BYTES as u64, seq: 0, incarnation: 0, index: Vec::new() };
        while let Some((record, bytes)) = next_frame(&mut input).map_err(read)? {
            journal.note(&record, journal.end + bytes);
            visit(&record);
        }
        journal.incarnation += 1;
        if journal.file.metadata().map_err(read)?.len() == journal.end {
            return Ok((journal, Damage::None));
        }
        let rest = set_aside(path, journal.end).map_err(|e| fail("set aside the damaged end of the journal", e))?;
        let left = rest.len() as u64;
        if unfinished(&rest, &journal.id) {
            journal.file.set_len(journal.end).map_err(|e| fail("cut the journal", e))?;
            journal.file.sync_all().map_err(|e| fail("write the journal", e))?;
            return Ok((journal, Damage::Torn(left)));
        }
        Ok((journal.renewed()?, Damage::Lost(left)))
    }

    /// The same records that matter in a new journal with a new id.
    fn renewed(self) -> Result<Self, Error> {
        let mut anew = Self::begin(&self.path, self.incarnation)?;
        let mut after = 0;
        loop {
            let batch = self.read(after, u64::MAX, INDEX_EVERY as usize)?;
            let Some(last) = batch.last() else { break };
            after = last.seq;
            for mut record in batch.into_iter().filter(|r| r.body.is_durable()) {
                record.journal.clone_from(&anew.id);
                record.seq = anew.seq + 1;
                anew.write(&record)?;
            }
        }
        anew.sync()?;
        Ok(anew)
    }

    /// Begins an empty journal in place of whatever is there.
    fn begin(path: &Path, incarnation: u32) -> Result<Self, Error> {
        let fail = |what, source| Error::file(what, path, source);
        let id = uuid::Uuid::new_v4().simple().to_string();
        let new = path.with_extension("new");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&new)
            .map_err(|e| fail("begin the journal", e))?;
        writeln!(file, "{MAGIC}{VERSION} {id}").map_err(|e| fail("begin the journal", e))?;
        file.sync_all().map_err(|e| fail("begin the journal", e))?;
        fs::rename(&new, path).map_err(|e| fail("begin the journal", e))?;
        if let Some(dir) = path.parent() {
            File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| fail("begin the journal", e))?;
        }
        let file = open_file(path).map_err(|e| fail("open the journal", e))?;
        Ok(Self { path: path.into(), file, id, end: HEADER_BYTES as u64, seq: 0, incarnation, index: Vec::new() })
    }

    /// Appends a record without waiting for the disk. On an error nothing of it is visible.
    ///
    /// # Errors
    /// When the file cannot be written (a full disk) or the record is longer than 4 MiB.
    pub fn append(&mut self, stamp: &Stamp, body: Body) -> Result<Record, Error> {
        let record = Record {
            journal: self.id.clone(),
            incarnation: self.incarnation,
            seq: self.seq + 1,
            boot_ms: stamp.boot_ms,
            boot_id: stamp.boot_id.clone(),
            at: stamp.at,
            body,
        };
        self.write(&record)?;
        Ok(record)
    }

    fn write(&mut self, record: &Record) -> Result<(), Error> {
        let fail = |source| Error::file("write the journal", &self.path, source);
        let text = serde_json::to_vec(record).map_err(|e| fail(io::Error::other(e)))?;
        if text.len() > MAX_RECORD_BYTES {
            return Err(Error::RecordTooLong { bytes: text.len(), limit: MAX_RECORD_BYTES });
        }
        let mut frame = Vec::with_capacity(text.len() + FRAME_BYTES as usize);
        frame.extend_from_slice(&(text.len() as u32).to_be_bytes());
        frame.extend_from_slice(&crc32fast::hash(&text).to_be_bytes());
        frame.extend_from_slice(&text);
        if let Err(error) = self.file.write_all_at(&frame, self.end) {
            // What was written lies behind the end and is overwritten by the next record; cutting it only tidies up.
            let _ = self.file.set_len(self.end);
            return Err(fail(error));
        }
        self.note(record, self.end + frame.len() as u64);
        Ok(())
    }

    fn note(&mut self, record: &Record, next: u64) {
        if self.index.last().is_none_or(|(seq, _)| record.seq >= seq + INDEX_EVERY) {
            self.index.push((record.seq, self.end));
        }
        self.seq = record.seq;
        self.incarnation = self.incarnation.max(record.incarnation);
        self.end = next;
    }

    /// Waits until everything appended is on disk.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|e| Error::file("write the journal to disk", &self.path, e))
    }

    /// The file, in order to wait for the disk elsewhere.
    #[must_use]
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Records after `after` up to and with `until`, at most `limit`, oldest first. May end early after 1 MiB.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, after: u64, until: u64, limit: usize) -> Result<Vec<Record>, Error> {
        let fail = |source| Error::file("read the journal", &self.path, source);
        let place = self.index.partition_point(|(seq, _)| *seq <= after.saturating_add(1));
        let mut at = place.checked_sub(1).and_then(|i| self.index.get(i)).map_or(HEADER_BYTES as u64, |(_, at)| *at);
        let mut records = Vec::new();
        let mut bytes = 0;
        while at < self.end && records.len() < limit && bytes < BATCH_BYTES {
            let mut head = [0; FRAME_BYTES as usize];
            self.file.read_exact_at(&mut head, at).map_err(fail)?;
            let len = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
            if len > MAX_RECORD_BYTES {
                return Err(fail(io::Error::new(io::ErrorKind::InvalidData, "it was damaged after it was opened")));
            }
            let mut text = vec![0; len];
            self.file.read_exact_at(&mut text, at + FRAME_BYTES).map_err(fail)?;
            let record: Record = serde_json::from_slice(&text).map_err(|e| fail(io::Error::other(e)))?;
            at += FRAME_BYTES + len as u64;
            if record.seq > until {
                break;
            }
            if record.seq > after {
                bytes += len as u64;
                records.push(record);
            }
        }
        Ok(records)
    }

    /// Id of the journal.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sequence number of the newest record; 0: none.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Number of this incarnation.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }
}

fn open_file(path: &Path) -> io::Result<Arc<File>> {
    Ok(Arc::new(OpenOptions::new().read(true).write(true).open(path)?))
}

/// Copies the file's bytes from `from` on to `journal.torn`, and returns them.
fn set_aside(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    let mut input = File::open(path)?;
    input.seek(SeekFrom::Start(from))?;
    input.read_to_end(&mut rest)?;
    let aside = path.with_extension("torn");
    OpenOptions::new().create(true).append(true).mode(0o600).open(aside)?.write_all(&rest)?;
    Ok(rest)
}

/// The id in the header; `None` when the header is damaged.
fn header(path: &Path, text: &[u8]) -> Result<Option<String>, Error> {
    let line = text.get(..HEADER_BYTES).and_then(|h| std::str::from_utf8(h).ok());
    let first = text.split(|b| *b == b'\n').next().and_then(|h| std::str::from_utf8(h).ok());
    let version = first.and_then(|l| l.strip_prefix(MAGIC)).and_then(|l| l.split(' ').next()).map(str::parse::<u32>);
    match (version, line) {
        (Some(Ok(found)), _) if found > VERSION => {
            Err(Error::JournalVersion { path: path.into(), found, known: VERSION })
        }
        (Some(Ok(VERSION)), Some(line)) => {
            let id = line.trim_end().rsplit(' ').next().unwrap_or_default();
            let good = id.len() == ID_CHARS && id.bytes().all(|b| b.is_ascii_hexdigit()) && line.ends_with('\n');
            Ok(good.then(|| id.to_owned()))
        }
        _ => Ok(None),
    }
}

/// The next record and its frame's length; `None` at the end and at the first damage.
fn next_frame(input: &mut impl Read) -> io::Result<Option<(Record, u64)>> {
    let mut frame = Vec::new();
    input.by_ref().take(FRAME_BYTES).read_to_end(&mut frame)?;
    let Some(len) = frame.first_chunk::<4>().map(|b| u32::from_be_bytes(*b) as usize) else { return Ok(None) };
    if len > MAX_RECORD_BYTES {
        return Ok(None);
    }
    input.by_ref().take(len as u64).read_to_end(&mut frame)?;
    Ok(frame_at(&frame, 0).map(|(record, bytes)| (record, bytes as u64)))
}

/// The whole, undamaged record at `at`, and where the next one begins.
fn frame_at(text: &[u8], at: usize) -> Option<(Record, usize)> {
    let head = text.get(at..at.checked_add(FRAME_BYTES as usize)?)?;
    let len = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let crc = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    if len > MAX_RECORD_BYTES {
        return None;
    }
    let begin = at + FRAME_BYTES as usize;
    let body = text.get(begin..begin + len)?;
    if crc32fast::hash(body) != crc {
        return None;
    }
    Some((serde_json::from_slice(body).ok()?, begin + len))
}

/// Whether `rest` is what an interrupted append leaves: the beginning of one frame, or blocks that were never filled.
fn unfinished(rest: &[u8], id: &str) -> bool {
    if rest.iter().all(|b| *b == 0) {
        return true;
    }
    let Some(head) = rest.get(..FRAME_BYTES as usize) else { return true };
    let len = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let whole = FRAME_BYTES as usize + len;
    if len > MAX_RECORD_BYTES || rest.len() >= whole {
        return false;
    }
    // A wild length may reach over good records: then one of them can be found behind.
    let mark = format!("{{\"journal\":\"{id}\"");
    !rest
        .windows(mark.len())
        .enumerate()
        .skip(FRAME_BYTES as usize + 1)
        .filter(|(_, window)| *window == mark.as_bytes())
        .any(|(at, _)| frame_at(rest, at - FRAME_BYTES as usize).is_some())
}

#[cfg(test)]
mod tests;
