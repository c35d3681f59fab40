//! Whatever dies whenever: deaths at moments that nobody chose.

use std::time::{Duration, Instant};

use relight::domain::launch::ProcIdentity;

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::wait::wait_until;

use super::check::{Case, check_one, with};

/// Times that something dies.
const ROUNDS: u32 = 5;
/// Longest time between two deaths of one round: a resume takes about so long.
const APART_MS: u64 = 150;

/// Numbers without a pattern, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn storm(seed: u64) {
    let home = Home::new();
    // What is tested is not when it gives up.
    home.write_config("[resume]\nmax_attempts = 100\n");
    let case = Case::begin(&home, "petrel", &["--ignore-sighup"]);
    let mut numbers = Numbers(seed);
    for _ in 0..ROUNDS {
        for _ in 0..=numbers.below(4) {
            let part = ["demo-agent", "agentctl serve", "host run"][numbers.below(3) as usize];
            let victims: Vec<ProcIdentity> = with(&home, part);
            for process in &victims {
                kill::signal(process, Signal::KILL);
            }
            if home.host().is_none() && numbers.below(2) == 0 {
                // Starts one.
                home.run(&["ls"]);
            }
            let (now, pause) = (Instant::now(), Duration::from_millis(numbers.below(APART_MS)));
            wait_until("the next death", pause * 10 + Duration::from_secs(1), || now.elapsed() >= pause);
        }
        case.until_ready(&home, 0);
        // A turn that ends settles the agent: the next round begins without a pause.
        case.ask(&home);
    }
    check_one(&home, &case, 0);
}

#[test]
fn a_storm() {
    storm(1);
}

#[test]
fn another_storm() {
    storm(20);
}
