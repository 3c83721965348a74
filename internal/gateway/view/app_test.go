// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

func TestContainerIsNamedAfterItsImage(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"nginx":                               "nginx",
		"nginx:alpine":                        "nginx",
		"registry.example:5000/team/web_1:v2": "web-1",
		"web@sha256:0123456789":               "web",
		"registry.example/Team/Web.Server":    "web-server",
		strings.Repeat("a", 62) + "_b":        strings.Repeat("a", 62),
		"___":                                 "app",
	} {
		app := view.App{Name: "x", Image: image}
		if got := app.Deployment().Spec.Template.Spec.Containers[0].Name; got != want {
			t.Errorf("the container of image %q is %q, want %q", image, got, want)
		}
	}
}
