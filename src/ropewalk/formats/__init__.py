"""Writers and readers at the edge: one module for each format, for the library and the command line alike."""
