//! A disk that takes no more, under a real server: jobs are refused with a reason, nothing accepted is lost, reads go on,
//! and with room again so does everything else.

mod harness;

use std::process::Command;

use harness::{Process, Server};
use mainspring_wire::{Batch, NewJob, RawValue, problem};
use mainspring_worker::{Client, Error};
use uuid::Uuid;

/// What one file may hold, in blocks of 512 bytes: `ulimit -f` makes the write fail as a full disk does.
const FILE_BLOCKS_MAX: u32 = 16_384;

#[tokio::test]
async fn nothing_accepted_is_lost_when_the_disk_is_full_and_reads_go_on() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut limited, url) = start_limited(dir.path());
    let client = Client::new(&url).expect("an address");
    let mut accepted: Vec<Uuid> = Vec::new();
    let refused = loop {
        match client.submit_batch(&Batch { jobs: big_jobs() }).await {
            Ok(answer) => accepted.extend(answer.results.iter().filter_map(|item| item.job_id)),
            Err(error) => break error,
        }
        assert!(accepted.len() < 100_000, "the file never grew too large");
    };
    let Error::Busy { problem: said, .. } = &refused else { panic!("not a refusal to come back from: {refused}") };
    assert_eq!(said.kind, problem::STORE_FULL, "{refused}");
    assert!(said.detail.contains("free some space"), "{refused}");

    client.submit_batch(&Batch { jobs: big_jobs() }).await.expect_err("still full, and still answering");

    let last = *accepted.last().expect("some were accepted first");
    assert_eq!(client.job(last).await.expect("reads go on").job_id, last);
    limited.kill();

    let server = Server::start(dir.path());
    let client = Client::new(&server.url).expect("an address");
    for id in &accepted {
        client.job(*id).await.unwrap_or_else(|error| panic!("job {id} was accepted and is gone: {error}"));
    }
    let pending = client.queue("default").await.expect("the queue").pending;
    assert_eq!(pending, accepted.len() as u64, "what was refused left nothing behind");
    client.submit(&NewJob::new("small")).await.expect("there is room again");
}

fn big_jobs() -> Vec<NewJob> {
    let data = RawValue::from_string(format!("\"{}\"", "x".repeat(2000))).expect("JSON");
    vec![NewJob { data: Some(data), ..NewJob::new("big") }; 100]
}

/// A server whose files cannot grow past the bound. The signal that would kill it for trying is ignored, as on a full disk
/// there is none.
fn start_limited(dir: &std::path::Path) -> (Process, String) {
    let script = format!("trap '' XFSZ; ulimit -f {FILE_BLOCKS_MAX}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_mainspring"), "serve", "--listen", "127.0.0.1:0"]);
    let mut process = Process::start(command.arg("--data-dir").arg(dir));
    let url = process.wait_for_line(|line| Some(line.trim().strip_prefix("address")?.trim().to_owned()));
    (process, url)
}
