//! An internal error on purpose: tests look at what it leaves behind. In debug builds only.

/// Environment variable that says where: `screen` or `task`, when Ctrl-\ is typed.
const PANIC: &str = "RELIGHT_TEST_PANIC";
const CTRL_BACKSLASH: u8 = 0x1c;

/// These bytes were typed. Does nothing in release builds.
#[expect(clippy::panic, reason = "this is what it is for")]
pub fn typed(bytes: &[u8]) {
    if !cfg!(debug_assertions) || !bytes.contains(&CTRL_BACKSLASH) {
        return;
    }
    match std::env::var(PANIC).as_deref() {
        Ok("screen") => panic!("an error of the screen, on purpose"),
        Ok("task") => _ = tokio::spawn(async { panic!("an error of a task, on purpose") }),
        _ => {}
    }
}
