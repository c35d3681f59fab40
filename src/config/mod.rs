//! Config text to checked settings; the directories of one instance.
