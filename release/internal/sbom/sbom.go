// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sbom says what a program consists of, as SPDX 2.3: the Go modules that the linker noted in the program itself, and the packages of npm
// that the console inside it is made of.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// Subject is a program, and what is known of it.
type Subject struct {
	// Program is its path, Name the name of the document.
	Program, Name string
	// Beside are the paths of further programs.
	Beside []string
	// Version is that of the program.
	Version string
	// Created is the time of its commit.
	Created time.Time
	// Lock is the package-lock.json of the console; empty leaves the console out.
	Lock string
}

// unsaid is what SPDX writes for what a document says nothing of.
const unsaid = "NOASSERTION"

// component is something that a program contains.
type component struct {
	name, version, url, source, licence string
}

// Of returns the bill of materials of a program and of those beside it, as JSON. The same programs give the same bytes.
func Of(of *Subject) ([]byte, error) {
	doc := of.document()
	for i, path := range append([]string{of.Program}, of.Beside...) {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read a program: %w", err)
		}
		info, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("cannot read what %q is built from: %w", path, err)
		}
		sum := sha256.Sum256(content)
		doc.DocumentNamespace += "/" + hex.EncodeToString(sum[:])
		parts, top := modules(info), of.top(info, hex.EncodeToString(sum[:]))
		if i > 0 {
			top = other(info, filepath.Base(path), hex.EncodeToString(sum[:]))
		} else if of.Lock != "" {
			packages, err := packagesOf(of.Lock)
			if err != nil {
				return nil, err
			}
			parts = append(parts, packages...)
		}
		put(doc, top, parts)
	}
	if err := Check(doc); err != nil {
		return nil, fmt.Errorf("the bill of materials of %q is not valid: %w", of.Program, err)
	}
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("cannot encode a bill of materials: %w", err)
	}
	return append(out, '\n'), nil
}

// modules are what the program is linked from: Go itself, and every module.
func modules(info *debug.BuildInfo) []component {
	out := []component{{
		name: "std", version: info.GoVersion[len("go"):], url: "pkg:golang/std@" + info.GoVersion[len("go"):], licence: "BSD-3-Clause",
		source: "the standard library, linked with " + info.GoVersion,
	}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		out = append(out, component{
			name: module.Path, version: module.Version, url: "pkg:golang/" + module.Path + "@" + module.Version, licence: unsaid,
			source: "Go module with the checksum " + module.Sum,
		})
	}
	return out
}

// document returns a document without content.
func (of *Subject) document() *spdx.Document {
	return &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: of.Name,
		DocumentNamespace: "https://github.com/windlass-operator/windlass/spdx",
		CreationInfo: &spdx.CreationInfo{
			Created:  of.Created.UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "windlass-release"}},
		},
	}
}

// top describes our own program.
func (of *Subject) top(info *debug.BuildInfo, sum string) *spdx.Package {
	return &spdx.Package{
		PackageName: of.Name, PackageSPDXIdentifier: "Package-program", PackageVersion: of.Version, PackageDownloadLocation: unsaid,
		PackageLicenseConcluded: "Apache-2.0", PackageLicenseDeclared: "Apache-2.0", PackageCopyrightText: "Copyright The Windlass Authors.",
		PackageSupplier:           &common.Supplier{Supplier: "The Windlass Authors", SupplierType: "Organization"},
		PackageChecksums:          []common.Checksum{{Algorithm: common.SHA256, Value: sum}},
		PackageExternalReferences: []*spdx.PackageExternalReference{purl("pkg:golang/" + info.Main.Path + "@" + of.Version)},
		PrimaryPackagePurpose:     "APPLICATION",
	}
}

// other describes a program beside ours, of which no more is known than what its linker has noted.
func other(info *debug.BuildInfo, name, sum string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageSPDXIdentifier: common.ElementID("Package-program-" + notOfIDs.ReplaceAllString(name, "-")),
		PackageVersion: info.Main.Version, PackageDownloadLocation: unsaid, PackageSourceInfo: "the main package " + info.Path,
		PackageLicenseConcluded: unsaid, PackageLicenseDeclared: unsaid, PackageCopyrightText: unsaid,
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: sum}}, PrimaryPackagePurpose: "APPLICATION",
	}
}

// put adds a program with its parts, each of which is in the document once.
func put(doc *spdx.Document, top *spdx.Package, parts []component) {
	there := map[common.ElementID]bool{}
	for _, each := range doc.Packages {
		there[each.PackageSPDXIdentifier] = true
	}
	doc.Packages = append(doc.Packages, top)
	doc.Relationships = append(doc.Relationships, relates("DOCUMENT", common.TypeRelationshipDescribe, top.PackageSPDXIdentifier))
	for i := range parts {
		part := &parts[i]
		id := common.ElementID("Package-" + notOfIDs.ReplaceAllString(part.url[len("pkg:"):], "-"))
		doc.Relationships = append(doc.Relationships, relates(top.PackageSPDXIdentifier, common.TypeRelationshipContains, id))
		if there[id] {
			continue
		}
		doc.Packages = append(doc.Packages, &spdx.Package{
			PackageName: part.name, PackageSPDXIdentifier: id, PackageVersion: part.version, PackageDownloadLocation: unsaid,
			PackageSourceInfo: part.source, PackageLicenseConcluded: unsaid, PackageLicenseDeclared: part.licence, PackageCopyrightText: unsaid,
			PackageExternalReferences: []*spdx.PackageExternalReference{purl(part.url)}, PrimaryPackagePurpose: "LIBRARY",
		})
	}
}

// notOfIDs is what an identifier of SPDX must not contain.
var notOfIDs = regexp.MustCompile("[^a-zA-Z0-9.-]+")

func purl(url string) *spdx.PackageExternalReference {
	return &spdx.PackageExternalReference{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: url}
}

func relates(from common.ElementID, how string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.DocElementID{ElementRefID: from}, RefB: common.DocElementID{ElementRefID: to}, Relationship: how}
}
