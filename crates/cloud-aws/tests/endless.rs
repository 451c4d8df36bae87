//! Replies of AWS that do not end: they are read so far and no further.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use ucp_cloud::{CloudControl, FaultClass};
use ucp_cloud_aws::{REPLY_MAX_BYTES, SigningCredentials};
use ucp_model::Identifier;

use crate::wire::{Stored, connect, scope, token, type_name};

/// What the kernel takes of what nobody has read yet, on both sides: `tcp_wmem` and `tcp_rmem` of Linux have a maximum of some MiB.
const BUFFERED: usize = 16 << 20;

/// Starts a server whose replies have so many bytes. Returns its endpoint.
async fn long(bytes: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 16 << 10];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            let model = r#"{"ResourceDescription":{"Identifier":"vpc-1","Properties":"{}"}}"#;
            let padding = " ".repeat(bytes - model.len());
            let reply = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {bytes}\r\n\r\n{padding}{model}"
            );
            // The other side may hang up.
            let _ = stream.write_all(reply.as_bytes()).await;
        }
    });
    endpoint
}

#[tokio::test]
async fn a_reply_has_so_many_bytes() {
    for (bytes, is_read) in [(REPLY_MAX_BYTES, true), (REPLY_MAX_BYTES + 1, false)] {
        let endpoint = long(bytes).await;
        let credentials = SigningCredentials::AccountAsAccessKey;
        let aws = connect(&endpoint, credentials, &Stored::default()).await;
        let (scope, vpc) = (scope("123456789012"), type_name("AWS::EC2::VPC"));
        let id = Identifier::new("vpc-1");
        let read = aws.get_resource(&scope, &vpc, &id).await;
        assert_eq!(read.is_ok(), is_read, "{bytes}: {:?}", read.err());
    }
}

/// Starts a server that never ends its replies. Returns its endpoint, and how much it has written.
async fn endless() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut request = [0; 16 << 10];
                assert!(stream.read(&mut request).await.unwrap() > 0);
                let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ntransfer-encoding: chunked\r\n\r\n";
                stream.write_all(head).await.unwrap();
                let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
                // Until the other side hangs up.
                while stream.write_all(&chunk).await.is_ok() {
                    count.fetch_add(0x10000, Ordering::SeqCst);
                }
            });
        }
    });
    (endpoint, written)
}

#[tokio::test]
async fn a_reply_without_an_end_is_not_read_to_it() {
    let (endpoint, written) = endless().await;
    let credentials = SigningCredentials::AccountAsAccessKey;
    let aws = connect(&endpoint, credentials, &Stored::default()).await;
    let (scope, vpc) = (scope("123456789012"), type_name("AWS::EC2::VPC"));
    let read = aws
        .get_resource(&scope, &vpc, &Identifier::new("vpc-1"))
        .await;
    let fault = read.expect_err("it does not end");
    assert_eq!(fault.class, FaultClass::Transient, "{fault:?}");
    assert!(fault.message.contains("length limit"), "{fault:?}");
    let first = written.load(Ordering::SeqCst);
    assert!(first <= REPLY_MAX_BYTES + BUFFERED, "{first} bytes");
    // What came of a change is not known then.
    let created = aws.create_resource(&scope, &vpc, "{}", token(1)).await;
    let fault = created.expect_err("it does not end");
    assert_eq!(fault.class, FaultClass::OutcomeUnknown, "{fault:?}");
    let both = written.load(Ordering::SeqCst);
    assert!(both <= 2 * (REPLY_MAX_BYTES + BUFFERED), "{both} bytes");
}
