"""The five agents, one graph a file: `langgraph.json` serves these very objects."""
