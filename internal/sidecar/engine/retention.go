package engine

import (
	"bytes"
	"time"

	bolt "go.etcd.io/bbolt"
)

// retention says which finished tasks are kept. A running task always is.
type retention struct {
	tasks int
	bytes int
	age   time.Duration
}

// The size matters because parameters may carry a whole genesis file, and the
// store shares its volume with the chain.
var defaultRetention = retention{tasks: 1000, bytes: 64 << 20, age: 30 * 24 * time.Hour}

func (k retention) prune(tx *bolt.Tx, now time.Time) error {
	for _, id := range k.surplus(tx, now) {
		if err := removeRow(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// surplus lists the ids to remove, oldest submission first. The walk ends at the
// first task that is neither over the numbers nor over the age.
func (k retention) surplus(tx *bolt.Tx, now time.Time) []string {
	oldest := k.oldestToKeep(tx)
	cutoff := now.Add(-k.age)
	move := newestMove(tx)

	var ids []string
	c := tx.Bucket(bucketOrder).Cursor()
	for key, id := c.First(); key != nil; key, id = c.Next() {
		r, found, err := getRow(tx, string(id))
		if err != nil || !found {
			continue
		}
		tooMany := bytes.Compare(key, oldest) < 0
		if !tooMany && r.SubmittedAt.After(cutoff) {
			break
		}
		if !r.Status.Terminal() || r.ID == move {
			continue
		}
		if tooMany || (r.CompletedAt != nil && r.CompletedAt.Before(cutoff)) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// newestMove is the last move of the gate that was carried out. As a hold it may hold the gate for as
// long as it likes, also across restarts, and is deleted to release it. As an approval it says that
// the holds before it have ended: without it the next process would take one of them for a hold that
// lasts.
func newestMove(tx *bolt.Tx) string {
	c := tx.Bucket(bucketOrder).Cursor()
	for key, id := c.Last(); key != nil; key, id = c.Prev() {
		r, found, err := getRow(tx, string(id))
		if err == nil && found && r.Status.Terminal() && (r.holds() || r.approves()) {
			return r.ID
		}
	}
	return ""
}

// oldestToKeep is the key of the oldest submission within number and size. The
// newest is kept whatever its size.
func (k retention) oldestToKeep(tx *bolt.Tx) []byte {
	rows := tx.Bucket(bucketTasks)
	var oldest []byte
	n, size := 0, 0
	c := tx.Bucket(bucketOrder).Cursor()
	for key, id := c.Last(); key != nil; key, id = c.Prev() {
		n++
		size += len(rows.Get(id))
		if n > k.tasks || (n > 1 && size > k.bytes) {
			break
		}
		oldest = bytes.Clone(key)
	}
	return oldest
}
