//! Last words of an agent that say that no retry will help.

use crate::domain::profile::Profile;
use crate::domain::words::ErrorCode;

/// How many of the last non-empty lines are looked at. Enough for an error with a hint below it; few, since older lines
/// are the agent's answers, which may quote such an error.
const LAST_LINES: usize = 8;

/// What the last lines say, oldest first; `None` when they say nothing known. Case does not matter. Only meaningful
/// after an exit that was not clean.
#[must_use]
pub fn classify(profile: &Profile, last_lines: &[String]) -> Option<ErrorCode> {
    let lines: Vec<String> = last_lines
        .iter()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(LAST_LINES)
        .map(|line| line.to_lowercase())
        .collect();
    let said = |patterns: &[String]| {
        patterns.iter().filter(|p| !p.is_empty()).any(|p| {
            let p = p.to_lowercase();
            lines.iter().any(|line| line.contains(&p))
        })
    };
    if said(&profile.failures.unknown_conversation) {
        return Some(ErrorCode::UnknownConversation);
    }
    said(&profile.failures.login_expired).then_some(ErrorCode::LoginExpired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_count() {
        let mut profile = Profile::default();
        profile.failures.login_expired = vec!["login expired".into()];
        profile.failures.unknown_conversation = vec!["No conversation found".into(), String::new()];
        let check = |lines: &[&str], want| {
            let lines: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
            assert_eq!(classify(&profile, &lines), want, "{lines:?}");
        };
        check(&["API Error: 401 Login expired"], Some(ErrorCode::LoginExpired));
        check(&["no conversation found with session ID: x", "", "  "], Some(ErrorCode::UnknownConversation));
        check(&["login expired", "1", "2", "3", "4", "5", "6", "7", "8"], None);
        check(&["all is well"], None);
        check(&[], None);
    }
}
