package crash

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// The file system that SQLite uses, between SQLite and the operating system:
// its functions ask failing whether the call fails, and with which code. See
// https://www.sqlite.org/vfs.html; structures of C lie in memory as there.

// An ioCall is a call of SQLite to its file system, and with what it fails: on
// a full disk, and when the device fails.
type ioCall struct {
	name      string
	full, eio int32
}

var (
	callOpen     = &ioCall{"open", lib.SQLITE_CANTOPEN, lib.SQLITE_CANTOPEN}
	callDelete   = &ioCall{"delete", lib.SQLITE_IOERR_DELETE, lib.SQLITE_IOERR_DELETE}
	callAccess   = &ioCall{"access", lib.SQLITE_IOERR_ACCESS, lib.SQLITE_IOERR_ACCESS}
	callPath     = &ioCall{"fullpathname", lib.SQLITE_CANTOPEN_FULLPATH, lib.SQLITE_CANTOPEN_FULLPATH}
	callRead     = &ioCall{"read", lib.SQLITE_IOERR_READ, lib.SQLITE_IOERR_READ}
	callWrite    = &ioCall{"write", lib.SQLITE_FULL, lib.SQLITE_IOERR_WRITE}
	callTruncate = &ioCall{"truncate", lib.SQLITE_IOERR_TRUNCATE, lib.SQLITE_IOERR_TRUNCATE}
	callSync     = &ioCall{"sync", lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_FSYNC}
	callSize     = &ioCall{"size", lib.SQLITE_IOERR_FSTAT, lib.SQLITE_IOERR_FSTAT}
	callLock     = &ioCall{"lock", lib.SQLITE_IOERR_LOCK, lib.SQLITE_IOERR_LOCK}
	callShmMap   = &ioCall{"shmmap", lib.SQLITE_IOERR_SHMSIZE, lib.SQLITE_IOERR_SHMMAP}
	callShmLock  = &ioCall{"shmlock", lib.SQLITE_IOERR_SHMLOCK, lib.SQLITE_IOERR_SHMLOCK}
)

// failing decides about one call of SQLite; nil lets all pass.
var failing atomic.Pointer[func(c *ioCall) (fails, full bool)]

func (c *ioCall) fails() (code int32, yes bool) {
	f := failing.Load()
	if f == nil {
		return 0, false
	}
	fails, full := (*f)(c)
	if full {
		return c.full, fails
	}
	return c.eio, fails
}

type (
	fnOpen     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	fnDelete   = func(tls *libc.TLS, vfs, name uintptr, dir int32) int32
	fnAccess   = func(tls *libc.TLS, vfs, name uintptr, flags int32, out uintptr) int32
	fnPath     = func(tls *libc.TLS, vfs, name uintptr, n int32, out uintptr) int32
	fnIO       = func(tls *libc.TLS, file, buf uintptr, n int32, off int64) int32
	fnTruncate = func(tls *libc.TLS, file uintptr, size int64) int32
	fnFlags    = func(tls *libc.TLS, file uintptr, flags int32) int32
	fnSize     = func(tls *libc.TLS, file, out uintptr) int32
	fnShmMap   = func(tls *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32
	fnShmLock  = func(tls *libc.TLS, file uintptr, off, n, flags int32) int32
)

// real are the functions of the operating system's file system.
var real struct {
	vfs lib.Tsqlite3_vfs
	mu  sync.Mutex
	// A table of ours for each of SQLite's, which has one for each way to lock.
	tables map[uintptr]*table
}

// A table is what SQLite knows a file's functions by. SQLite holds it by its address.
type table struct{ ours, theirs lib.Tsqlite3_io_methods }

// at is what lies at an address.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// goFunc is a function of Go as generated C code calls it: the address of what
// describes it. f lives as long as the program.
func goFunc[F any](f *F) uintptr { return *(*uintptr)(unsafe.Pointer(f)) }

// cFunc is the reverse.
func cFunc[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{p})) }

// interpose puts our functions before those of the operating system, once.
var interpose = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	v := at[lib.Tsqlite3_vfs](lib.Xsqlite3_vfs_find(tls, 0))
	real.vfs = *v
	ours = between()
	real.tables = map[uintptr]*table{}
	v.FxOpen, v.FxDelete = goFunc(&ours.open), goFunc(&ours.delete)
	v.FxAccess, v.FxFullPathname = goFunc(&ours.access), goFunc(&ours.path)
})

// theirs returns the functions of a file as the operating system's has them.
func theirs(file uintptr) *lib.Tsqlite3_io_methods {
	return &at[table](*at[uintptr](file)).theirs
}

