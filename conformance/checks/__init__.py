"""The checks: pytest modules named by the section of the interface that they judge."""
