//! From a mistake's place in the text to the line, key and value that a person sees.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Error, Place};

/// Longest piece of a wrong value that a message repeats, in characters.
const VALUE_CHARS: usize = 60;

/// Reads `text` as `T`; a mistake names file, line, key and value.
///
/// # Errors
/// [`Error::Syntax`], [`Error::UnknownKey`] or [`Error::BadValue`].
pub fn read<T: serde::de::DeserializeOwned>(file: &Path, text: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| explain(file, text, &error))
}

fn explain(file: &Path, text: &str, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    let line = text.get(..span.start).unwrap_or_default().matches('\n').count() + 1;
    let place = Place { file: file.into(), line };
    let message = error.message().to_owned();
    let Ok(document) = DeTable::parse(text) else {
        return Error::Syntax { place, message };
    };
    let mut key = Vec::new();
    let value = find(document.get_ref(), &span, &mut key);
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut words = rest.split('`').skip(1).step_by(2);
        let unknown = words.next().unwrap_or_default();
        let known: Vec<&str> = words.collect();
        if key.last().is_none_or(|last| last != unknown) {
            key.push(unknown.to_owned());
        }
        let near = nearest(unknown, &known).map(String::from);
        return Error::UnknownKey { place, key: key.join("."), near, known: known.join(", ") };
    }
    match value {
        Some(range) => {
            let value = shorten(text.get(range).unwrap_or_default());
            Error::BadValue { place, key: key.join("."), value, message: message.replace('\n', " ") }
        }
        None => Error::Syntax { place, message },
    }
}

/// A mistake in the entry `path` of `text`: its line and value, or line 1 when it is not written there.
#[must_use]
pub fn at(file: &Path, text: &str, path: &[String], message: String) -> Error {
    let document = DeTable::parse(text).ok();
    let mut table = document.as_ref().map(Spanned::get_ref);
    let mut found = None;
    for name in path {
        let value = table.and_then(|table| table.get(name.as_str()));
        found = value.map(Spanned::span);
        table = match value.map(Spanned::get_ref) {
            Some(DeValue::Table(inner)) => Some(inner),
            _ => None,
        };
    }
    let start = found.as_ref().map_or(0, |range| range.start);
    let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
    let value = found.and_then(|range| text.get(range)).map(shorten).unwrap_or_default();
    Error::BadValue { place: Place { file: file.into(), line }, key: path.join("."), value, message }
}

fn shorten(value: &str) -> String {
    if value.chars().count() <= VALUE_CHARS {
        return value.to_owned();
    }
    value.chars().take(VALUE_CHARS).chain(['…']).collect()
}

/// Fills `key` with the path to the entry that `span` lies in; gives the range of its value.
fn find(table: &DeTable<'_>, span: &Range<usize>, key: &mut Vec<String>) -> Option<Range<usize>> {
    for (name, value) in table {
        let holds = |range: Range<usize>| range.start <= span.start && span.end <= range.end;
        let inner = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
        key.push(name.get_ref().to_string());
        if holds(name.span()) {
            return inner.is_none().then(|| value.span());
        }
        if let Some(inner) = inner {
            if let Some(found) = find(inner, span, key) {
                return Some(found);
            }
            if holds(value.span()) && !value.span().is_empty() {
                return None;
            }
        } else if holds(value.span()) {
            return Some(value.span());
        }
        key.pop();
    }
    None
}

/// The word of `known` that `word` was probably meant to be: at most a third of its letters differ.
#[must_use]
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    known.iter().map(|k| (distance(word, k), *k)).filter(|(d, _)| *d <= limit).min().map(|(_, k)| k)
}

/// Number of letters to insert, remove or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let best = (corner + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_one_of_few_differences() {
        assert_eq!(nearest("paralel", &["auto", "parallel", "states"]), Some("parallel"));
        assert_eq!(nearest("xyz", &["auto", "parallel"]), None);
        assert_eq!((distance("", "abc"), distance("abc", ""), distance("kitten", "sitting")), (3, 3, 3));
    }
}
