"""A finished run as one HTML page.

run folder ─▶ reading.read_story ─▶ story.Story ─▶ page.render
"""
