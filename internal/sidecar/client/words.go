package client

import (
	"reflect"
	"regexp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/text"
)

// maxWords is the longest text that is taken from a sidecar, in bytes. Much of what it says is shown
// in a status, and a node must not be able to fill that up.
const maxWords = 2048

var aNodeID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// nodeID drops what is no peer-to-peer id: it ends up in the configuration of other nodes.
func nodeID(id string) string {
	if !aNodeID.MatchString(id) {
		return ""
	}
	return id
}

// shortenNode cuts every text of a document, also those that are only compared today.
func shortenNode(n *api.Node) {
	shortenAll(reflect.ValueOf(n))
	n.Home.NodeID = nodeID(n.Home.NodeID)
}

// shortenAll cuts the texts of a value, which can be set.
func shortenAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > maxWords {
			v.SetString(text.Shorten(v.String(), maxWords))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			shortenAll(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			shortenAll(v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				shortenAll(field)
			}
		}
	}
}

func shortenTask(t *api.TaskResult) {
	t.Error = text.Shorten(t.Error, maxWords)
	shortenDetail(t.ErrorDetail)
}

func shortenDetail(d *api.ErrorDetail) { shortenAll(reflect.ValueOf(d)) }
