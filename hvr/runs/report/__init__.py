"""Pages and pictures: floor plans, run pages, plan graphs.

`charts` is the kit that everything here is written with: escaping, elements, pages, charts.
Skeletons, styles and scripts are .html, .css and .js files beside the modules that use them.
"""
