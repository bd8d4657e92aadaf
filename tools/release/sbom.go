package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom lists the modules in programs, in CycloneDX, as what subject is made of. They are read from the programs
// themselves: what the linker has recorded, not what go.mod allows.
func (r *release) sbom(name string, subject *cdx.Component, programs []string, sources []sourcePackage) error {
	licences, err := licencesOf(sources)
	if err != nil {
		return err
	}
	components := map[string]cdx.Component{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return fmt.Errorf("reading what %s was made from: %w", program, err)
		}
		std := component("std", strings.TrimPrefix(info.GoVersion, "go"), "", []string{"BSD-3-Clause"})
		components[std.BOMRef] = std
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			c := component(dep.Path, dep.Version, dep.Sum, licences[dep.Path])
			components[c.BOMRef] = c
		}
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: subject}
	bom.Components = new(slices.SortedFunc(maps.Values(components), func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) }))
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	return r.write(name+".cdx.json", out.Bytes())
}

func component(path, version, sum string, licences []string) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: path, Version: version, Licenses: licenseChoices(licences)}
	c.PackageURL = purl(path, version)
	c.BOMRef = c.PackageURL
	if digest := dirHash(sum); digest != "" {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}}
	}
	return c
}

func licenseChoices(ids []string) *cdx.Licenses {
	if len(ids) == 0 {
		return nil
	}
	choices := make(cdx.Licenses, 0, len(ids))
	for _, id := range ids {
		choices = append(choices, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &choices
}

func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }

// dirHash is a module's checksum of go.sum in hexadecimal digits.
func dirHash(sum string) string {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
	if err != nil {
		return ""
	}
	return hex.EncodeToString(raw)
}
