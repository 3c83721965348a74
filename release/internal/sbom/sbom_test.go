// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

// bill is the bill of materials of the program that makes them, with the console. Of a test the linker notes no modules.
func bill(t *testing.T) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "release")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "../..").CombinedOutput(); err != nil {
		t.Fatalf("cannot build a program: %v\n%s", err, out)
	}
	raw, err := Of(&Subject{
		Program: program, Name: "windlass-linux-amd64", Version: "v1.2.3", Created: time.Unix(1700000000, 0), Lock: "../../../web/package-lock.json",
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestOf reads a bill of materials with the library of SPDX.
func TestOf(t *testing.T) {
	t.Parallel()
	raw := bill(t)
	doc, err := json.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		t.Error(err)
	}
	found := map[string]string{}
	for _, each := range doc.Packages {
		for _, ref := range each.PackageExternalReferences {
			name, _, _ := strings.Cut(ref.Locator, "@")
			found[name] = each.PackageLicenseDeclared
		}
	}
	for url, licence := range map[string]string{
		"pkg:golang/github.com/windlass-operator/windlass/release": "Apache-2.0", "pkg:golang/std": "BSD-3-Clause",
		"pkg:golang/github.com/spdx/tools-golang": unsaid, "pkg:npm/react": "MIT",
	} {
		if got, there := found[url]; !there || got != licence {
			t.Errorf("%s is there: %t, with the licence %q, want %q", url, there, got, licence)
		}
	}
	if _, there := found["pkg:npm/typescript"]; there {
		t.Error("what the console is only built with is in the bill")
	}
	if doc.CreationInfo.Created != "2023-11-14T22:13:20Z" {
		t.Errorf("it was made at %s", doc.CreationInfo.Created)
	}
	if !bytes.Equal(raw, bill(t)) {
		t.Error("the second time it has other bytes")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*spdx.Document){
		"the head of the document": func(d *spdx.Document) { d.SPDXVersion = "SPDX-2.2" },
		"is not a URI without":     func(d *spdx.Document) { d.DocumentNamespace += "#" },
		"nobody made the document": func(d *spdx.Document) { d.CreationInfo.Creators = nil },
		"is not one of SPDX":       func(d *spdx.Document) { d.CreationInfo.Created = "yesterday" },
		"two elements are called":  func(d *spdx.Document) { d.Packages = append(d.Packages, d.Packages[0]) },
		"one of them is not there": func(d *spdx.Document) { d.Relationships[0].RefB.ElementRefID = "nobody" },
		"describes nothing":        func(d *spdx.Document) { d.Relationships = nil },
		"characters that are not":  func(d *spdx.Document) { d.Packages[0].PackageSPDXIdentifier = "a b" },
		"version or location is":   func(d *spdx.Document) { d.Packages[0].PackageVersion = "" },
		"is not a checksum":        func(d *spdx.Document) { d.Packages[0].PackageChecksums = []common.Checksum{{Value: "1"}} },
		"is not the URL of a package": func(d *spdx.Document) {
			d.Packages[0].PackageExternalReferences = []*spdx.PackageExternalReference{purl("a")}
		},
		"its files were not analysed": func(d *spdx.Document) { d.Packages[0].FilesAnalyzed = true },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			doc := (&Subject{Name: "a", Created: time.Unix(0, 0)}).document()
			put(doc, &spdx.Package{
				PackageName: "a", PackageVersion: "1", PackageSPDXIdentifier: "a", PackageDownloadLocation: unsaid,
			}, nil)
			if err := Check(doc); err != nil {
				t.Fatalf("a valid document: %v", err)
			}
			change(doc)
			if err := Check(doc); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
