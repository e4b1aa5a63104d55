"""Values: ragged offsets, columns of text, trees, arcs, graphs and ropes."""
