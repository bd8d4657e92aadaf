package walk

import (
	"encoding/json"
	"reflect"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// scratches are the pictures of new worlds, by what was created there.
var scratches sync.Map

type scratch struct {
	once  sync.Once
	facts facts
}

// fromScratch is the picture of a world in which an object was created and nothing else happened.
func fromScratch(t *testing.T, s *subject, obj client.Object) facts {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	known, _ := scratches.LoadOrStore(string(text), &scratch{})
	one := known.(*scratch)
	one.once.Do(func() {
		w := world.New(t)
		prepare(w)
		w.StartOperator()
		defer w.Stop()
		if s.arrange != nil {
			s.arrange(w)
		}
		w.Create(obj.DeepCopyObject().(client.Object))
		for _, name := range nodesOf(obj) {
			w.AwaitNode(name, inOrder)
		}
		// What a fleet says of its nodes comes after them.
		tick := time.NewTicker(quiet)
		defer tick.Stop()
		for last := (facts{}); !reflect.DeepEqual(last, one.facts); <-tick.C {
			last, one.facts = one.facts, pictureOf(w)
		}
	})
	if one.facts == nil {
		t.Fatal("the world from scratch did not come about")
	}
	return one.facts
}
