//! The console is built into the server: a console built anew (or for the first time) makes this crate build anew.

fn main() -> std::io::Result<()> {
    // A folder that is missing when the crate compiles would stay missing for the binary: rust-embed resolves
    // its path at compile time. Empty, it is noticed by cargo once the console fills it.
    let dist = "../../frontend/dist";
    std::fs::create_dir_all(dist)?;
    println!("cargo::rerun-if-changed={dist}");
    Ok(())
}
