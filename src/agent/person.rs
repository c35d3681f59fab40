//! The person's own arguments, kept over a resume without what would be said twice.

use crate::domain::profile::Profile;

/// An option that carries a conversation id: its name, e.g. `--resume`.
fn id_options(profile: &Profile) -> Vec<&str> {
    [&profile.launch.token, &profile.resume.args]
        .into_iter()
        .filter(|group| group.iter().any(|arg| arg.contains("{token}")))
        .filter_map(|group| group.first())
        .map(|first| first.split(['=', '{']).next().unwrap_or_default())
        .filter(|name| name.starts_with('-'))
        .collect()
}

/// The conversation id that the person named among their own arguments, if any.
pub fn own_token(profile: &Profile, args: &[String]) -> Option<String> {
    let options = id_options(profile);
    let mut args = options_of(args);
    while let Some(arg) = args.next() {
        for option in &options {
            if arg == option {
                return args.next().filter(|v| !v.starts_with('-')).cloned();
            }
            if let Some(value) = arg.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
                return Some(value.to_owned());
            }
        }
    }
    None
}

/// Whether the person's own arguments choose the conversation: none is assigned then.
pub fn chooses(profile: &Profile, args: &[String]) -> bool {
    own_token(profile, args).is_some() || options_of(args).any(|arg| profile.resume.drops.contains(arg))
}

/// What stands before a bare `--`.
fn options_of(args: &[String]) -> impl Iterator<Item = &String> {
    args.iter().take_while(|arg| *arg != "--")
}

/// The person's arguments for a resume or a fresh start: flags stay, so that model and permission mode survive;
/// prompts and the conversation id of the first start go.
pub fn kept(profile: &Profile, args: &[String]) -> Vec<String> {
    let ids = id_options(profile);
    let mut out = Vec::with_capacity(args.len());
    // A bare word here is a prompt: nothing before it can take it as a value.
    let mut bare = !profile.launch.switches.is_empty();
    let mut args = options_of(args).peekable();
    while let Some(arg) = args.next() {
        if profile.resume.drops.contains(arg) {
            continue;
        }
        if ids.contains(&arg.as_str()) {
            args.next_if(|value| !value.starts_with('-'));
            continue;
        }
        if ids.iter().any(|id| arg.strip_prefix(id).is_some_and(|rest| rest.starts_with('='))) {
            continue;
        }
        if arg.starts_with('-') {
            bare = profile.launch.switches.contains(arg) || (arg.starts_with("--") && arg.contains('='));
        } else if bare {
            continue;
        }
        out.push(arg.clone());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_stay_and_prompts_and_ids_go() {
        let mut profile = Profile::default();
        profile.launch.token = words("--session-id {token}");
        profile.launch.switches = words("--yes --verbose");
        profile.resume.args = words("--resume {token}");
        profile.resume.drops = words("--continue");
        let check = |args: &str, want: &str| assert_eq!(kept(&profile, &words(args)), words(want), "{args}");
        check("--model opus --yes", "--model opus --yes");
        check("hello --model opus", "--model opus");
        check("--model opus --yes hello", "--model opus --yes");
        check("--unknown value", "--unknown value");
        check("--session-id X --resume=Y --a", "--a");
        check("--resume --a", "--a");
        check("--continue --a", "--a");
        assert!(chooses(&profile, &words("--continue")));
        assert!(!chooses(&profile, &words("--a -- --continue")));
        check("--model=opus fix -- it now", "--model=opus");
        assert_eq!(own_token(&profile, &words("--a --session-id X")).as_deref(), Some("X"));
        assert_eq!(own_token(&profile, &words("--resume=Y")).as_deref(), Some("Y"));
        assert_eq!(own_token(&profile, &words("-- --resume=Y")), None);
    }

    #[test]
    fn without_known_switches_every_word_stays() {
        let profile = Profile::default();
        assert_eq!(kept(&profile, &words("a --b c")), words("a --b c"));
    }
}
