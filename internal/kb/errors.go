package kb

import (
	"context"
	"errors"
	"fmt"
)

// Code says what kind of failure an error is. Faces translate it: exit
// statuses, HTTP statuses and MCP results all come from the code alone.
type Code string

// The codes. Their strings are part of the JSON that faces return.
const (
	Invalid     Code = "invalid"     // the request is wrong; asking again will not help
	NotFound    Code = "not_found"   // what was named does not exist
	Exists      Code = "exists"      // what was to be made is there already
	Busy        Code = "busy"        // another process holds it; try again
	Denied      Code = "denied"      // no permission, no credentials, no trust
	TooLarge    Code = "too_large"   // over a limit that the message names
	Unsupported Code = "unsupported" // understood, and not possible (yet)
	Corrupt     Code = "corrupt"     // a file fails its checksum or does not parse
	Away        Code = "away"        // the network, a provider or a remote engine does not answer
	Full        Code = "disk_full"   // no space left
	Canceled    Code = "canceled"    // stopped on request
	Newer       Code = "newer"       // written by a newer version of the program
	Internal    Code = "internal"    // a defect of ours
)

// Error is a failure for a reader: one sentence of cause in Message, one
// sentence of what to do next in Hint.
type Error struct {
	Code     Code
	Message  string
	Hint     string
	Err      error  // the cause, if another error is it
	Argument string // that is wrong, where it is one
}

// Errorf makes an Error. Like fmt.Errorf it wraps the operand of %w.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Err: errors.Unwrap(wrapped)}
}

// WithHint returns the error with the sentence that says what to do next.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// About returns e as the error of an argument.
func (e *Error) About(argument string) *Error {
	c := *e
	c.Argument = argument
	return &c
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in err's chain. Errors that
// carry none are Internal, except the context's own, which are Canceled.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Canceled
	default:
		return Internal
	}
}

// Said returns an error and its hint, parted by sep, as one text.
func Said(err error, sep string) string {
	if hint := HintOf(err); hint != "" {
		return err.Error() + sep + hint
	}
	return err.Error()
}

// HintOf returns the hint of the first Error in err's chain that has one.
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
