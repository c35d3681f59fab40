//! Places in a profile's texts: `{token}`, `{prompt}`, `{relight}`, `{hook}`, `{hook_json}`, `{home}`, `{pid}`, `{root}`.

/// Values of the places. A place that is not listed stays as it is written (JSON has braces too).
#[derive(Debug, Clone, Default)]
pub struct Places<'a> {
    values: Vec<(&'static str, Option<&'a str>)>,
}

impl<'a> Places<'a> {
    /// Adds a place with or without a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Option<&'a str>) -> Self {
        self.values.push((name, value));
        self
    }

    /// `text` with every place replaced; `None` when it names a place without a value. A value is never looked into
    /// for further places.
    pub fn fill(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            out.push_str(before);
            let known = self
                .values
                .iter()
                .find(|(name, _)| from.get(1..).and_then(|t| t.strip_prefix(name)).is_some_and(|t| t.starts_with('}')));
            if let Some((name, value)) = known {
                out.push_str((*value)?);
                rest = from.get(name.len() + 2..).unwrap_or_default();
            } else {
                out.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
        out.push_str(rest);
        Some(out)
    }

    /// A group of arguments that belong together: all of it, or nothing when one of its places has no value.
    pub fn group(&self, group: &[String]) -> Vec<String> {
        group.iter().map(|arg| self.fill(arg)).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Arguments that stand for themselves: those whose places have values.
    pub fn each(&self, args: &[String]) -> Vec<String> {
        args.iter().filter_map(|arg| self.fill(arg)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_braces_stay() {
        let places = Places::default().with("token", Some("{prompt}")).with("prompt", None).with("hook", Some("h"));
        let check = |text: &str, want: Option<&str>| assert_eq!(places.fill(text).as_deref(), want, "{text}");
        check("plain", Some("plain"));
        check("id={token}", Some("id={prompt}"));
        check("{prompt}", None);
        check("{\"a\":{hook}}", Some("{\"a\":h}"));
        check("{{token}}", Some("{{prompt}}"));
        check("{tokens}{", Some("{tokens}{"));
        check("{", Some("{"));
        check("ä{hook}ö", Some("ähö"));
    }

    #[test]
    fn a_group_without_a_value_is_dropped_whole() {
        let places = Places::default().with("token", None);
        let args = ["--id".to_owned(), "{token}".to_owned()];
        assert!(places.group(&args).is_empty());
        assert_eq!(places.each(&args), ["--id"]);
    }
}
