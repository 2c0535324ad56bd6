//! What is said over HTTP: serde types, versioned, no logic.
