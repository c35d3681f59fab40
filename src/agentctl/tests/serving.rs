//! The interface over a real socket.

use std::sync::Arc;

use tokio::time::timeout;

use super::bed::{Bed, LONG, id, request};
use crate::agentctl::routes;
use crate::agentctl::shared::Shared;
use crate::domain::journal::Body;
use crate::domain::launch::{Exit, Size};
use crate::domain::words::ErrorCode;
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::link::endpoint::Endpoint;
use crate::link::listen::UnixListener;
use crate::wire::agentctl::Feed;

pub struct Served {
    pub client: AgentctlClient,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn serve(bed: &Bed, shared: &Arc<Shared>) -> Served {
    let listener = UnixListener::bind(&bed.dir().socket()).unwrap();
    let router = routes::router(Arc::clone(shared));
    let task = tokio::spawn(link::server::serve(listener, router, std::future::pending()));
    Served { client: AgentctlClient::new(Endpoint::Unix(bed.dir().socket()), None), task }
}

#[tokio::test]
async fn a_feed_gives_everything_once_and_in_order_while_it_happens() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    for n in 0..300 {
        shared.ledger.record(Body::Cancelled { terminal: id(&format!("c{n}")) }).unwrap();
    }
    let mut feed = served.client.feed(5).await.unwrap();
    let writer = Arc::clone(&shared);
    let writing = tokio::spawn(async move {
        for n in 0..100 {
            writer.ledger.note(Body::ExitSettled { terminal: id(&format!("s{n}")) });
            tokio::task::yield_now().await;
        }
    });
    let (mut next, mut caught_up) = (6, false);
    while next <= 401 {
        match timeout(LONG, feed.next()).await.expect("a record").unwrap() {
            Feed::Record(record) => {
                assert_eq!(record.seq, next);
                next += 1;
            }
            Feed::CaughtUp { seq } => {
                assert!(seq >= 301 && next > seq, "{seq} at {next}");
                caught_up = true;
            }
            Feed::Activity(_) => {}
        }
    }
    assert!(caught_up);
    writing.await.unwrap();
    let half = served.client.journal(301).await.unwrap();
    assert_eq!((half.len(), half[0].seq), (100, 302));
}

#[tokio::test]
async fn the_interface_answers_and_refuses_with_words() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let client = &served.client;
    client.launch(&request("t1", 1, "exec sleep 1000")).await.unwrap();
    let health = client.health().await.unwrap();
    assert_eq!((health.session_id.as_str(), health.incarnation, health.terminals.len()), ("s1", 1, 1));
    assert_eq!(health.journal_seq, shared.ledger.seq());
    client.resize(&id("t1"), Size { cols: 100, rows: 30 }).await.unwrap();
    let mut seen = shared.terminal(&id("t1")).unwrap().seen.clone();
    timeout(LONG, seen.wait_for(|seen| seen.size.cols == 100)).await.expect("the new size").unwrap();
    let remote = |error: link::Error| match error {
        link::Error::Remote(error) => error.code,
        other => panic!("{other}"),
    };
    assert_eq!(remote(client.capture(&id("t9"), 0, false).await.unwrap_err()), ErrorCode::TerminalNotFound);
    assert_eq!(remote(client.close(&id("t9")).await.unwrap_err()), ErrorCode::TerminalNotFound);
    assert!(client.stream(&id("t9")).await.is_err());
    client.workspace("/workspace/tree?path=").await.unwrap();
    assert_eq!(client.close(&id("t1")).await.unwrap().exit, Some(Exit::Signal(15)));
    assert_eq!(client.terminals().await.unwrap().len(), 0);
    client.hooks().await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(remote(client.launch(&request("t2", 2, "true")).await.unwrap_err()), ErrorCode::ShuttingDown);
}
