//! Reads a terminal's hook spool: JSON lines that `relight hook` appends, taken from an offset on.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde_json::Value;

/// Longest line that is read; a longer one is skipped. `relight hook` cuts its texts to stay below.
pub const MAX_LINE_BYTES: u64 = 256 * 1024;

/// One line, and the offset behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its JSON; `None` when it is none, or too long.
    pub value: Option<Value>,
    /// Offset behind the line.
    pub end: u64,
}

/// A reader with its place.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    offset: u64,
}

impl Spool {
    /// Reads `path` from `offset` on.
    #[must_use]
    pub fn new(path: PathBuf, offset: u64) -> Self {
        Self { path, offset }
    }

    /// The whole lines that were appended since the last call, at most `limit`. An unfinished last line waits.
    ///
    /// # Errors
    /// When the file cannot be read; a missing file is an empty one.
    pub fn take(&mut self, limit: usize) -> io::Result<Vec<Line>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        if file.metadata()?.len() <= self.offset {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut input = BufReader::new(file);
        let mut lines = Vec::new();
        while lines.len() < limit {
            let mut text = Vec::new();
            let mut bytes = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut text)? as u64;
            let mut value = None;
            if text.last() == Some(&b'\n') {
                value = serde_json::from_slice(&text).ok();
            } else if bytes == MAX_LINE_BYTES {
                let Some(more) = skip_line(&mut input)? else { break };
                bytes += more;
            } else {
                break;
            }
            self.offset += bytes;
            lines.push(Line { value, end: self.offset });
        }
        Ok(lines)
    }
}

/// Skips to behind the next line feed; `None` when there is none yet.
fn skip_line(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let place = buffer.iter().position(|b| *b == b'\n');
        let taken = place.map_or(buffer.len(), |at| at + 1);
        input.consume(taken);
        skipped += taken as u64;
        if place.is_some() {
            return Ok(Some(skipped));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Write;

    #[test]
    fn whole_lines_come_once_and_an_unfinished_one_waits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let mut spool = Spool::new(path.clone(), 0);
        assert_eq!(spool.take(10).unwrap(), []);
        let mut file = File::options().create(true).append(true).open(&path).unwrap();
        file.write_all(b"{\"a\":1}\nnot json\n{\"b\"").unwrap();
        let lines = spool.take(10).unwrap();
        assert_eq!(lines, [Line { value: Some(json!({"a": 1})), end: 8 }, Line { value: None, end: 17 }]);
        assert_eq!(spool.take(10).unwrap(), []);
        file.write_all(b":2}\n").unwrap();
        assert_eq!(spool.take(10).unwrap(), [Line { value: Some(json!({"b": 2})), end: 25 }]);
        assert_eq!(Spool::new(path, 17).take(10).unwrap().len(), 1);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_once_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let mut spool = Spool::new(path.clone(), 0);
        let mut file = File::options().create(true).append(true).open(&path).unwrap();
        file.write_all(&vec![b'x'; 3 * MAX_LINE_BYTES as usize]).unwrap();
        assert_eq!(spool.take(10).unwrap(), []);
        file.write_all(b"x\n{}\n").unwrap();
        let lines = spool.take(10).unwrap();
        assert_eq!(lines.iter().map(|l| l.value.clone()).collect::<Vec<_>>(), [None, Some(json!({}))]);
        let mut two = Spool::new(path, 0);
        assert_eq!((two.take(1).unwrap().len(), two.take(1).unwrap().len(), two.take(1).unwrap().len()), (1, 1, 0));
    }
}
