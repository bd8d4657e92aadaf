package notes_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
)

func TestKeep_EveryTaskFindsItsOwnNoteAndOldOnesGo(t *testing.T) {
	records := &handlertest.Records{}
	task := func(i int) engine.Task { return engine.Task{ID: fmt.Sprint(i), Records: records} }
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if err := notes.Keep(task(i), "height", i); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 64 {
		var got int
		if found, err := notes.Find(task(i), "height", &got); err != nil || !found || got != i {
			t.Errorf("note of task %d: %d, %v, %v", i, got, found, err)
		}
	}
	if err := notes.Keep(task(5), "height", 500); err != nil {
		t.Fatal(err)
	}
	var got int
	if found, err := notes.Find(task(5), "height", &got); err != nil || !found || got != 500 {
		t.Errorf("the changed note is %d, %v, %v", got, found, err)
	}
	for i := range 63 {
		if err := notes.Keep(task(1000+i), "height", 0); err != nil {
			t.Fatal(err)
		}
	}
	if found, _ := notes.Find(task(6), "height", &got); found {
		t.Error("an old note is still there")
	}
	if found, err := notes.Find(task(5), "height", &got); err != nil || !found {
		t.Errorf("the newer note is gone: %v", err)
	}
	if found, _ := notes.Find(task(5), "size", &got); found {
		t.Error("a note of another kind was found")
	}
}

func TestFind_SameTaskWithOtherParameters_SeesOnlyItsOwn(t *testing.T) {
	records := &handlertest.Records{}
	first := engine.Task{ID: "1", ParamsDigest: "a", Records: records}
	second := engine.Task{ID: "1", ParamsDigest: "b", Records: records}
	if err := notes.Keep(first, "height", 10); err != nil {
		t.Fatal(err)
	}
	var got int
	if found, err := notes.Find(second, "height", &got); err != nil || found {
		t.Errorf("found %d of the other parameters, %v", got, err)
	}
	if err := notes.Keep(second, "height", 20); err != nil {
		t.Fatal(err)
	}
	for task, want := range map[*engine.Task]int{&first: 10, &second: 20} {
		if found, err := notes.Find(*task, "height", &got); err != nil || !found || got != want {
			t.Errorf("%s: %d, %v, %v, want no error, true and %v", task.ParamsDigest, got, found, err, want)
		}
	}
}
