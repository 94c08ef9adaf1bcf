"""Catalogue: every statement of the interface as data."""

from conformance.catalogue.catalogue import CatalogueError, load_catalogue
from conformance.catalogue.entries import CLASSES, RELEASES, Catalogue, OpenPoint, OutOfReach, Requirement, Section
from conformance.catalogue.selection import SelectionError, choose

__all__ = [
    "CLASSES",
    "RELEASES",
    "Catalogue",
    "CatalogueError",
    "OpenPoint",
    "OutOfReach",
    "Requirement",
    "Section",
    "SelectionError",
    "choose",
    "load_catalogue",
]
