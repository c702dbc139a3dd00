"""Pages and pictures: floor plans, run pages, plan graphs.

All of them use `charts`: escaping, elements, pages, charts. Skeletons, styles and scripts are
.html, .css and .js files beside the modules that use them.
"""
