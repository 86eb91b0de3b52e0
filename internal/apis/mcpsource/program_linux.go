package mcpsource

import "syscall"

// outlived has the kernel end a program when this one dies. The signal comes when the
// thread that started it ends, which Go's threads do not as a rule.
func outlived(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
