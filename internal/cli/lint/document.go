package lint

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// document is a YAML document of a file and the line before its first.
type document struct {
	text   []byte
	offset int
}

// split cuts a file at its separators, and remembers where each document begins.
func split(content []byte) []document {
	var docs []document
	current := document{}
	for i, line := range bytes.SplitAfter(content, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("---")); ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			docs = append(docs, current)
			current = document{offset: i + 1}
			continue
		}
		current.text = append(current.text, line...)
	}
	return append(docs, current)
}

// object is one Kubernetes object with the place it was read from.
type object struct {
	unstructured.Unstructured
	root   *yamlv3.Node
	offset int
}

// objects reads the objects of a document. Values are read as kubectl reads them, places by a
// second parser that knows lines.
func (d document) objects() ([]*object, error) {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(d.text, &root); err != nil {
		return nil, err
	}
	if len(root.Content) == 0 {
		return nil, nil // nothing but comments
	}
	text, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := utiljson.Unmarshal(text, &content); err != nil {
		return nil, errors.New("this is not an object: apiVersion, kind and metadata are missing")
	}
	o := &object{Unstructured: unstructured.Unstructured{Object: content}, root: root.Content[0], offset: d.offset}
	items, isList, _ := unstructured.NestedSlice(content, "items")
	if !isList {
		return []*object{o}, nil
	}
	objects := make([]*object, 0, len(items))
	for i, item := range items {
		if content, ok := item.(map[string]any); ok {
			node := find(o.root, fmt.Sprintf("items[%d]", i))
			objects = append(objects, &object{Unstructured: unstructured.Unstructured{Object: content}, root: node, offset: d.offset})
		}
	}
	return objects, nil
}

func (o *object) apiVersion() string { return o.GetAPIVersion() }
func (o *object) kind() string       { return o.GetKind() }
func (o *object) group() string      { return o.GroupVersionKind().Group }

// finding is about a field of the object.
func (o *object) finding(s Severity, path, message string) Finding {
	node := find(o.root, path)
	message = strings.TrimLeft(strings.TrimPrefix(message, path), ": ")
	name := o.GetName()
	if name == "" {
		name = o.GetGenerateName()
	}
	return Finding{Line: o.offset + node.Line, Column: node.Column, Severity: s, Object: o.kind() + "/" + name, Field: path, Message: message}
}

var yamlLine = regexp.MustCompile(`(?:^|\b)line (\d+): ?`)

// unreadable is a text that is no YAML. The parsers say where in their message.
func unreadable(d document, err error) Finding {
	f := Finding{Line: d.offset + 1, Column: 1, Severity: Error, Message: err.Error()}
	if match := yamlLine.FindStringSubmatch(err.Error()); match != nil {
		line, _ := strconv.Atoi(match[1])
		f.Line = d.offset + line
		f.Message = strings.Replace(err.Error(), match[0], "", 1)
	}
	f.Message = strings.Join(strings.Fields(strings.Replace(f.Message, "unmarshal errors:", "", 1)), " ")
	return f
}

var segment = regexp.MustCompile(`\[([^\]]*)\]|([^.\[]+)`)

// find walks to the field of a path, such as spec.peers[0].label or spec.overrides[evm.http_port],
// and returns the key it is under. Where the path leads to nothing the last place that is there is
// returned.
func find(root *yamlv3.Node, path string) *yamlv3.Node {
	place, value := root, root
	for _, match := range segment.FindAllStringSubmatch(path, -1) {
		key, next := step(value, match[1]+match[2])
		if next == nil {
			return place
		}
		place, value = key, next
	}
	return place
}

// step goes to an entry of a map or a list.
func step(from *yamlv3.Node, name string) (key, value *yamlv3.Node) {
	if from.Kind == yamlv3.AliasNode {
		from = from.Alias
	}
	switch from.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(from.Content); i += 2 {
			if from.Content[i].Value == name {
				return from.Content[i], from.Content[i+1]
			}
		}
	case yamlv3.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(from.Content) {
			return from.Content[i], from.Content[i]
		}
	}
	return nil, nil
}
