package httpguard

import "syscall"

// Winsock's numbers: WSAEADDRINUSE and WSAEACCES. The second is also what
// Windows says of a port that another program holds exclusively.
const (
	errInUse    = syscall.Errno(10048)
	errNoAccess = syscall.Errno(10013)
)
