# Settings of Sphinx for scripts/docs-site; MyST reads the pages as they are.

project = "tfc"
html_title = "tfc"
extensions = ["myst_parser"]
include_patterns = ["index.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md", "docs/**.md"]
myst_heading_anchors = 4
highlight_language = "none"
html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 3}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False


def setup(app):
    from pygments.lexers.special import TextLexer

    app.add_lexer("tfg", TextLexer)
