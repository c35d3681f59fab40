//! Reads one Rust file as far as the rules need it: without comments, strings and test modules, and as a list of paths.

use std::collections::BTreeSet;

/// One word, `::` or other character of the code, with its line from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A path as it stands in the code, use trees taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRef {
    /// Segments; the last is `*` for a glob.
    pub segments: Vec<String>,
    /// The name it has in the file.
    pub name: String,
    /// It stands in a `use`.
    pub import: bool,
    /// That `use` is public.
    pub public: bool,
    /// Inline modules around it, outermost first.
    pub inside: Vec<String>,
    pub line: usize,
}

/// A file of the repository.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path below the top, with `/`.
    pub path: String,
    /// As written.
    pub text: String,
    /// Without comments and the contents of strings; same lines.
    pub code: String,
    /// The same without what only tests have.
    pub shipped: String,
    /// Paths in [`Self::shipped`].
    pub paths: Vec<PathRef>,
    /// Modules that exist only in tests, declared here as files.
    pub test_modules: BTreeSet<String>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let code = strip(text);
        let (shipped, test_modules) = without_tests(&code);
        let paths = paths(&tokens(&shipped));
        Self { path: path.into(), text: text.into(), code, shipped, paths, test_modules }
    }

    /// The module path of a file below `src/`: `src/host/core.rs` is `host`, `core`.
    pub fn module(&self) -> Vec<String> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        let mut parts: Vec<String> = inner.split('/').map(String::from).collect();
        if parts.last().is_some_and(|last| last == "mod") {
            parts.pop();
        }
        parts
    }
}

