//! The committed document is the one that the code makes.

#[test]
fn the_committed_document_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let current = reeve_api::openapi::document_text();
    let fresh = concat!(env!("CARGO_TARGET_TMPDIR"), "/openapi.json");
    std::fs::write(fresh, &current).expect("the current document, to compare with");
    let differs = committed.lines().zip(current.lines()).position(|(one, other)| one != other);
    assert!(
        committed == current,
        "openapi/openapi.json is stale from line {:?} on: run `make openapi`, or see {fresh}",
        differs.map(|line| line + 1)
    );
}

#[test]
fn operations_say_what_they_answer() {
    let document = reeve_api::openapi::document();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let responses = operation["responses"].as_object().expect("responses");
            assert!(
                responses.keys().any(|status| status.starts_with('2') || status == "303"),
                "{method} {path}"
            );
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}");
        }
    }
}
