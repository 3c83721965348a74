// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rbac has the shipped roles as the program reads them itself. So what it asks for when it starts is what an administrator has
// applied, and not a second list.
package rbac

import "embed"

// Roles has the roles of every controller and of every option that needs more, under the paths that they have in this folder.
//
//go:embed controllers/*/*role.yaml leader_election_role.yaml tools-as-jobs/role.yaml metrics/roles.yaml
var Roles embed.FS
