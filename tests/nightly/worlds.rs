//! More seeded worlds than the end-to-end tests tell. `docs/reliability.md` says how to tell a million.

ucp_testkit::seeded_worlds! {
    memory_1: Memory 500..1_000;
    memory_2: Memory 1_000..1_500;
    memory_3: Memory 1_500..2_000;
    sqlite: Sqlite 2_002..2_004;
    // In 2008 a request stays pending for hours, and is asked about again and again, which takes a database 45 s.
    postgres: Postgres [2_008, 2_011, 2_012, 2_013];
}
