"""The instruments of a notebook: ipywidgets around plays, engine and figures."""
