//! States that wait for a person: what is said, what is offered, and that it works once the fault is mended.

use std::fs;
use std::os::unix::fs::symlink;

use super::{after_prefix, answers, screen, shows};
use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::kill;
use crate::support::told::Told;
use crate::support::tui::Tui;

/// A session whose agent does this when it is resumed, as long as a file exists.
fn faulty(home: &Home, fault: &str) -> (Told, std::path::PathBuf) {
    let cause = home.path().join("cause");
    fs::write(&cause, "").unwrap();
    let switch = format!("resume:{fault}@{}", cause.display());
    (Told::with(home, "kiwi", &["--agent", "demo"], &["--misbehave", &switch]), cause)
}

#[test]
fn a_failed_resume_offers_retry_and_dismiss_and_a_retry_that_works() {
    let home = Home::new();
    let (told, cause) = faulty(&home, "login-expired");
    let mut tui = screen(&home, &told);
    kill::kill(&home.agent(&told.id));
    shows(&home, &mut tui, &["The agent's login has expired", "[r] Retry", "[i] Dismiss"]);
    assert!(!tui.text().contains("[n]"), "{}", tui.text());
    fs::remove_file(&cause).unwrap();
    after_prefix(&mut tui, "r");
    answers(&home, &mut tui);
    told.token_is_kept(&home);
}

#[test]
fn a_dismissal_hides_the_failure_in_every_screen_and_a_new_candidate_shows_again() {
    let home = Home::new();
    let (told, cause) = faulty(&home, "login-expired");
    let mut screens = [screen(&home, &told), screen(&home, &told)];
    let all = |screens: &mut [Tui], shown: bool| {
        for tui in screens {
            tui.until(&home, &format!("banner: {shown}"), |text| text.contains("[i] Dismiss") == shown);
        }
    };
    kill::kill(&home.agent(&told.id));
    all(&mut screens, true);
    after_prefix(&mut screens[0], "i");
    all(&mut screens, false);
    home.next_host();
    all(&mut screens, false);
    // Once it lived again, its next death is another candidate.
    fs::remove_file(&cause).unwrap();
    home.run(&["resume", &told.id]).ok();
    home.until_session(&told.id, "a live agent", |line| {
        line["pid"].is_number() && line["state"] == "WAITING_FOR_INPUT"
    });
    fs::write(&cause, "").unwrap();
    kill::kill(&home.agent(&told.id));
    all(&mut screens, true);
}

#[test]
fn an_agent_that_cannot_resume_offers_a_new_session_only() {
    let home = Home::new();
    home.write_config("[agents.mine]\nextends = \"demo\"\n[agents.mine.resume]\nargs = []\n");
    let told = Told::with(&home, "kiwi", &["--agent", "mine"], &[]);
    let mut tui = screen(&home, &told);
    kill::kill(&home.agent(&told.id));
    let banner = "This agent cannot resume previous sessions. Create a new session to continue messaging.";
    shows(&home, &mut tui, &[banner, "[n] Create new session"]);
    assert!(!tui.text().contains("[r]") && !tui.text().contains("[i]"), "{}", tui.text());
    after_prefix(&mut tui, "c");
    shows(&home, &mut tui, &["New session"]);
}

#[test]
fn a_crash_loop_stops_and_says_so() {
    let home = Home::new();
    let (told, cause) = faulty(&home, "die");
    let mut tui = screen(&home, &told);
    kill::kill(&home.agent(&told.id));
    shows(&home, &mut tui, &["It died again and again after being resumed", "[r] Retry", "[i] Dismiss"]);
    fs::remove_file(&cause).unwrap();
    after_prefix(&mut tui, "r");
    answers(&home, &mut tui);
}

#[test]
fn a_program_that_is_gone_is_named_and_works_once_it_is_back() {
    let home = Home::new();
    let program = home.path().join("my-agent");
    symlink(RELIGHT, &program).unwrap();
    home.write_config(&format!("[agents.mine]\nextends = \"demo\"\nprogram = \"{}\"\n", program.display()));
    let told = Told::with(&home, "kiwi", &["--agent", "mine"], &[]);
    let mut tui = screen(&home, &told);
    fs::remove_file(&program).unwrap();
    kill::kill(&home.agent(&told.id));
    shows(&home, &mut tui, &["my-agent", "[r] Retry", "[i] Dismiss"]);
    symlink(RELIGHT, &program).unwrap();
    after_prefix(&mut tui, "r");
    answers(&home, &mut tui);
    told.back_once(&home, 2);
}

#[test]
fn an_executor_that_failed_has_a_retry_of_its_own() {
    let home = Home::new();
    let (work, away) = (home.path().join("work"), home.path().join("away"));
    fs::create_dir(&work).unwrap();
    let told = Told::with(&home, "kiwi", &["--agent", "demo", "--cwd", work.to_str().unwrap()], &[]);
    let mut tui = screen(&home, &told);
    let (agentctl, agent) = (home.agentctl(&told.id), home.agent(&told.id));
    fs::rename(&work, &away).unwrap();
    kill::kill(&agentctl);
    kill::kill(&agent);
    shows(&home, &mut tui, &["is gone; bring it back", "[r] Start its executor again"]);
    assert_eq!(home.status(&told.id)["executor_status"], "error");
    fs::rename(&away, &work).unwrap();
    after_prefix(&mut tui, "r");
    home.until_alive(&told.id, 2);
    answers(&home, &mut tui);
    told.back_once(&home, 2);
}

#[test]
fn files_and_git_are_there_while_the_agent_is_not() {
    let home = Home::new();
    let (told, _cause) = faulty(&home, "login-expired");
    let mut tui = screen(&home, &told);
    kill::kill(&home.agent(&told.id));
    shows(&home, &mut tui, &["[r] Retry"]);
    fs::write(home.project().join("notes.txt"), "a note\n").unwrap();
    after_prefix(&mut tui, "f");
    shows(&home, &mut tui, &["notes.txt"]);
}
