-- Asks running jobs to stop; the first reason that was given stays. Parameters: ids, reasons; their rows are held.
UPDATE leases SET cancel_asked = coalesce(leases.cancel_asked, asked.reason)
FROM unnest($1::uuid[], $2::text[]) AS asked (id, reason)
WHERE leases.id = asked.id AND leases.id = ANY ($1::uuid[])
