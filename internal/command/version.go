package command

// Version is the version of the program: what `knowledge version` and the
// plugin's manifest say. It is written down here and nowhere else.
const Version = "0.1.0"
