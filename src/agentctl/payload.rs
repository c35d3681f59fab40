//! Reads what an agent writes to the stdin of its hook: for a bounded time and of bounded size, so that a hook whose stdin is
//! never closed, or never ends, neither hangs nor fills memory.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Agents write a payload and close at once; a busy machine may take a while to let them.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// What is kept of a payload. The spool's lines are far shorter; `relight hook` cuts long texts itself.
const PAYLOAD_BYTES: usize = 1024 * 1024;
/// Bytes read at once: a pipe's capacity.
const CHUNK_BYTES: usize = 64 * 1024;

/// Everything up to the end of `input`, to the deadline, or to 1 MiB, whichever comes first. What is longer is read to its
/// end, so that the agent can finish writing, and dropped. A JSON text that is cut off is completed.
#[must_use]
pub fn read(input: impl AsFd, within: Duration) -> String {
    let end = Instant::now() + within;
    let mut kept = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    while ready(&input, end) {
        match rustix::io::read(&input, &mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                let room = PAYLOAD_BYTES - kept.len();
                kept.extend_from_slice(&chunk[..n.min(room)]);
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => break,
        }
    }
    complete(String::from_utf8_lossy(&kept).into_owned())
}

/// Waits until there is something to read, or an end; `false` at the deadline.
fn ready(input: &impl AsFd, end: Instant) -> bool {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// `text`, a JSON text that may end anywhere, with what is open closed: as it stands, else without its last, unfinished
/// member. A text that is no JSON stays as it is.
fn complete(text: String) -> String {
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json(&text) {
        return text;
    }
    let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
    let mut last = None;
    // Where an escape begins that has not ended: `\`, or `\u` and its digits.
    let mut escape = None;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(begin) = escape
            && (at - begin == 6 || at - begin == 2 && text.as_bytes()[begin + 1] != b'u')
        {
            escape = None;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => (escaped, escape) = (true, Some(at)),
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => _ = open.pop(),
            b',' => last = Some((at, open.clone())),
            _ => {}
        }
    }
    let closed = |text: &str, quoted: bool, open: &[char]| {
        let quote = if quoted { "\"" } else { "" };
        text.to_owned() + quote + &open.iter().rev().collect::<String>()
    };
    let whole = closed(&text[..escape.unwrap_or(text.len())], quoted, &open);
    if is_json(&whole) {
        return whole;
    }
    let shorter = last.map(|(at, open)| closed(&text[..at], false, &open));
    shorter.filter(|shorter| is_json(shorter)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::io::Write as _;

    /// Far more than anything here takes; nothing waits for it.
    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn what_came_before_the_deadline_is_kept_when_nobody_closes() {
        let (read_end, mut write_end) = std::io::pipe().unwrap();
        write_end.write_all(br#"{"event": "Stop", "text": "half a sen"#).unwrap();
        let got = read(&read_end, Duration::from_millis(100));
        assert_eq!(serde_json::from_str::<Value>(&got).unwrap(), json!({"event": "Stop", "text": "half a sen"}));
        drop(write_end);
        assert_eq!(read(&read_end, LONG), "");
    }

    #[test]
    fn of_a_long_payload_the_beginning_is_kept_and_the_writer_finishes() {
        let (read_end, mut write_end) = std::io::pipe().unwrap();
        let long = format!(r#"{{"event": "PostToolUse", "response": ["{}"]}}"#, "x".repeat(3 * PAYLOAD_BYTES));
        let writer = std::thread::spawn(move || write_end.write_all(long.as_bytes()));
        let got = read(&read_end, LONG);
        writer.join().unwrap().unwrap();
        assert!(got.len() <= PAYLOAD_BYTES + 3, "{}", got.len());
        assert_eq!(serde_json::from_str::<Value>(&got).unwrap()["event"], "PostToolUse");
    }

    #[test]
    fn a_text_that_ends_anywhere_is_completed() {
        let whole = r#"{"a": "b\"\u00e4{[,", "c": [1, {"d": "e"}], "f": true, "g": {"h": null}}"#;
        let from = whole.find(", \"c\"").unwrap();
        for end in (1..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let got = complete(whole[..end].to_owned());
            match serde_json::from_str::<Value>(&got) {
                Ok(value) if end >= from => assert_eq!(value["a"], "b\"ä{[,", "{got}"),
                Ok(_) => {}
                Err(error) => assert!(end < from, "{got}: {error}"),
            }
        }
        assert_eq!(complete("no json, really".into()), "no json, really");
        assert_eq!(complete(String::new()), "");
    }
}
