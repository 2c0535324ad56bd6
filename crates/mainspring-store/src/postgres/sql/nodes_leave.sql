-- Forgets a node. Parameters: node.
DELETE FROM nodes WHERE id = $1
