"""Tables, plots and progress bars."""
