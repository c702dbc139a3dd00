"""`hvr library`: look into the library of macro actions, merge and share libraries."""
