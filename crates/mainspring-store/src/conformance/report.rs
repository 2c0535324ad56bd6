//! What a store promises to attempts that speak of themselves.

use mainspring_core::job::Progress;
use mainspring_core::store::*;

use super::stage::*;

pub async fn a_start_is_told_once(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    for ms in [5, 9] {
        let hold = stage.report(at(ms), lease, ReportKind::Started).await;
        assert_eq!(hold, Hold::Held { cancel_asked: false });
    }
    let stage = stage.reopen().await;
    assert_eq!(stage.view(id(1)).await.standing.lease.expect("it runs").started_at, Some(at(5)));
    stage.end(at(20), lease, succeed()).await;
    assert_eq!(stage.executions(id(1)).await[0].started_at, at(5));
}

pub async fn a_checkpoint_reaches_the_next_attempt(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.report(at(1), lease, checkpoint(Some("[1]"), None)).await;
    stage.report(at(2), lease, checkpoint(Some("[1,2]"), None)).await;
    stage.end(at(3), lease, retry(at(3))).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.claim_one(at(4), 1).await.checkpoint, Some(json("[1,2]")));
}

pub async fn what_is_not_said_is_kept(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.report(at(1), lease, checkpoint(Some("1"), Some(10.0))).await;
    stage.report(at(2), lease, checkpoint(None, Some(20.0))).await;
    stage.report(at(3), lease, checkpoint(Some("3"), None)).await;
    stage.report(at(4), lease, checkpoint(None, None)).await;
    let stage = stage.reopen().await;
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.checkpoint, standing.progress), (Some(json("3")), Some(progress(20.0))));
}

pub async fn progress_ends_with_its_attempt(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    stage.report(at(1), lease, checkpoint(Some("1"), Some(10.0))).await;
    stage.end(at(2), lease, retry(at(2))).await;
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.checkpoint, standing.progress), (Some(json("1")), None));
    stage.claim_one(at(3), 1).await;
    assert_eq!(stage.view(id(1)).await.standing.progress, None);
}

pub async fn no_two_holders_a_late_worker_cannot_speak_for_its_successor(stage: Stage) {
    let late = stage.running(job(1)).await.lease_id();
    stage.end(at(1), late, retry(at(1))).await;
    assert_eq!(stage.report(at(2), late, ReportKind::Started).await, Hold::Stale, "nobody holds it");
    stage.claim_one(at(3), 1).await;
    assert_eq!(stage.report(at(4), late, checkpoint(Some("9"), Some(99.0))).await, Hold::Stale);
    assert_eq!(stage.report(at(4), late, ReportKind::Started).await, Hold::Stale);
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.checkpoint, standing.progress), (None, None));
    assert_eq!(standing.lease.expect("it runs").started_at, None);
}

pub async fn a_report_is_told_of_a_cancel(stage: Stage) {
    let lease = stage.running(job(1)).await.lease_id();
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Asked);
    assert_eq!(stage.report(at(2), lease, ReportKind::Started).await, Hold::Held { cancel_asked: true });
}

fn checkpoint(data: Option<&str>, percent: Option<f32>) -> ReportKind {
    ReportKind::Checkpoint { data: data.map(json), progress: percent.map(progress) }
}

fn progress(percent: f32) -> Progress {
    Progress { percent: Some(percent), note: Some(format!("{percent} of 100")) }
}
