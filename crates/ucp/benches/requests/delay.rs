//! A distance between two processes: a proxy that holds back every byte for some time, and limits nothing else.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Starts a proxy to `server`, which is `one_way` away. Returns its address.
pub(crate) async fn proxy(server: SocketAddr, one_way: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.expect("a connection");
            let server = TcpStream::connect(server)
                .await
                .expect("the server listens");
            client.set_nodelay(true).expect("an option");
            server.set_nodelay(true).expect("an option");
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            carry(from_client, to_server, one_way);
            carry(from_server, to_client, one_way);
        }
    });
    address
}

/// Carries bytes in one direction, until either end closes the connection.
fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, one_way: Duration) {
    let (road, mut arrivals) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        loop {
            let mut bytes = Vec::with_capacity(8 << 10);
            let is_open = matches!(from.read_buf(&mut bytes).await, Ok(1..));
            if !is_open || road.send((Instant::now() + one_way, bytes)).is_err() {
                break;
            }
        }
    });
    tokio::spawn(async move {
        while let Some((due, bytes)) = arrivals.recv().await {
            sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
}
