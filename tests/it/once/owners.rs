//! One host per instance, one agentctl per session: a lock decides.

use relight::proc::identity;

use crate::support::Home;
use crate::support::kill;
use crate::support::told::Told;

#[test]
fn of_hosts_started_in_the_same_instant_one_wins() {
    let home = Home::new();
    let mut hosts: Vec<_> = (0..4).map(|_| home.start(&["host", "run"])).collect();
    let mut ended = Vec::new();
    home.until("three of four hosts to give way", || {
        hosts.retain_mut(|host| match host.try_wait().unwrap() {
            Some(status) => {
                ended.push(status);
                false
            }
            None => true,
        });
        hosts.len() <= 1
    });
    assert_eq!(hosts.len(), 1, "{ended:?}");
    home.until("the host that is left to serve", || home.run(&["ls"]).code == Some(0));
    let holder = home.host().expect("a host");
    assert_eq!(holder.pid as u32, hosts[0].id());
    assert_eq!(home.living().iter().filter(|(_, line)| line.contains("host run")).count(), 1);

    // It is the one that sessions live with: another one changes nothing.
    let told = Told::new(&home, "kiwi");
    home.start(&["host", "run"]).wait().unwrap();
    assert_eq!(home.host(), Some(holder.clone()));
    assert!(identity::alive(&holder));
    told.back_once(&home, 1);
    home.end_everything();
    hosts.pop().unwrap().wait().unwrap();
}

#[test]
fn commands_in_the_same_instant_start_one_host() {
    let home = Home::new();
    let calls: Vec<_> = (0..6).map(|_| home.start(&["ls", "--json"])).collect();
    for call in calls {
        let output = call.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    home.until("one host", || home.living().iter().filter(|(_, line)| line.contains("host run")).count() == 1);
}

#[test]
fn of_agentctls_of_one_session_one_wins() {
    let home = Home::new();
    let told = Told::new(&home, "plum");
    let first = home.agentctl(&told.id);
    let (state, logs) = (home.path().join("state"), home.path().join("logs"));
    let (state, logs) = (state.to_str().unwrap(), logs.to_str().unwrap());
    let serve = ["agentctl", "serve", "--session", &told.id, "--state", state, "--logs", logs];
    let of_session = || {
        let all = home.living().into_iter();
        all.filter(|(_, line)| line.contains("agentctl serve") && line.contains(&told.id)).collect::<Vec<_>>()
    };
    // Beside one that serves: it gives way, and says to whom.
    let second = home.start(&serve).wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && words.contains(&first.pid.to_string()), "{words}");
    assert_eq!(home.agentctl(&told.id), first);
    told.back_once(&home, 1);

    // Several at once where none is: one takes over, and the host goes on with that one.
    let host = home.host().expect("a host");
    kill::signal(&host, kill::Signal::STOP);
    kill::kill(&first);
    let mut others: Vec<_> = (0..4).map(|_| home.start(&serve)).collect();
    home.until("three of four agentctls to give way", || {
        others.retain_mut(|other| other.try_wait().unwrap().is_none());
        others.len() <= 1
    });
    assert_eq!(others.len(), 1);
    kill::signal(&host, kill::Signal::CONT);
    told.back_once(&home, 2);
    assert_eq!(of_session().len(), 1, "{:?}", of_session());
    assert_eq!(home.agentctl(&told.id).pid as u32, others[0].id());
    home.end_everything();
    others.pop().unwrap().wait().unwrap();
}
