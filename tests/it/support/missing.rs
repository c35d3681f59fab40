//! Parts that a test needs and this machine may lack.

/// Says what is missing, and fails if `RELIGHT_REQUIRE` names the part.
#[track_caller]
pub fn missing(part: &str, what: &str) {
    let required = std::env::var("RELIGHT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|one| one == part), "required, but missing: {what}");
    eprintln!("skipped: {what}");
}
