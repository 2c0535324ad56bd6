-- What is known of the gates of a tenant. Parameters: tenant. Answers tenant, gate, running, state.
SELECT tenant, gate, running, state FROM gates WHERE tenant = $1::text COLLATE "C"
