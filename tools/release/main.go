// Command release builds what a release is published from: programs, images for several platforms, the manifest and the
// chart that name those images by digest, the kubectl plugin, and the files that say where all of it comes from. It pushes nothing and needs no
// container engine. The same commit and the same Go give the same files, byte by byte.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

func main() { os.Exit(command()) }

func command() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var r release
	flag.StringVar(&r.Version, "version", "", "version of the release, such as v1.2.3")
	flag.StringVar(&r.Registry, "registry", "", "where the images will be published, such as registry.example.com/sei-operator")
	flag.StringVar(&r.Download, "download", "", "folder that the files will be downloaded from (https://...), for the krew manifest; without it there is none")
	flag.StringVar(&r.Commit, "commit", "", "commit that --source holds")
	flag.StringVar(&r.Source, "source", "", "folder with the sources")
	flag.StringVar(&r.Output, "output", "", "folder to write to; must not exist")
	flag.StringVar(&r.Builder, "builder", module+"/hack/release.sh", "who builds, for the provenance: an address that stands for a machine or service")
	flag.Parse()
	if err := run(ctx, &r); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		return 1
	}
	return 0
}

var (
	versionForm  = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	downloadForm = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~+%-]+)*$`)
	registryForm = regexp.MustCompile(`^(localhost|[a-z0-9.-]*[.:][a-z0-9.:-]*)(/[a-z0-9._/-]+)?$`)
)

func (r *release) check() error {
	switch {
	case !versionForm.MatchString(r.Version):
		return fmt.Errorf("--version=%s: write a semantic version with a v in front, such as v1.2.3", r.Version)
	case !registryForm.MatchString(r.Registry):
		return fmt.Errorf("--registry=%s: write the registry's host first, as in registry.example.com/sei-operator", r.Registry)
	case r.Download != "" && !downloadForm.MatchString(r.Download):
		return fmt.Errorf("--download=%s: write the https:// address of the folder that the files will be downloaded from, without a slash at the end", r.Download)
	case r.Commit == "" || r.Source == "" || r.Output == "":
		return errors.New("--commit, --source and --output are needed")
	}
	if _, err := os.Stat(r.Output); err == nil {
		return fmt.Errorf("%s exists: remove it first, so that nothing of an older release is left", r.Output)
	}
	return nil
}
