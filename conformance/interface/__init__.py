"""The interface as data: its operations, the parameters of its lists, its OpenAPI document."""
