//! What the letters of git say of a change, and a day of its calendar, in words.

/// What is to become of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Both sides of a merge changed it.
    Conflict,
    /// All of it goes into the next commit.
    Staged,
    /// Some of it does.
    Partly,
    /// None of it does.
    Unstaged,
    /// git does not know the file.
    Untracked,
}

impl Group {
    /// The group of a change, by its two letters.
    #[must_use]
    pub fn of(code: &str) -> Self {
        let mut letters = code.chars();
        match (letters.next().unwrap_or(' '), letters.next().unwrap_or(' ')) {
            ('?' | '!', _) => Self::Untracked,
            ('U', _) | (_, 'U') | ('A', 'A') | ('D', 'D') => Self::Conflict,
            (' ', _) => Self::Unstaged,
            (_, ' ') => Self::Staged,
            _ => Self::Partly,
        }
    }

    /// In words.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Conflict => "In conflict",
            Self::Staged => "Staged for the next commit",
            Self::Partly => "Staged in part",
            Self::Unstaged => "Not staged",
            Self::Untracked => "Not known to git",
        }
    }
}

/// What the two letters of a change mean.
#[must_use]
pub fn words(code: &str) -> String {
    let word = |letter| match letter {
        'M' => "modified",
        'A' => "added",
        'D' => "deleted",
        'R' => "renamed",
        'C' => "copied",
        'T' => "other type",
        '?' => "new",
        '!' => "ignored",
        _ => "changed",
    };
    match code {
        "UU" => "both modified".into(),
        "AA" => "both added".into(),
        "DD" => "both deleted".into(),
        "AU" => "added by us".into(),
        "UA" => "added by them".into(),
        "DU" => "deleted by us".into(),
        "UD" => "deleted by them".into(),
        _ => {
            let mut letters = code.chars().filter(|c| *c != ' ');
            let first = letters.next().unwrap_or(' ');
            match letters.next().filter(|second| *second != first) {
                Some(second) => format!("{}, {}", word(first), word(second)),
                None => word(first).into(),
            }
        }
    }
}

/// A day in UTC, from seconds since 1970, as `2024-02-29`.
#[must_use]
pub fn day(at: i64) -> String {
    // Days are counted in eras of 400 years that begin on the 1st of March.
    let days = at.div_euclid(86_400) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{of_month:02}", year + era * 400 + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_put_in_words() {
        let check = |code: &str, group, want: &str| assert_eq!((Group::of(code), words(code)), (group, want.into()));
        check("M ", Group::Staged, "modified");
        check(" D", Group::Unstaged, "deleted");
        check("MM", Group::Partly, "modified");
        check("AM", Group::Partly, "added, modified");
        check("R ", Group::Staged, "renamed");
        check("??", Group::Untracked, "new");
        check("UU", Group::Conflict, "both modified");
        check("DU", Group::Conflict, "deleted by us");
        check("", Group::Unstaged, "changed");
    }

    #[test]
    fn days_are_counted() {
        let check = |at, want: &str| assert_eq!(day(at), want);
        check(0, "1970-01-01");
        check(-1, "1969-12-31");
        check(951_782_400, "2000-02-29");
        check(951_868_800, "2000-03-01");
        check(1_709_251_199, "2024-02-29");
        check(4_107_542_400, "2100-03-01");
    }
}
