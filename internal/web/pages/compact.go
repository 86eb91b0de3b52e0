package pages

import (
	"os"
)

// compact begins a new log when most of this one is out of date.
func (st *Store) compact() error {
	s := st.s
	live := int64(0)
	for _, v := range s.before {
		live += recBytes + v.meta.n + v.links.n + v.body.n
	}
	if s.end < 1<<20 || s.end < 2*live {
		return nil
	}
	raw := func(p span) ([]byte, error) {
		b := make([]byte, p.n)
		if _, err := s.f.ReadAt(b, p.at); err != nil {
			return nil, wrap(err, s.name)
		}
		if crc(b) != p.crc {
			return nil, nil // damaged: the URL is visited anew
		}
		return b, nil
	}
	err := st.create(s.number+1, func(write func([]byte) error) error {
		if err := write(appendRecord(nil, kindBegin, marshal(begin{Crawl: s.crawl, Settings: s.settings, Time: s.started}), nil, nil)); err != nil {
			return err
		}
		for _, v := range s.before {
			meta, err := raw(v.meta)
			if err != nil {
				return err
			}
			links, err := raw(v.links)
			if err != nil {
				return err
			}
			body, err := raw(v.body)
			if err != nil {
				return err
			}
			if meta == nil || v.links.n > 0 && links == nil || v.body.n > 0 && body == nil {
				continue
			}
			if err := write(appendRecord(nil, kindVisit, meta, links, body)); err != nil {
				return err
			}
		}
		return write(appendRecord(nil, kindCommit, marshal(commit{Crawl: s.crawl, Time: s.finished}), nil, nil))
	})
	if err != nil {
		return err
	}
	next, err := load(st.dir, os.O_RDWR)
	if err != nil {
		return err
	}
	st.s = next
	s.f.Close()
	st.removeOld()
	return nil
}
