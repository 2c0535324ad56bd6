//! What a handler sees and what it leaves behind, without a server.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::error::BoxError;

#[tokio::test]
async fn a_handler_sees_its_job() {
    let trial = Trial::new(json!({ "to": "a@b" })).of_type("send").of_tenant("acme").attempt(2).last_error("busy");
    let report = trial
        .run(|ctx| async move {
            let data: Value = ctx.data()?;
            let last_error = ctx.last_error().map(|error| error.message.clone());
            Ok::<_, Failure>(json!([data["to"], ctx.kind(), ctx.tenant(), ctx.attempt(), last_error, ctx.data_text()]))
        })
        .await;
    assert_eq!(report.result::<Value>(), json!(["a@b", "send", "acme", 2, "busy", r#"{"to":"a@b"}"#]));
}

#[tokio::test]
async fn data_that_does_not_fit_is_a_failure_that_says_so() {
    let report = run(|ctx| async move { ctx.data::<u32>() }, "seven").await;
    let message = report.failure().to_string();
    assert!(message.starts_with("the data of the job is not a u32"), "{message}");
    assert_eq!(report.failure().error().kind.as_deref(), Some("InvalidData"));
}

#[tokio::test]
async fn checkpoints_and_progress_are_kept_in_order() {
    let report = run(
        |ctx| async move {
            assert_eq!(ctx.last_checkpoint::<u32>()?, None);
            ctx.checkpoint(&1).await?;
            ctx.progress(0.25, "a quarter").await?;
            ctx.checkpoint(&json!({ "row": 2 })).await?;
            ctx.progress(7.0, "").await?;
            ctx.progress(f32::NAN, "lost count").await?;
            Ok::<_, BoxError>(())
        },
        (),
    )
    .await;
    report.result::<()>();
    assert_eq!(report.checkpoints, [json!(1), json!({ "row": 2 })]);
    let said: Vec<_> = report.progress.iter().map(|said| (said.percent, said.note.as_deref())).collect();
    assert_eq!(said, [(Some(25.0), Some("a quarter")), (Some(100.0), None), (None, Some("lost count"))]);
}

#[tokio::test]
async fn a_handler_that_is_asked_to_stop_learns_why() {
    let handler = |ctx: Context| async move {
        ctx.stopped().await;
        assert!(ctx.is_stopped() && ctx.token().is_cancelled());
        match ctx.stop_reason() {
            Some(StopReason::Cancelled) => Outcome::fail("cancelled"),
            _ => Outcome::Snooze(Duration::from_secs(1)),
        }
    };
    let report = Trial::new(()).stopped(StopReason::Cancelled).run(handler).await;
    assert_eq!(report.failure().to_string(), "cancelled");
    let report = Trial::new(()).stopped(StopReason::ShuttingDown).run(handler).await;
    assert!(matches!(report.outcome, Outcome::Snooze(_)));
}

#[test]
#[should_panic(expected = "the handler is not done")]
fn a_report_does_not_make_up_a_result() {
    Report::new(Outcome::Release, Vec::new()).result::<()>();
}

#[tokio::test]
async fn a_handler_reads_what_came_before_it() {
    let trial = Trial::new(()).parent("left", 2).parent("right", 3).failed_parent("extra", "boom");
    let report = trial
        .run(|ctx| async move {
            let sum = ctx.parent::<u64>("left").await? + ctx.parent::<u64>("right").await?;
            let errors: Vec<String> =
                ctx.parents().await?.into_iter().filter_map(|parent| Some(parent.error?.message)).collect();
            Ok::<_, Failure>(json!([sum, errors]))
        })
        .await;
    assert_eq!(report.result::<Value>(), json!([5, ["boom"]]));
}

#[tokio::test]
async fn a_parent_without_a_fitting_result_is_a_failure_that_says_so() {
    let check = async |step: &'static str, words: &str| {
        let trial = Trial::new(()).parent("text", "two").failed_parent("dead", "boom");
        let report = trial.run(|ctx| async move { ctx.parent::<u64>(step).await }).await;
        let message = report.failure().to_string();
        assert!(message.contains(words), "{message:?} does not say {words:?}");
    };
    check("text", "the result of \"text\" is not a u64").await;
    check("dead", "\"dead\" is FAILED and has no result").await;
    check("other", "the job does not come after \"other\"; it comes after text, dead").await;
}
