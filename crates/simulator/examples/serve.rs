//! Serves a simulator of the embedded resource types: `cargo run -p ucp-simulator --example serve -- 127.0.0.1:4566`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use ucp_model::{Clock, Entropy, Timestamp};
use ucp_schema::Catalogue;
use ucp_simulator::{Settings, Simulator};

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the outermost layer provides the time"
        )]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        Timestamp::default().after(since_epoch.unwrap_or_default())
    }
}

struct Seeded(Mutex<ChaCha12Rng>);

impl Entropy for Seeded {
    fn draw(&self, _label: &'static str) -> [u8; 16] {
        let mut bytes = [0; 16];
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generator.fill_bytes(&mut bytes);
        bytes
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1);
    let listener =
        tokio::net::TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:4566")).await?;
    println!("http://{}", listener.local_addr()?);
    let simulator = Simulator::new(
        Catalogue::embedded(),
        Settings::default(),
        Arc::new(SystemClock),
        Arc::new(Seeded(Mutex::new(ChaCha12Rng::seed_from_u64(0)))),
    );
    let shutdown = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    simulator.serve(listener, shutdown).await;
    Ok(())
}
