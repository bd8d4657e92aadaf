package engine

import (
	"time"

	bolt "go.etcd.io/bbolt"
)

// retention says which finished tasks are kept. A running task always is.
type retention struct {
	tasks int
	age   time.Duration
}

var defaultRetention = retention{tasks: 1000, age: 30 * 24 * time.Hour}

func (k retention) prune(tx *bolt.Tx, now time.Time) error {
	for _, id := range k.surplus(tx, now) {
		if err := removeRow(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// surplus lists the ids to let go, oldest submission first. The walk ends at the
// first task that is neither over the number nor over the age.
func (k retention) surplus(tx *bolt.Tx, now time.Time) []string {
	order := tx.Bucket(bucketOrder)
	over := count(order) - k.tasks
	cutoff := now.Add(-k.age)

	var ids []string
	c := order.Cursor()
	for key, id := c.First(); key != nil; key, id = c.Next() {
		r, found, err := getRow(tx, string(id))
		if err != nil || !found {
			continue
		}
		tooMany := len(ids) < over
		if !tooMany && r.SubmittedAt.After(cutoff) {
			break
		}
		if !r.Status.Terminal() {
			continue
		}
		if tooMany || (r.CompletedAt != nil && r.CompletedAt.Before(cutoff)) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// count walks the keys, because a bucket's statistics leave out what the running
// transaction has added.
func count(b *bolt.Bucket) (n int) {
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}
