-- What attempts left behind, in place of what was there. Parameters: the columns, in this order.
INSERT INTO notes (id, checkpoint, progress_percent, progress_note, has_progress, error_message, error_kind, error_detail)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::real[], $4::text[], $5::boolean[], $6::text[], $7::text[], $8::text[])
ON CONFLICT (id) DO UPDATE SET
    checkpoint = excluded.checkpoint, progress_percent = excluded.progress_percent, progress_note = excluded.progress_note,
    has_progress = excluded.has_progress, error_message = excluded.error_message, error_kind = excluded.error_kind,
    error_detail = excluded.error_detail
