"""Pages and pictures: floor plans, run pages, plan graphs.

`markup` is the kit that everything here is written with: escaping, elements, whole pages.
Skeletons, styles and scripts are .html, .css and .js files beside the modules that use them.
"""
