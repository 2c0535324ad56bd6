-- Every gate that something is known of. Answers (tenant, gate, running, state).
SELECT tenant, gate, running, state FROM gates