/// Replaces comments and the contents of string and character literals by blanks, keeping every line break.
pub fn strip(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_or_comment(&chars, at);
        if end > at {
            out.push(if chars[at] == '/' { ' ' } else { '"' });
            out.extend(chars[at + 1..end].iter().filter(|c| **c == '\n'));
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// End of the comment or literal that begins at `at`, or `at` when none does.
fn literal_or_comment(chars: &[char], at: usize) -> usize {
    let get = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let word_before = at > 0 && is_word(get(at - 1));
    match get(at) {
        '/' if get(at + 1) == '/' => (at..chars.len()).find(|i| get(*i) == '\n').unwrap_or(chars.len()),
        '/' if get(at + 1) == '*' => block_comment(chars, at),
        '"' => quoted(chars, at + 1),
        '\'' if get(at + 1) == '\\' => (at + 3..chars.len()).find(|i| get(*i) == '\'').map_or(chars.len(), |i| i + 1),
        '\'' if get(at + 2) == '\'' => at + 3,
        'r' | 'b' | 'c' if !word_before => {
            let mut i = at;
            while matches!(get(i), 'r' | 'b' | 'c') && i < at + 2 {
                i += 1;
            }
            let raw = chars[at..i].contains(&'r');
            let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
            match (raw, hashes, get(i + hashes)) {
                (true, _, '"') => raw_end(chars, i + hashes + 1, hashes),
                (false, 0, '"') => quoted(chars, i + 1),
                _ => at,
            }
        }
        _ => at,
    }
}

fn quoted(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

fn raw_end(chars: &[char], from: usize, hashes: usize) -> usize {
    (from..chars.len())
        .find(|i| chars[*i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').take(hashes).count() == hashes)
        .map_or(chars.len(), |i| i + 1 + hashes)
}

fn block_comment(chars: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Blanks every item under `#[cfg(test)]`, and names the file modules among them.
fn without_tests(code: &str) -> (String, BTreeSet<String>) {
    let mut chars: Vec<char> = code.chars().collect();
    let mark: Vec<char> = "#[cfg(test)]".chars().collect();
    let mut files = BTreeSet::new();
    let mut at = 0;
    while at + mark.len() <= chars.len() {
        if chars[at..at + mark.len()] != mark[..] {
            at += 1;
            continue;
        }
        let end = item_end(&chars, at + mark.len());
        let item: String = chars[at + mark.len()..end].iter().collect();
        let words = tokens(&item);
        if let Some(place) = words.iter().position(|t| t.text == "mod")
            && words.last().is_some_and(|t| t.text == ";")
            && let Some(name) = words.get(place + 1)
        {
            files.insert(name.text.clone());
        }
        for c in &mut chars[at..end] {
            if *c != '\n' {
                *c = ' ';
            }
        }
        at = end;
    }
    (chars.into_iter().collect(), files)
}

/// End of the item that begins at `at`: its `;`, or its closing brace.
fn item_end(chars: &[char], at: usize) -> usize {
    let (mut braces, mut others) = (0_i32, 0_i32);
    for (i, c) in chars.iter().enumerate().skip(at) {
        match c {
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces == 0 && others == 0 {
                    // A `use a::{b};` goes on to its semicolon.
                    let rest = chars[i + 1..].iter().position(|c| !c.is_whitespace()).map_or(i, |n| i + 1 + n);
                    return if chars.get(rest) == Some(&';') { rest + 1 } else { i + 1 };
                }
            }
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            ';' if braces == 0 && others == 0 => return i + 1,
            _ => {}
        }
    }
    chars.len()
}

/// Takes code apart into words, `::` and single characters.
pub fn tokens(code: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = code.chars().peekable();
    let mut line = 1;
    while let Some(c) = chars.next() {
        let mut text = String::from(c);
        if c == '\n' {
            line += 1;
        }
        if c.is_whitespace() {
            continue;
        }
        if is_word(c) {
            while let Some(next) = chars.next_if(|c| is_word(*c)) {
                text.push(next);
            }
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            text.push(':');
        }
        out.push(Token { text, line });
    }
    out
}

/// Every path in the code.
pub fn paths(tokens: &[Token]) -> Vec<PathRef> {
    let mut out = Vec::new();
    let mut modules: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    while at < tokens.len() {
        let inside: Vec<String> = modules.iter().map(|(name, _)| name.clone()).collect();
        match text(at) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if modules.last().is_some_and(|(_, d)| *d == depth) {
                    modules.pop();
                }
            }
            "mod" if text(at + 2) == "{" => {
                modules.push((text(at + 1).into(), depth));
                at += 1;
            }
            "mod" => at += 1,
            "use" if text(at + 1) != "<" => {
                let public = at > 0 && matches!(text(at - 1), "pub" | ")");
                let from = out.len();
                at = use_tree(tokens, at + 1, &[], &mut out);
                for path in &mut out[from..] {
                    (path.public, path.inside) = (public, inside.clone());
                }
                continue;
            }
            word if word.chars().next().is_some_and(is_word) && (at == 0 || text(at - 1) != "::") => {
                let line = tokens[at].line;
                let mut segments = vec![word.to_owned()];
                while text(at + 1) == "::" && text(at + 2).chars().next().is_some_and(is_word) {
                    segments.push(text(at + 2).into());
                    at += 2;
                }
                if text(at + 1) == "::" && text(at + 2) == "{" {
                    segments.push("{".into());
                }
                if segments.len() > 1 {
                    let name = segments.last().cloned().unwrap_or_default();
                    out.push(PathRef { segments, name, import: false, public: false, inside, line });
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// Takes the use tree that begins at `at` apart; gives the place after it.
fn use_tree(tokens: &[Token], mut at: usize, prefix: &[String], out: &mut Vec<PathRef>) -> usize {
    let mut segments = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|t| t.text != "}") {
                    at = use_tree(tokens, at, &segments, out);
                    if tokens.get(at).is_some_and(|t| t.text == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            "as" => {
                let name = tokens.get(at + 1).map_or_else(String::new, |t| t.text.clone());
                out.push(import(segments, name, token.line));
                return at + 2;
            }
            word => {
                segments.push(word.to_owned());
                at += 1;
            }
        }
    }
    if segments.len() > 1 && segments.last().is_some_and(|s| s == "self") {
        segments.pop();
    }
    let name = segments.last().cloned().unwrap_or_default();
    let line = tokens.get(at.saturating_sub(1)).map_or(0, |t| t.line);
    out.push(import(segments, name, line));
    at
}

fn import(segments: Vec<String>, name: String, line: usize) -> PathRef {
    PathRef { segments, name, import: true, public: false, inside: Vec::new(), line }
}

#[test]
fn comments_and_literals_are_blanked_and_lines_stay() {
    let text = "a /* x /* y */\n z */ b // c\n\"d\\\"\ne\" r#\"f\"g\"# 'h' '\\'' 'i: &'j str br\"k\" r#type";
    let code = strip(text);
    assert_eq!(code.matches('\n').count(), text.matches('\n').count());
    let words: Vec<String> = tokens(&code).into_iter().map(|t| t.text).collect();
    assert_eq!(words, ["a", "b", "\"", "\"", "\"", "\"", "'", "i", ":", "&", "'", "j", "str", "\"", "r", "#", "type"]);
}

#[test]
fn test_items_are_left_out_and_their_files_known() {
    let source = Source::new(
        "src/a/mod.rs",
        "use x::y;\n#[cfg(test)]\nmod far;\n#[cfg(test)]\nuse p::{q, r};\n#[cfg(test)]\nmod tests {\n fn f() { g::h(); }\n}\nfn k() { l::m(); }",
    );
    let found: Vec<String> = source.paths.iter().map(|p| p.segments.join("::")).collect();
    assert_eq!(found, ["x::y", "l::m"]);
    assert_eq!(source.test_modules.into_iter().collect::<Vec<_>>(), ["far"]);
}

#[test]
fn use_trees_are_taken_apart() {
    let list = |text: &str| -> Vec<String> {
        paths(&tokens(text)).into_iter().map(|p| format!("{}={}", p.segments.join("::"), p.name)).collect()
    };
    assert_eq!(
        list("pub use a::{b::{self, c as d}, e::*}; fn f(x: Vec<g::H>) -> impl I + use<'a> { crate::j::k(l) }"),
        ["a::b=b", "a::b::c=d", "a::e::*=*", "g::H=H", "crate::j::k=k"]
    );
    let nested = paths(&tokens("mod m { use super::x; } use super::y;"));
    assert_eq!((nested[0].inside.len(), nested[1].inside.len()), (1, 0));
}
