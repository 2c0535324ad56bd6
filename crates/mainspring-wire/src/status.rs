//! The status of a job as an API user sees it. Which state it stands for is the core's to say.

crate::words::words! {
    /// Where a job is.
    pub enum Status: "a status" {
        /// Waits for other jobs.
        Blocked = "BLOCKED",
        /// Its time has not come.
        Scheduled = "SCHEDULED",
        /// Waits for its next attempt after one that failed.
        Retrying = "RETRYING",
        /// Due; the next free worker takes it.
        Pending = "PENDING",
        /// A worker holds it.
        Running = "RUNNING",
        /// Handed out by Kafka or a webhook, not yet started.
        Dispatched = "DISPATCHED",
        /// Succeeded.
        Completed = "COMPLETED",
        /// Used up its attempts, or failed for good: a dead letter.
        Failed = "FAILED",
        /// Cancelled by a person, a dependency or an expiry.
        Cancelled = "CANCELLED",
        /// Set aside by a person until it is resumed.
        Paused = "PAUSED",
    }
}

#[cfg(test)]
mod tests {
    use super::Status;
    use crate::check::refused;

    #[test]
    fn a_status_is_upper_case_and_nothing_else() {
        assert_eq!(Status::Blocked.as_str(), "BLOCKED");
        assert_eq!("PENDING".parse(), Ok(Status::Pending));
        refused::<Status>(r#""pending""#, "unknown variant `pending`, expected one of `BLOCKED`");
    }
}
