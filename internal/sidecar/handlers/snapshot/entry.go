package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// entry is what an index says about one snapshot.
type entry struct {
	height uint64
	format uint32
	chunks uint32
	// hashes are the SHA-256 of the chunks.
	hashes [][]byte
}

// The fields of seid's messages Snapshot and Metadata.
const (
	fieldHeight   = 1
	fieldFormat   = 2
	fieldChunks   = 3
	fieldMetadata = 5
	fieldHashes   = 1
)

var errNotAnEntry = errors.New("the snapshot index holds an entry that seid did not write")

// entries reads all of an index. The node must not have it open.
func entries(dir string) (found []entry, err error) {
	db, err := leveldb.OpenFile(dir, &opt.Options{ErrorIfMissing: true})
	if err != nil {
		return nil, fmt.Errorf("opening the snapshot index: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	iter := db.NewIterator(nil, nil)
	defer iter.Release()
	for iter.Next() {
		if key := iter.Key(); len(key) != entryLength || key[0] != entryPrefix {
			continue
		}
		e, err := parseEntry(iter.Value())
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	if err := iter.Error(); err != nil {
		return nil, fmt.Errorf("reading the snapshot index: %w", err)
	}
	return found, nil
}

func parseEntry(value []byte) (entry, error) {
	var e entry
	err := eachField(value, func(field uint64, number uint64, text []byte) error {
		switch field {
		case fieldHeight:
			e.height = number
		case fieldFormat:
			e.format = uint32(number)
		case fieldChunks:
			e.chunks = uint32(number)
		case fieldMetadata:
			return eachField(text, func(field, _ uint64, hash []byte) error {
				if field == fieldHashes {
					e.hashes = append(e.hashes, append([]byte(nil), hash...))
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && (e.height == 0 || e.chunks == 0 || len(e.hashes) != int(e.chunks)) {
		err = errNotAnEntry
	}
	return e, err
}

// eachField walks a protobuf message: numbers and byte strings are all that the index has.
func eachField(message []byte, visit func(field, number uint64, text []byte) error) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return errNotAnEntry
		}
		message = message[n:]
		number, n := binary.Uvarint(message)
		if n <= 0 {
			return errNotAnEntry
		}
		message = message[n:]
		var text []byte
		switch tag & 7 {
		case 0:
		case 2:
			if number > uint64(len(message)) {
				return errNotAnEntry
			}
			text, message = message[:number], message[number:]
		default:
			return errNotAnEntry
		}
		if err := visit(tag>>3, number, text); err != nil {
			return err
		}
	}
	return nil
}
