"""Pages and pictures: floor plans, run pages, plan graphs."""
