"""Training with torch: encoders, classifiers, the loop, teachers, exports and segmenters."""
