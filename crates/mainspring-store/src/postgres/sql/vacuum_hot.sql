-- Clears the small hot tables of what is dead: claims would walk over it. Fast, because they are small.
VACUUM (TRUNCATE false, PARALLEL 0) ready, leases, waiting, counts, releases
