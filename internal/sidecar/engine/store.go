package engine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

var (
	bucketTasks   = []byte("tasks")   // id -> row
	bucketOrder   = []byte("order")   // sequence number -> id, oldest submission first
	bucketRecords = []byte("records") // whatever handlers remember
	bucketStore   = []byte("store")   // about the store itself
)

// keyOwner is the node that the tasks are for. Stores of earlier versions do not have it.
var keyOwner = []byte("owner")

// lockTimeout bounds the wait for a store that another process still holds,
// such as the sidecar that is being replaced.
const lockTimeout = 10 * time.Second

// errGone says that the row a task wants to write is no longer its own.
var errGone = errors.New("the task was deleted")

// row is a task as it lies on the disk. Seq orders submissions independently of
// the clock, which may jump.
type row struct {
	Seq uint64 `json:"seq"`
	// Begun is in how many processes the task began and did not end, since one of them was ended in
	// order or ran it for a while. A task counts as begun when it is submitted.
	Begun int `json:"begun,omitempty"`
	api.TaskResult
}

// store keeps rows and records in one bbolt file. Every write has reached the
// disk when the method returns.
type store struct {
	db *bolt.DB
	// fault lets a test make an operation fail the way a full disk does.
	fault func(op string) error
}

func openStore(path string) (s *store, err error) {
	defer recoverInto(&err)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockTimeout})
	if err != nil {
		return nil, fmt.Errorf("opening the task store %s: %w", path, err)
	}
	s = &store{db: db}
	err = s.update("open", func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketTasks, bucketOrder, bucketRecords, bucketStore} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return fmt.Errorf("creating bucket %s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *store) close() error { return s.db.Close() }

// ping tells whether the store can be read.
func (s *store) ping() error {
	return s.view("ping", func(tx *bolt.Tx) error {
		if tx.Bucket(bucketTasks) == nil {
			return errors.New("the tasks bucket is missing")
		}
		return nil
	})
}

// claim notes whose store this is, and forgets all tasks if it was another's; it says how many. Records
// stay: they are about the data, which is there.
func (s *store) claim(owner string) (forgotten int, err error) {
	if owner == "" {
		return 0, nil
	}
	err = s.update("claim", func(tx *bolt.Tx) error {
		about := tx.Bucket(bucketStore)
		was := about.Get(keyOwner)
		if string(was) == owner {
			return nil
		}
		if was != nil {
			forgotten = tx.Bucket(bucketTasks).Stats().KeyN
			for _, name := range [][]byte{bucketTasks, bucketOrder} {
				if err := empty(tx, name); err != nil {
					return err
				}
			}
		}
		if err := about.Put(keyOwner, []byte(owner)); err != nil {
			return fmt.Errorf("writing the owner: %w", err)
		}
		return nil
	})
	return forgotten, err
}

func empty(tx *bolt.Tx, bucket []byte) error {
	if err := tx.DeleteBucket(bucket); err != nil {
		return fmt.Errorf("deleting bucket %s: %w", bucket, err)
	}
	if _, err := tx.CreateBucket(bucket); err != nil {
		return fmt.Errorf("creating bucket %s: %w", bucket, err)
	}
	return nil
}

func (s *store) get(id string) (r row, found bool, err error) {
	err = s.view("get", func(tx *bolt.Tx) error {
		r, found, err = getRow(tx, id)
		return err
	})
	return r, found, err
}

// insert writes a new submission of a task, numbers it, and releases what
// retention no longer keeps, all in one transaction.
func (s *store) insert(r row, keep retention, now time.Time) (row, error) {
	err := s.update("insert", func(tx *bolt.Tx) error {
		if err := removeRow(tx, r.ID); err != nil {
			return err
		}
		seq, err := tx.Bucket(bucketOrder).NextSequence()
		if err != nil {
			return fmt.Errorf("numbering the task: %w", err)
		}
		r.Seq = seq
		if err := tx.Bucket(bucketOrder).Put(seqKey(seq), []byte(r.ID)); err != nil {
			return fmt.Errorf("ordering the task: %w", err)
		}
		if err := putRow(tx, r); err != nil {
			return err
		}
		return keep.prune(tx, now)
	})
	return r, err
}

// replace writes a row over the one of the same submission, and over no other.
func (s *store) replace(r row) error {
	return s.update("replace", func(tx *bolt.Tx) error {
		old, found, err := getRow(tx, r.ID)
		if err != nil {
			return err
		}
		if !found || old.Seq != r.Seq {
			return errGone
		}
		return putRow(tx, r)
	})
}

func (s *store) remove(ids ...string) error {
	return s.update("remove", func(tx *bolt.Tx) error {
		for _, id := range ids {
			if err := removeRow(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) prune(keep retention, now time.Time) error {
	return s.update("prune", func(tx *bolt.Tx) error { return keep.prune(tx, now) })
}

// each visits every row, oldest submission first, and counts those that cannot
// be read any more.
func (s *store) each(visit func(row)) (unreadable int, err error) {
	err = s.view("each", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketOrder).ForEach(func(_, id []byte) error {
			if r, found, err := getRow(tx, string(id)); err == nil && found {
				visit(r)
			} else {
				unreadable++
			}
			return nil
		})
	})
	return unreadable, err
}

// newest gives the last n submissions, newest first. Parameters above maxParams
// bytes are left out, so that a listing stays small.
func (s *store) newest(n, maxParams int) ([]row, error) {
	rows := make([]row, 0, min(n, 16))
	err := s.view("newest", func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketOrder).Cursor()
		for k, id := c.Last(); k != nil && len(rows) < n; k, id = c.Prev() {
			r, found, err := getRow(tx, string(id))
			if err != nil || !found {
				continue
			}
			if len(r.Params) > maxParams {
				r.Params = nil
			}
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

func (s *store) view(op string, fn func(*bolt.Tx) error) (err error) {
	defer recoverInto(&err)
	if s.fault != nil {
		if err := s.fault(op); err != nil {
			return err
		}
	}
	return s.db.View(fn)
}

func (s *store) update(op string, fn func(*bolt.Tx) error) (err error) {
	defer recoverInto(&err)
	if s.fault != nil {
		if err := s.fault(op); err != nil {
			return err
		}
	}
	return s.db.Update(fn)
}

// recoverInto turns a panic into an error: bbolt panics on pages that make no
// sense, and a damaged file must not take the process down in a loop.
func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the task store is damaged: %v", p)
	}
}

func getRow(tx *bolt.Tx, id string) (r row, found bool, err error) {
	raw := tx.Bucket(bucketTasks).Get([]byte(id))
	if raw == nil {
		return r, false, nil
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, false, fmt.Errorf("reading task %s: %w", id, err)
	}
	return r, true, nil
}

func putRow(tx *bolt.Tx, r row) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding task %s: %w", r.ID, err)
	}
	if err := tx.Bucket(bucketTasks).Put([]byte(r.ID), raw); err != nil {
		return fmt.Errorf("writing task %s: %w", r.ID, err)
	}
	return nil
}

// removeRow forgets a task. A row that cannot be read is removed as well; its
// entry in the order is then found by looking for the id.
func removeRow(tx *bolt.Tx, id string) error {
	tasks, order := tx.Bucket(bucketTasks), tx.Bucket(bucketOrder)
	if tasks.Get([]byte(id)) == nil {
		return nil
	}
	r, _, err := getRow(tx, id)
	seq := seqKey(r.Seq)
	if err != nil {
		seq = findSeq(order, id)
	}
	if err := order.Delete(seq); err != nil {
		return fmt.Errorf("deleting task %s: %w", id, err)
	}
	if err := tasks.Delete([]byte(id)); err != nil {
		return fmt.Errorf("deleting task %s: %w", id, err)
	}
	return nil
}

func findSeq(order *bolt.Bucket, id string) []byte {
	c := order.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if string(v) == id {
			return append([]byte(nil), k...)
		}
	}
	return seqKey(0)
}

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
