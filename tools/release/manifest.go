package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/filters/imagetag"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// developmentImage is what config/manager names until a release does.
const developmentImage = "localhost/sei-operator/manager"

// manifest renders config/default with the released image of the manager, which names that of the sidecar.
func (r *release) manifest(image string) error {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(r.Source, "config", "default"))
	if err != nil {
		return fmt.Errorf("rendering config/default: %w", err)
	}
	err = objects.ApplyFilter(imagetag.LegacyFilter{ImageTag: types.Image{
		Name: developmentImage, NewName: r.Registry + "/" + manager.name, NewTag: r.Version, Digest: digestOf(image),
	}})
	if err != nil {
		return fmt.Errorf("naming the image in the manifest: %w", err)
	}
	content, err := objects.AsYaml()
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	if text := string(content); strings.Contains(text, "localhost/") || !strings.Contains(text, "image: "+image+"\n") {
		return fmt.Errorf("the manifest does not name %s, or still names an image of the local cluster: "+
			"config/manager has to name %s:dev, and nothing else may name localhost", image, developmentImage)
	}
	return r.write("sei-operator.yaml", content)
}