// wrap gives a file that was opened our functions.
func wrap(tls *libc.TLS, file uintptr) {
	methods := at[uintptr](file)
	if *methods == 0 {
		return
	}
	real.mu.Lock()
	defer real.mu.Unlock()
	t := real.tables[*methods]
	if t == nil {
		m := *at[lib.Tsqlite3_io_methods](*methods)
		// Outside Go's heap, as all that generated C code looks into: the race
		// detector checks its arithmetic.
		t = at[table](libc.Xcalloc(tls, 1, lib.Tsize_t(unsafe.Sizeof(table{}))))
		*t = table{ours: m, theirs: m}
		t.ours.FxRead, t.ours.FxWrite, t.ours.FxTruncate = goFunc(&ours.read), goFunc(&ours.write), goFunc(&ours.truncate)
		t.ours.FxSync, t.ours.FxFileSize, t.ours.FxLock = goFunc(&ours.sync), goFunc(&ours.size), goFunc(&ours.lock)
		t.ours.FxShmMap, t.ours.FxShmLock = goFunc(&ours.shmMap), goFunc(&ours.shmLock)
		real.tables[*methods] = t
	}
	*methods = uintptr(unsafe.Pointer(&t.ours))
}

// functions are those of SQLite in C.
type functions struct {
	open     fnOpen
	delete   fnDelete
	access   fnAccess
	path     fnPath
	read     fnIO
	write    fnIO
	truncate fnTruncate
	sync     fnFlags
	size     fnSize
	lock     fnFlags
	shmMap   fnShmMap
	shmLock  fnShmLock
}

// ours are our functions; SQLite calls them by their addresses.
var ours functions

func between() functions {
	return functions{
		open: func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
			if code, yes := callOpen.fails(); yes {
				*at[uintptr](file) = 0
				return code
			}
			code := cFunc[fnOpen](real.vfs.FxOpen)(tls, vfs, name, file, flags, out)
			if code == lib.SQLITE_OK {
				wrap(tls, file)
			}
			return code
		},
		delete: func(tls *libc.TLS, vfs, name uintptr, dir int32) int32 {
			if code, yes := callDelete.fails(); yes {
				return code
			}
			return cFunc[fnDelete](real.vfs.FxDelete)(tls, vfs, name, dir)
		},
		access: func(tls *libc.TLS, vfs, name uintptr, flags int32, out uintptr) int32 {
			if code, yes := callAccess.fails(); yes {
				return code
			}
			return cFunc[fnAccess](real.vfs.FxAccess)(tls, vfs, name, flags, out)
		},
		path: func(tls *libc.TLS, vfs, name uintptr, n int32, out uintptr) int32 {
			if code, yes := callPath.fails(); yes {
				return code
			}
			return cFunc[fnPath](real.vfs.FxFullPathname)(tls, vfs, name, n, out)
		},
		read: func(tls *libc.TLS, file, buf uintptr, n int32, off int64) int32 {
			if code, yes := callRead.fails(); yes {
				return code
			}
			return cFunc[fnIO](theirs(file).FxRead)(tls, file, buf, n, off)
		},
		write: func(tls *libc.TLS, file, buf uintptr, n int32, off int64) int32 {
			if code, yes := callWrite.fails(); yes {
				cFunc[fnIO](theirs(file).FxWrite)(tls, file, buf, n/2, off) // as far as it went
				return code
			}
			return cFunc[fnIO](theirs(file).FxWrite)(tls, file, buf, n, off)
		},
		truncate: func(tls *libc.TLS, file uintptr, size int64) int32 {
			if code, yes := callTruncate.fails(); yes {
				return code
			}
			return cFunc[fnTruncate](theirs(file).FxTruncate)(tls, file, size)
		},
		sync: func(tls *libc.TLS, file uintptr, flags int32) int32 {
			if code, yes := callSync.fails(); yes {
				return code
			}
			return cFunc[fnFlags](theirs(file).FxSync)(tls, file, flags)
		},
		size: func(tls *libc.TLS, file, out uintptr) int32 {
			if code, yes := callSize.fails(); yes {
				return code
			}
			return cFunc[fnSize](theirs(file).FxFileSize)(tls, file, out)
		},
		lock: func(tls *libc.TLS, file uintptr, level int32) int32 {
			if code, yes := callLock.fails(); yes {
				return code
			}
			return cFunc[fnFlags](theirs(file).FxLock)(tls, file, level)
		},
		shmMap: func(tls *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32 {
			if code, yes := callShmMap.fails(); yes {
				*at[uintptr](out) = 0
				return code
			}
			return cFunc[fnShmMap](theirs(file).FxShmMap)(tls, file, page, size, extend, out)
		},
		shmLock: func(tls *libc.TLS, file uintptr, off, n, flags int32) int32 {
			const unlock = 1 // SQLITE_SHM_UNLOCK, which cannot fail
			if flags&unlock == 0 {
				if code, yes := callShmLock.fails(); yes {
					return code
				}
			}
			return cFunc[fnShmLock](theirs(file).FxShmLock)(tls, file, off, n, flags)
		},
	}
}
