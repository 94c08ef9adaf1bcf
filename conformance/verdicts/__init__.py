"""What the suite concludes: outcomes of checks, requirements and classes, and the verdict."""
