//! A new migration file alone does not rebuild a crate that embeds the folder: say so to cargo.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
    println!("cargo:rerun-if-changed=../../.sqlx");
}
