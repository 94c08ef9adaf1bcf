"""Assertions about lists: pages, filters, orders and whose items they hold."""
