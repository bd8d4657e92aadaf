package engine

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Records is durable storage that handlers share: completion records, signed
// transactions. A Put has reached the disk when it returns.
type Records interface {
	Get(key string) ([]byte, error) // nil, nil when there is none
	Put(key string, value []byte) error
	Delete(key string) error
}

// boltRecords keeps records in the task store's own file, so that a task and
// what it remembers are never on different disks.
type boltRecords struct{ *store }

func (s boltRecords) Get(key string) (value []byte, err error) {
	err = s.view("record-get", func(tx *bolt.Tx) error {
		value = bytes.Clone(tx.Bucket(bucketRecords).Get([]byte(key)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading record %s: %w", key, err)
	}
	return value, nil
}

func (s boltRecords) Put(key string, value []byte) error {
	err := s.update("record-put", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketRecords).Put([]byte(key), value)
	})
	if err != nil {
		return fmt.Errorf("writing record %s: %w", key, err)
	}
	return nil
}

func (s boltRecords) Delete(key string) error {
	err := s.update("record-delete", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketRecords).Delete([]byte(key))
	})
	if err != nil {
		return fmt.Errorf("deleting record %s: %w", key, err)
	}
	return nil
}
