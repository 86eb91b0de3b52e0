package app

import (
	"errors"
	"io"
	"reflect"
	"sync"
)

// states are what features keep, by type.
type states struct {
	mu sync.Mutex
	of map[reflect.Type]any
}

// Keeper keeps what features need between calls: an App as long as it lives, a
// core as long as its data directory is there.
type Keeper interface{ states() *states }

// State returns what a feature keeps of type T, made at the first call. What
// has a method Close is closed with its keeper.
func State[T any](k Keeper, made func() *T) *T {
	s := k.states()
	s.mu.Lock()
	defer s.mu.Unlock()
	of := reflect.TypeFor[T]()
	if have, ok := s.of[of]; ok {
		return have.(*T)
	}
	if s.of == nil {
		s.of = map[reflect.Type]any{}
	}
	x := made()
	s.of[of] = x
	return x
}

// close closes what can be closed.
func (s *states) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.of {
		if c, ok := x.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	s.of = nil
	return err
}
