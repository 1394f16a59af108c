//! The OpenAPI document: made from the routes, with what all operations share added here: errors, security, tags.

use crate::openapi_words;
use crate::problem::ProblemView;
use crate::routes;
use serde_json::{Value, json};
use utoipa::openapi::{Components, InfoBuilder, OpenApi, OpenApiBuilder};
use utoipa::{PartialSchema, ToSchema};

/// Operations that need no credential.
pub const OPEN_OPERATIONS: [&str; 6] = [
    "sign_in",
    "refresh",
    "list_sign_in_providers",
    "start_oidc_sign_in",
    "finish_oidc_sign_in",
    "exchange_workload_token",
];

/// The document as it is served and committed.
///
/// # Panics
/// Never: the document is made of JSON values.
#[must_use]
pub fn document() -> Value {
    let (short, long) = routes::split();
    let mut open_api = base();
    open_api.merge(short.into_openapi());
    open_api.merge(long.into_openapi());
    let mut value = serde_json::to_value(open_api).unwrap_or_default();
    let paths = value.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            complete(path, method, operation);
        }
    }
    openapi_words::fill(&mut value);
    value["components"]["securitySchemes"] = json!({
        "bearer": {"type": "http", "scheme": "bearer", "description": "An access token or an API token"},
        "session": {"type": "apiKey", "in": "cookie", "name": "reeve_session",
                    "description": "The browser's session; changes also need an Origin of our own"},
    });
    value
}

/// The document as text, as `reeve openapi` prints it.
#[must_use]
pub fn document_text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn base() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Reeve")
        .version("1")
        .description(Some(
            "Governs a GPU pool that several teams share. Unknown fields in replies are to be ignored.",
        ))
        .build();
    let mut components = Components::new();
    let mut schemas = Vec::new();
    ProblemView::schemas(&mut schemas);
    schemas.push((ProblemView::name().into_owned(), ProblemView::schema()));
    components.schemas.extend(schemas);
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}

/// The errors that an operation can answer with, by what it is.
fn complete(path: &str, method: &str, operation: &mut Value) {
    let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
    let open = OPEN_OPERATIONS.contains(&id.as_str());
    let agent = path.starts_with("/agent/");
    let mut statuses = vec![
        ("400", "Not readable"),
        ("429", "Too many requests"),
        ("500", "A defect of ours"),
        ("503", "Try again"),
    ];
    statuses.push(("401", "Not signed in, or the credential is not valid"));
    statuses.push(("403", "Not allowed"));
    // A filter or a body may name what is not there, too.
    statuses.push(("404", "Not found, or not to be seen"));
    if method != "get" {
        statuses.push(("409", "Changed or running"));
        statuses.push(("413", "Too large"));
        statuses.push(("415", "Not JSON"));
        statuses.push(("422", "Wrong in itself"));
    }
    if method != "get" && !open && !agent {
        statuses.push(("412", "Changed since it was read"));
        statuses.push(("428", "If-Match is required"));
    }
    if !operation["responses"].is_object() {
        operation["responses"] = json!({});
    }
    for (status, description) in statuses {
        if operation["responses"].get(status).is_none() {
            operation["responses"][status] = json!({
                "description": description,
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            });
        }
    }
    operation["security"] = if open {
        json!([])
    } else if agent {
        json!([{"bearer": []}])
    } else {
        json!([{"bearer": []}, {"session": []}])
    };
    if method == "post" && !open && !agent {
        let parameter = json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key and body again: the same reply, once done",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        });
        match operation["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(parameter),
            None => operation["parameters"] = json!([parameter]),
        }
    }
}
