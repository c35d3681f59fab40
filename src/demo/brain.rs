//! The answers: rules instead of a model. What was told to be remembered is known from the conversation alone.

use std::time::Duration;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Unique in the conversation.
    pub id: String,
    /// `user` or `assistant`.
    pub role: String,
    /// Text.
    pub text: String,
}

/// What to do about a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Say these lines, word by word.
    Say(Vec<String>),
    /// Say numbered lines, one each time.
    Count {
        /// How many.
        lines: u32,
        /// Time between two.
        every: Duration,
    },
    /// Think this long, then say so.
    Think(Duration),
    /// Ask, then run a command.
    Tool(String),
    /// Print without end.
    Flood,
}

/// Columns at which answers are broken.
const WIDTH: usize = 72;
/// Longest prompt that is repeated in the answer, in bytes.
const REPEATED_BYTES: usize = 200;
/// Default time between two lines of `count`: slow enough to be killed in the middle.
const COUNT_EVERY: Duration = Duration::from_millis(50);

/// The answer to `prompt` after `history`.
pub fn answer(history: &[Message], prompt: &str) -> Answer {
    let words: Vec<&str> = prompt.split_whitespace().collect();
    let lower = prompt.to_lowercase();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u32>().ok());
    match (words.first().copied().unwrap_or_default().to_lowercase().as_str(), number(1)) {
        ("count", Some(lines)) => {
            let every = if words.get(2) == Some(&"every") { number(3) } else { None };
            let every = every.map_or(COUNT_EVERY, |ms| Duration::from_millis(ms.into()));
            return Answer::Count { lines, every };
        }
        ("think", Some(ms)) => return Answer::Think(Duration::from_millis(ms.into())),
        ("tool", _) => {
            let command = prompt.trim().get(4..).unwrap_or_default().trim();
            return Answer::Tool(if command.is_empty() { "echo the tool ran".to_owned() } else { command.to_owned() });
        }
        ("flood", _) if words.len() == 1 => return Answer::Flood,
        ("say", _) if words.len() > 1 => {
            return Answer::Say(wrapped(prompt.trim().get(3..).unwrap_or_default().trim()));
        }
        _ => {}
    }
    if let Some(word) = told(prompt) {
        return Answer::Say(vec![format!("I will remember {word}.")]);
    }
    if lower.contains("code word") {
        let known = history.iter().rev().filter(|m| m.role == "user").find_map(|m| told(&m.text));
        return Answer::Say(vec![match known {
            Some(word) => format!("The code word is {word}."),
            None => "I do not know a code word.".to_owned(),
        }]);
    }
    if prompt.len() > REPEATED_BYTES {
        let sum = crc32fast::hash(prompt.as_bytes());
        return Answer::Say(vec![format!("I received {} bytes with the CRC-32 {sum:08x}.", prompt.len())]);
    }
    let count = history.iter().filter(|m| m.role == "user").count() + 1;
    Answer::Say(wrapped(&format!("You said: {prompt}. This was prompt {count} of our conversation.")))
}

/// The word that a prompt tells to remember.
fn told(prompt: &str) -> Option<String> {
    let lower = prompt.to_lowercase();
    if lower.trim_end().ends_with('?') || lower.trim_start().starts_with("what") {
        return None;
    }
    let key = ["code word is", "remember"].into_iter().find(|key| lower.contains(key))?;
    let rest = prompt.get(lower.find(key)? + key.len()..)?;
    rest.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .find(|word| !word.is_empty() && !["that", "the", "code", "word", "is"].contains(word))
        .map(str::to_owned)
}

/// `text` in lines of at most [`WIDTH`] columns, words kept whole where they fit.
pub fn wrapped(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut now = String::new();
        for word in line.split_whitespace() {
            let mut word: Vec<char> = word.chars().filter(|c| !c.is_control()).collect();
            if !now.is_empty() && now.chars().count() + 1 + word.len() > WIDTH {
                out.push(std::mem::take(&mut now));
            }
            while word.len() > WIDTH {
                out.push(word.drain(..WIDTH).collect());
            }
            if !now.is_empty() {
                now.push(' ');
            }
            now.extend(word);
        }
        out.push(now);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message { id: "1".into(), role: "user".into(), text: text.into() }
    }

    fn said(history: &[Message], prompt: &str) -> String {
        match answer(history, prompt) {
            Answer::Say(lines) => lines.join("|"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_word_is_known_from_the_conversation_only() {
        assert_eq!(said(&[], "remember heron"), "I will remember heron.");
        assert_eq!(said(&[], "The code word is heron."), "I will remember heron.");
        assert_eq!(said(&[], "remember that the code word is heron"), "I will remember heron.");
        let history = [user("remember crow"), user("Remember: heron"), user("hello")];
        assert_eq!(said(&history, "What is the code word?"), "The code word is heron.");
        assert_eq!(said(&history, "what code word is it"), "The code word is heron.");
        assert_eq!(said(&[], "what is the code word?"), "I do not know a code word.");
    }

    #[test]
    fn commands() {
        let count = |lines, ms| Answer::Count { lines, every: Duration::from_millis(ms) };
        assert_eq!(answer(&[], "count 3"), count(3, 50));
        assert_eq!(answer(&[], "count 3 every 7"), count(3, 7));
        assert_eq!(answer(&[], "think 9"), Answer::Think(Duration::from_millis(9)));
        assert_eq!(answer(&[], "tool"), Answer::Tool("echo the tool ran".into()));
        assert_eq!(answer(&[], " tool ls -l"), Answer::Tool("ls -l".into()));
        assert_eq!(answer(&[], "flood"), Answer::Flood);
        assert_eq!(said(&[], "say a  b"), "a b");
        assert_eq!(said(&[user("x")], "hi"), "You said: hi. This was prompt 2 of our conversation.");
        assert!(said(&[], &"x".repeat(300)).starts_with("I received 300 bytes"));
    }

    #[test]
    fn lines_are_broken() {
        assert!(wrapped(&"word ".repeat(50)).iter().all(|line| line.chars().count() <= WIDTH));
        assert!(wrapped(&"x".repeat(200)).iter().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(wrapped("a\x1b[31m\nb"), ["a[31m", "b"]);
    }
}
