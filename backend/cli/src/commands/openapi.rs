//! `reeve openapi`: the REST API's document, as `openapi/openapi.json` holds it.

pub(crate) fn run() {
    print!("{}", reeve_api::openapi::document_text());
}
