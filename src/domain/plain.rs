//! Text from outside, made safe to show: nothing in it steers a terminal or turns what stands around it.

use std::fmt::Write as _;

/// Longest text from outside that a message repeats, in characters.
const SHOWN_CHARS: usize = 80;

/// Whether a character does something to what is shown instead of being shown: control characters, those that turn the
/// direction of writing or break the line, and those that nobody sees. What scripts and emoji need to join is left.
#[must_use]
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `text` without them.
#[must_use]
pub fn strip(text: &str) -> String {
    text.chars().filter(|c| !steers(*c)).collect()
}

/// `text` with a space in the place of each of them.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if steers(c) { ' ' } else { c }).collect()
}

/// `text` as a message repeats it: plain, and cut after 80 characters.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut out: String = plain(text).chars().take(SHOWN_CHARS + 1).collect();
    if let Some((end, _)) = out.char_indices().nth(SHOWN_CHARS) {
        out.truncate(end);
        out.push('…');
    }
    out
}

/// JSON as it was, with each of them written as `\u`: outside of strings JSON has none.
#[must_use]
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing into a text does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_goes_and_what_is_read_stays() {
        let bad = "a\x1b[31mb\u{202e}c\u{9b}1m\u{200b}\u{2028}d\u{7f}\u{e0041}";
        assert_eq!(strip(bad), "a[31mbc1md");
        assert_eq!(plain("a\x07b\u{202e}c"), "a b c");
        let good = "שלום 界 é e\u{301} 👩\u{200d}💻 می\u{200c}خواهم";
        assert_eq!((strip(good), plain(good)), (good.to_owned(), good.to_owned()));
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(shown(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(shown(&"界".repeat(10_000)), format!("{}…", "界".repeat(80)));
    }

    #[test]
    fn json_says_the_same() {
        let value = serde_json::json!({ "k\u{9b}": "a\u{202e}\u{e0041}\u{7f}\n\"" });
        let text = json(&value.to_string());
        assert!(text.is_ascii() && !text.contains(steers), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
