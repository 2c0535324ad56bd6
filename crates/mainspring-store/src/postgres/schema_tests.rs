//! The whole schema as one page, so that a migration cannot change it unseen: `MAINSPRING_BLESS=1 cargo test the_schema` writes
//! the page anew, and the change shows in the diff.

use super::testing::Database;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/postgres/schema.txt");

/// Each answers one text a row.
const QUERIES: [(&str, &str); 5] = [
    (
        "tables",
        "SELECT format('%s.%s %s%s%s', columns.table_name, columns.column_name,
             CASE columns.data_type WHEN 'ARRAY' THEN columns.udt_name ELSE columns.data_type END,
             CASE columns.is_nullable WHEN 'NO' THEN ' not null' ELSE '' END,
             coalesce(' collate ' || columns.collation_name, '') || coalesce(' default ' || columns.column_default, ''))
         FROM information_schema.columns
         WHERE columns.table_schema = 'mainspring' AND columns.table_name NOT LIKE '%\\_default'
         ORDER BY columns.table_name COLLATE \"C\", columns.ordinal_position",
    ),
    (
        "settings",
        "SELECT format('%s %s%s', class.relname, coalesce(pg_get_partkeydef(class.oid), 'plain'),
             coalesce(' with ' || array_to_string(class.reloptions, ', '), ''))
         FROM pg_class AS class
         WHERE class.relnamespace = 'mainspring'::regnamespace AND class.relkind IN ('r', 'p')
         ORDER BY class.relname COLLATE \"C\"",
    ),
    (
        "indexes",
        "SELECT replace(indexdef, 'mainspring.', '') FROM pg_indexes
         WHERE schemaname = 'mainspring' ORDER BY indexname COLLATE \"C\"",
    ),
    (
        "checks",
        "SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
         WHERE connamespace = 'mainspring'::regnamespace AND contype = 'c' ORDER BY 1",
    ),
    (
        "functions and sequences",
        "SELECT said FROM (
             SELECT format('function %s(%s) returns %s', proname, pg_get_function_arguments(oid), pg_get_function_result(oid))
                 AS said
             FROM pg_proc WHERE pronamespace = 'mainspring'::regnamespace
             UNION ALL
             SELECT 'sequence ' || relname FROM pg_class
             WHERE relnamespace = 'mainspring'::regnamespace AND relkind = 'S'
         ) AS all_of_them
         ORDER BY said COLLATE \"C\"",
    ),
];

#[tokio::test]
async fn the_schema_is_what_the_page_says() {
    let database = Database::new();
    let client = database.connect().await;
    let mut page = String::new();
    for (title, sql) in QUERIES {
        page.push_str(&format!("== {title}\n"));
        for row in client.query(sql, &[]).await.unwrap() {
            page.push_str(row.get::<_, &str>(0));
            page.push('\n');
        }
    }
    if std::env::var_os("MAINSPRING_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let known = std::fs::read_to_string(PAGE).unwrap_or_default();
    let (known, found): (Vec<&str>, Vec<&str>) = (known.lines().collect(), page.lines().collect());
    let gone: Vec<_> = known.iter().filter(|line| !found.contains(line)).collect();
    let new: Vec<_> = found.iter().filter(|line| !known.contains(line)).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "gone from {PAGE}: {gone:#?}\nnew: {new:#?}\nMAINSPRING_BLESS=1 writes it"
    );
}
