"""Sphinx's configuration, for the sources that build.py lays out."""

project = "Sinter"
author = "the Sinter contributors"
copyright = author
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build"]
nitpicky = True
myst_heading_anchors = 6
myst_enable_extensions = []
myst_all_links_external = False
# Overloads and members have the same headings on different pages, and pages begin with tables that have no header.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = "Sinter"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": [], "navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"
