//! The door: routes, problems, metrics, OpenAPI.
