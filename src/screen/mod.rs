//! Terminal model, history, replies and signals; frames; what a pane draws; keys. Pure.
