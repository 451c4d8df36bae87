//! More seeded worlds than the end-to-end tests tell. `docs/reliability.md` says how to tell a million.

use ucp_testkit::StoreKind;
use ucp_testkit::worlds::tell_all;

/// The worlds are split, so that the cores share them.
macro_rules! seeded_worlds {
    ($($name:ident: $kind:ident $seeds:expr;)*) => {
        $(
            #[test]
            fn $name() {
                tell_all(StoreKind::$kind, $seeds);
            }
        )*
    };
}

seeded_worlds! {
    memory_1: Memory 500..1_000;
    memory_2: Memory 1_000..1_500;
    memory_3: Memory 1_500..2_000;
    sqlite: Sqlite 2_002..2_004;
    postgres: Postgres 2_009..2_010;
}
