//! Agent profiles: the built-in ones and the person's own, merged key by key.

use std::collections::BTreeMap;

use crate::domain::profile::Profile;

use super::error::Error;

macro_rules! builtin {
    ($($name:literal),+) => {
        &[$(($name, include_str!(concat!("../../assets/agents/", $name, ".toml")))),+]
    };
}

/// The built-in profiles, in the order in which a person is offered them.
const BUILTIN: &[(&str, &str)] = builtin!["claude", "codex", "opencode", "gemini", "vibe", "demo", "generic", "shell"];

/// Every profile by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles(BTreeMap<String, Profile>);

impl Profiles {
    /// The built-in profiles alone.
    #[must_use]
    pub fn builtin() -> Self {
        // The files are part of the program, and a test reads each.
        Self::with(toml::Table::new()).unwrap_or_else(|_| Self(BTreeMap::new()))
    }

    /// The built-in profiles with the tables of `[agents]` laid over them. A table of an unknown name begins from the
    /// profile that its `extends` names, or from nothing.
    ///
    /// # Errors
    /// [`Error::UnknownBase`] and [`Error::BadProfile`].
    pub fn with(own: toml::Table) -> Result<Self, Error> {
        let builtin = builtin_tables()?;
        let mut tables = builtin.clone();
        for (name, value) in own {
            let toml::Value::Table(mut table) = value else {
                return Err(Error::BadProfile { name, message: "a table is needed".into() });
            };
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
                let message = "a name is made of a-z, A-Z, 0-9, `-` and `_`".into();
                return Err(Error::BadProfile { name, message });
            }
            let mut base = match table.remove("extends").and_then(|v| v.as_str().map(String::from)) {
                Some(base) => builtin.get(&base).cloned().ok_or_else(|| {
                    let known = builtin.keys().cloned().collect::<Vec<_>>().join(", ");
                    Error::UnknownBase { name: name.clone(), base, known }
                })?,
                None => builtin.get(&name).cloned().unwrap_or_else(|| {
                    let label = toml::Value::String(name.clone());
                    toml::Table::from_iter([("agent".to_owned(), toml::Value::Boolean(true)), ("label".into(), label)])
                }),
            };
            lay_over(&mut base, table);
            tables.insert(name, base);
        }
        let read = |(name, table): (String, toml::Table)| profile(name, table).map(|p| (p.name.clone(), p));
        Ok(Self(tables.into_iter().map(read).collect::<Result<_, _>>()?))
    }

    /// The profile of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.0.get(name)
    }

    /// All profiles: the built-in ones first, in the order in which they are offered, then the person's by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        let builtin = BUILTIN.iter().filter_map(|(name, _)| self.0.get(*name));
        let own = self.0.values().filter(|p| BUILTIN.iter().all(|(name, _)| *name != p.name));
        builtin.chain(own)
    }
}

fn builtin_tables() -> Result<BTreeMap<String, toml::Table>, Error> {
    let read = |(name, text): &(&str, &str)| match text.parse() {
        Ok(table) => Ok(((*name).to_owned(), table)),
        Err(error) => Err(Error::BadProfile { name: (*name).into(), message: format!("{error}") }),
    };
    BUILTIN.iter().map(read).collect()
}

fn profile(name: String, table: toml::Table) -> Result<Profile, Error> {
    let bad = |message: String| Error::BadProfile { name: name.clone(), message };
    let mut profile: Profile = table.try_into().map_err(|error: toml::de::Error| bad(error.message().into()))?;
    if profile.program.is_empty() {
        return Err(bad("`program` is needed: the program to start, looked up on PATH".into()));
    }
    profile.name = name;
    Ok(profile)
}

/// Lays `over` on `base`: tables key by key, everything else as a whole.
fn lay_over(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => lay_over(inner, value),
            (_, value) => _ = base.insert(key, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Result<Profiles, String> {
        Profiles::with(text.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_builtin_profile_is_whole() {
        let profiles = with("").unwrap();
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/agents")).unwrap();
        assert_eq!(files.count(), BUILTIN.len(), "every file is built in");
        assert_eq!(profiles.iter().count(), BUILTIN.len());
        for profile in profiles.iter() {
            assert!(!profile.label.is_empty(), "{}", profile.name);
        }
    }

    #[test]
    fn a_table_changes_a_builtin_profile_key_by_key() {
        let profiles = with("[demo.launch]\nargs = [\"demo-agent\", \"--slow\"]").unwrap();
        let demo = profiles.get("demo").unwrap();
        assert_eq!(demo.launch.args, ["demo-agent", "--slow"]);
        assert_eq!((demo.program.as_str(), demo.can_resume()), ("{relight}", true));
    }

    #[test]
    fn a_profile_begins_from_another_or_from_nothing() {
        let profiles = with("[mine]\nextends = \"demo\"\nlabel = \"Mine\"\n[other]\nprogram = \"other\"").unwrap();
        let mine = profiles.get("mine").unwrap();
        assert_eq!((mine.name.as_str(), mine.label.as_str(), mine.can_resume()), ("mine", "Mine", true));
        let other = profiles.get("other").unwrap();
        assert_eq!((other.label.as_str(), other.agent, other.can_resume()), ("other", true, false));
        assert_eq!(profiles.iter().last().unwrap().name, "other");
    }

    #[test]
    fn mistakes_say_what_is_needed() {
        assert!(with("[x]\nextends = \"nobody\"").unwrap_err().contains("known are: claude, codex"));
        assert!(with("[x]\nlabel = \"x\"").unwrap_err().contains("`program` is needed"));
        assert!(with("[\"a/b\"]\nprogram = \"x\"").unwrap_err().contains("made of"));
    }
}
