"""Floor plans of scenes as SVG, PNG or characters, and frames that replace camera images.

metadata ─▶ plan.FloorPlan ─┬▶ characters.CharacterPlan
                            └▶ drawing.Drawing ─┬▶ drawing.svg
                                                └▶ drawing.write_png
metadata ─▶ frame.frame
"""
