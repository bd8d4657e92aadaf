package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
)

// The formats of --output. The empty one is the table or text that a command prints for people.
const (
	FormatJSON = "json"
	FormatYAML = "yaml"
	FormatWide = "wide"
	FormatName = "name"
)

// Output is the flag --output of one command and what it prints with.
type Output struct {
	Format  string
	allowed []string
}

// AddFlags adds --output to a command, with the formats that make sense there.
func (o *Output) AddFlags(cmd *cobra.Command, allowed ...string) {
	o.allowed = allowed
	cmd.Flags().StringVarP(&o.Format, "output", "o", "", "Output format. One of: ("+strings.Join(allowed, ", ")+").")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// Validate refuses a format that the command does not have.
func (o *Output) Validate() error {
	if o.Format == "" || slices.Contains(o.allowed, o.Format) {
		return nil
	}
	return fmt.Errorf("output format %q is not one of %s", o.Format, strings.Join(o.allowed, ", "))
}

// Wide reports whether more columns were asked for.
func (o *Output) Wide() bool { return o.Format == FormatWide }

// Human reports whether people read the output.
func (o *Output) Human() bool { return o.Format == "" || o.Format == FormatWide }

// Object prints an API object in the formats json, yaml and name; done is what was done to it
// ("paused"), which name appends as kubectl does.
func (o *Output) Object(w io.Writer, obj runtime.Object, done string) error {
	var printer printers.ResourcePrinter = &printers.NamePrinter{Operation: done, ShortOutput: o.Format == FormatName}
	switch o.Format {
	case FormatJSON:
		printer = &printers.OmitManagedFieldsPrinter{Delegate: &printers.JSONPrinter{}}
	case FormatYAML:
		printer = &printers.OmitManagedFieldsPrinter{Delegate: &printers.YAMLPrinter{}}
	default:
		if meta.IsListType(obj) {
			return meta.EachListItem(obj, func(item runtime.Object) error { return printer.PrintObj(item, w) })
		}
	}
	return printer.PrintObj(obj, w)
}

// Document prints what is no API object in the formats json and yaml.
func (o *Output) Document(w io.Writer, doc any) error {
	var text []byte
	var err error
	if o.Format == FormatYAML {
		text, err = yaml.Marshal(doc)
	} else {
		text, err = json.MarshalIndent(doc, "", "    ")
		text = append(text, '\n')
	}
	if err != nil {
		return fmt.Errorf("printing as %s: %w", o.Format, err)
	}
	_, err = w.Write(text)
	return err
}
