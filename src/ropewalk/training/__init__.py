"""Training with torch: encoders, heads, the loop, teachers, exports, experiments and segmenters."""
