"""Floor plans of scenes: as SVG, as PNG, as characters, and frames in place of camera images.

metadata ─▶ plan.FloorPlan ─┬▶ characters.CharacterPlan
                            └▶ drawing.Drawing ─┬▶ svg.svg
                                                └▶ png.write_png
metadata ─▶ frame.frame
"""
