// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

var (
	identifier = regexp.MustCompile("^[a-zA-Z0-9.-]+$")
	purls      = regexp.MustCompile("^pkg:(golang|npm)/[^@ ]+@[^@ ]+$")
	sha256Sum  = regexp.MustCompile("^[0-9a-f]{64}$")
)

// Check returns what is wrong with a document, by what SPDX 2.3 demands of the fields that are used here, and nil for a valid one.
func Check(doc *spdx.Document) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if doc.SPDXVersion != "SPDX-2.3" || doc.DataLicense != "CC0-1.0" || doc.SPDXIdentifier != "DOCUMENT" || doc.DocumentName == "" {
		wrong("the head of the document is not one of SPDX 2.3")
	}
	if !strings.HasPrefix(doc.DocumentNamespace, "https://") || strings.Contains(doc.DocumentNamespace, "#") {
		wrong("the namespace %q is not a URI without a fragment", doc.DocumentNamespace)
	}
	if doc.CreationInfo == nil || len(doc.CreationInfo.Creators) == 0 {
		wrong("nobody made the document")
	} else if _, err := time.Parse("2006-01-02T15:04:05Z", doc.CreationInfo.Created); err != nil {
		wrong("the time %q is not one of SPDX", doc.CreationInfo.Created)
	}
	ids := map[common.ElementID]bool{doc.SPDXIdentifier: true}
	for _, each := range doc.Packages {
		if ids[each.PackageSPDXIdentifier] {
			wrong("two elements are called %q", each.PackageSPDXIdentifier)
		}
		ids[each.PackageSPDXIdentifier] = true
		errs = append(errs, checkPackage(each))
	}
	described := false
	for _, each := range doc.Relationships {
		described = described || each.RefA.ElementRefID == doc.SPDXIdentifier && each.Relationship == common.TypeRelationshipDescribe
		if !ids[each.RefA.ElementRefID] || !ids[each.RefB.ElementRefID] {
			wrong("%q relates to %q, and one of them is not there", each.RefA.ElementRefID, each.RefB.ElementRefID)
		}
	}
	if !described {
		wrong("the document describes nothing")
	}
	return errors.Join(errs...)
}

func checkPackage(p *spdx.Package) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("package %q: "+format, append([]any{p.PackageSPDXIdentifier}, args...)...))
	}
	if !identifier.MatchString(string(p.PackageSPDXIdentifier)) {
		wrong("its identifier has characters that are not allowed")
	}
	if p.PackageName == "" || p.PackageVersion == "" || p.PackageDownloadLocation == "" {
		wrong("name, version or location is missing")
	}
	if p.FilesAnalyzed {
		wrong("its files were not analysed")
	}
	for _, sum := range p.PackageChecksums {
		if sum.Algorithm != common.SHA256 || !sha256Sum.MatchString(sum.Value) {
			wrong("%q is not a checksum", sum.Value)
		}
	}
	for _, ref := range p.PackageExternalReferences {
		if !purls.MatchString(ref.Locator) {
			wrong("%q is not the URL of a package", ref.Locator)
		}
	}
	return errors.Join(errs...)
}
