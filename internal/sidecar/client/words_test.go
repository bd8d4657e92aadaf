package client

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// fill puts a text into every string of a value.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*time.Time]() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, text)
			}
		}
	}
}

// long names the strings of a value that are longer than a text of a sidecar may be.
func long(v reflect.Value, path string) (found []string) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > maxWords {
			return []string{path}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return long(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, long(v.Index(i), path)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = append(found, long(v.Field(i), path+"."+v.Type().Field(i).Name)...)
			}
		}
	}
	return found
}

func TestShortenNode_LeavesNoLongText(t *testing.T) {
	var n api.Node
	fill(reflect.ValueOf(&n).Elem(), strings.Repeat("x", maxWords+1))
	shortenNode(&n)
	if found := long(reflect.ValueOf(n), ""); len(found) > 0 {
		t.Errorf("not shortened: %v", found)
	}
	if n.Home.NodeID != "" || n.Sync.Message == "" {
		t.Errorf("node id %.20q, message %.20q", n.Home.NodeID, n.Sync.Message)
	}
}

func TestNodeID_ThatIsNone_IsDropped(t *testing.T) {
	good := strings.Repeat("0a", 20)
	for id, want := range map[string]string{
		good: good, "": "", good + "@evil:26656," + good: "", strings.ToUpper(good): "", good + "\n": "",
	} {
		s := dial(t, answer(http.StatusOK, `{"nodeId":"`+strings.ReplaceAll(id, "\n", `\n`)+`"}`), Options{})
		if got, err := s.NodeID(t.Context()); err != nil || got != want {
			t.Errorf("%q became %q, %v", id, got, err)
		}
	}
}

func TestAnswers_AreBoundedAndTheirWordsShortened(t *testing.T) {
	flood := strings.Repeat("x", maxSmall)
	s := dial(t, answer(http.StatusOK, `{"version":"`+flood+`","nodeId":"`+flood+`","id":"`+flood+`"}`), Options{})
	if _, err := s.Version(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("version: %v, want %v", err, ErrUnreachable)
	}
	if _, err := s.NodeID(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("node id: %v", err)
	}
	if _, err := s.Submit(t.Context(), api.TaskRequest{Type: api.MarkReady}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("submit: %v, want %v", err, ErrUnreachable)
	}
	if _, err := s.Health(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("health: %v, want %v", err, ErrUnreachable)
	}
	if err := s.Delete(t.Context(), "id"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("delete: %v, want %v", err, ErrUnreachable)
	}
	words := strings.Repeat("\u00e9", maxWords)
	refused := dial(t, answer(http.StatusBadRequest, `{"error":"`+words+`","errorDetail":{"hint":"`+words+`"}}`), Options{})
	if _, err := refused.Get(t.Context(), "id", 0); !errors.Is(err, ErrInvalid) || len(err.Error()) > 2*maxWords+100 {
		t.Errorf("an error of %d bytes: %.100v", len(err.Error()), err)
	}
	failed := dial(t, answer(http.StatusOK, `{"status":"failed","error":"`+words+`","errorDetail":{"hint":"`+words+`"}}`), Options{})
	got, err := failed.Get(t.Context(), "id", 0)
	if err != nil || len(got.Error) > maxWords || len(got.ErrorDetail.Hint) > maxWords || got.Error == "" {
		t.Errorf("error of %d, hint of %d bytes, %v", len(got.Error), len(got.ErrorDetail.Hint), err)
	}
}
