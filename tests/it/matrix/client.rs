//! The client dies. Nothing else does.

use crate::support::Home;
use crate::support::kill;
use crate::support::tui::Tui;

use super::check::{Case, check_one};

/// The program has got a whole paste or nothing: half of one is not in its prompt.
#[test]
fn a_client_in_mid_paste() {
    let home = Home::new();
    let case = Case::begin(&home, "dove", &[]);
    let agent = home.agent(&case.id);
    let mut tui = Tui::attach(&home, &case.id);
    tui.until_text(&home, "I will remember dove.");
    // It takes keys: what is typed before the paste arrives.
    tui.keys(b"kept");
    home.until_screen(&case.id, "kept");
    tui.keys(b"\x1b[200~half of a paste, ");
    tui.keys(&b"and more of it, ".repeat(1_000));
    kill::kill(tui.process());
    home.run(&["send", &case.id, " and sent"]).ok();
    home.until_screen(&case.id, "You said: kept and sent.");
    assert!(!home.screen(&case.id).contains("half of a paste"), "{}", home.screen(&case.id));
    check_one(&home, &case, 1);
    assert_eq!(home.agent(&case.id), agent);
}

/// The agent dies while a client pastes: its successor gets nothing of the half that is here.
#[test]
fn an_agent_while_a_client_is_in_mid_paste() {
    let home = Home::new();
    let case = Case::begin(&home, "lark", &[]);
    let mut tui = Tui::attach(&home, &case.id);
    tui.until_text(&home, "I will remember lark.");
    tui.keys(b"\x1b[200~half of a paste, ");
    kill::kill(&home.agent(&case.id));
    case.until_ready(&home, 2);
    tui.keys(b"and its rest\x1b[201~");
    // What is typed afterwards has arrived: so has the rest of the paste, if it ever does.
    tui.keys(b" after it");
    home.until_screen(&case.id, "after it");
    assert!(!home.screen(&case.id).contains("its rest"), "half a paste:\n{}", home.screen(&case.id));
    tui.keys(b"\r");
    home.until_screen(&case.id, "You said: after it.");
    check_one(&home, &case, 2);
}
