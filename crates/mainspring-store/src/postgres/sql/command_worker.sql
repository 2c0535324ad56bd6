-- Tells a worker what to do. Parameters: id, order.
UPDATE workers SET "order" = $2 WHERE id = $1
