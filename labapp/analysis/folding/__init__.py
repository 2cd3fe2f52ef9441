"""From journals to tables, a session at a time: here, in several processes, or on a cluster."""
