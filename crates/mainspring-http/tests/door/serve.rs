//! The door on a real socket: it answers, and it stops when it is told.

use mainspring_http::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::house::House;

#[tokio::test]
async fn a_server_answers_until_it_is_told_to_stop_and_lets_open_requests_end() {
    let house = House::open().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let engine = house.engine.clone();
    let serving = tokio::spawn(serve(listener, house.router.clone(), async move {
        stopped.await.expect("the test says when");
        engine.shutdown().await;
    }));

    let worker = house.register().await;
    let body = format!(r#"{{"worker_id":"{worker}","queues":["default"],"wait":"60s"}}"#);
    let mut waiting = TcpStream::connect(address).await.expect("it listens");
    let head =
        format!("POST /v1/claims HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    waiting.write_all(format!("{head}{body}").as_bytes()).await.expect("it reads");

    let mut asking = TcpStream::connect(address).await.expect("it listens");
    asking.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.expect("it reads");
    let mut answer = String::new();
    asking.read_to_string(&mut answer).await.expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok\n"), "{answer}");

    stop.send(()).expect("the server waits for it");
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).await.expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with(r#"{"jobs":[]}"#), "{answer}");
    serving.await.expect("it does not panic").expect("it ends well");
}
