package envtest

import (
	"io"
	"sync"
)

// stream is the answer to a watch. What arrives is read ahead, so that something else can be
// delivered while nothing arrives.
type stream struct {
	body     io.ReadCloser
	watches  *Watches
	resource string
	once     sync.Once
	closed   chan struct{}

	arrived chan chunk
	told    chan []byte

	// rest and err are what was taken from arrived or told and is not read yet.
	rest []byte
	err  error
	// within: the last byte read is not the end of an event.
	within bool
}

// chunk is what one Read gave.
type chunk struct {
	bytes []byte
	err   error
}

func newStream(w *Watches, resource string, body io.ReadCloser) *stream {
	s := &stream{
		body: body, watches: w, resource: resource,
		closed: make(chan struct{}), arrived: make(chan chunk), told: make(chan []byte),
	}
	go s.readAhead()
	return s
}

func (s *stream) readAhead() {
	for {
		buffer := make([]byte, 16<<10)
		n, err := s.body.Read(buffer)
		select {
		case s.arrived <- chunk{buffer[:n], err}:
		case <-s.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// tell delivers an event of its own between two others, and returns when it is being read.
func (s *stream) tell(event []byte) {
	select {
	case s.told <- event:
	case <-s.closed:
	}
}

// Read implements io.Reader. What has arrived is held back too.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 && s.err == nil && !s.next() {
		return 0, io.ErrUnexpectedEOF
	}
	for gate := s.watches.gate(s.resource); gate != nil; gate = s.watches.gate(s.resource) {
		select {
		case <-gate:
		case <-s.closed:
			return 0, io.ErrUnexpectedEOF
		}
	}
	select {
	case <-s.closed:
		return 0, io.ErrUnexpectedEOF
	default:
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	if len(s.rest) > 0 {
		return n, nil
	}
	return n, s.err
}

// next waits for something to read; false when the stream is closed.
func (s *stream) next() bool {
	told := s.told
	if s.within {
		told = nil
	}
	select {
	case c := <-s.arrived:
		s.rest, s.err = c.bytes, c.err
	case event := <-told:
		s.rest = event
	case <-s.closed:
		return false
	}
	if n := len(s.rest); n > 0 {
		s.within = s.rest[n-1] != '\n'
	}
	return true
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.watches.forget(s)
	s.cut()
	return s.body.Close()
}

// cut has whoever reads find the end. A Read that waits for the API server is woken up by closing
// what it reads from.
func (s *stream) cut() {
	s.once.Do(func() {
		close(s.closed)
		_ = s.body.Close()
	})
}
