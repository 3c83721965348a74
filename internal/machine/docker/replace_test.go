// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// successor makes the container that a manager had made to replace another one when it was killed.
func successor(t *testing.T, api *client.Client, old machine.Observed, hash string) string {
	t.Helper()
	config := inspect(t, api, old.ID).Config
	config.Hostname = ""
	config.Labels["cloudnative.tw/spec-hash"], config.Labels["cloudnative.tw/replaces"] = hash, old.ID
	config.Labels["cloudnative.tw/incarnation"] = "successor-of-" + old.ID
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{
		Name: "default-" + old.Name + "-" + old.UID[:8] + ".new", Config: config, HostConfig: &container.HostConfig{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// A manager that is killed while it replaces a container leaves two. Whatever comes next must end with one, and under its own name.
func TestReplacementGoesOnWhereItWasEnded(t *testing.T) {
	t.Parallel()
	hash := func(spec machine.Spec) machine.Spec { spec.Hash = "another"; return spec }
	for sentence, test := range map[string]struct {
		// gone says that the old container was removed before the end.
		gone bool
		then func(t *testing.T, driver machine.Driver, spec machine.Spec) error
		// renewed says that the machine is another container than the old one.
		renewed bool
	}{
		"the replacement is repeated": {
			then: func(t *testing.T, driver machine.Driver, spec machine.Spec) error {
				t.Helper()
				_, err := driver.Replace(t.Context(), hash(spec), hard)
				return err
			}, renewed: true,
		},
		"the spec is changed back": {
			then: func(t *testing.T, driver machine.Driver, spec machine.Spec) error {
				t.Helper()
				if err := driver.Stop(t.Context(), spec.Identity, hard); err != nil {
					return err
				}
				return driver.Start(t.Context(), spec.Identity)
			},
		},
		"the old container is gone": {
			gone: true,
			then: func(t *testing.T, driver machine.Driver, spec machine.Spec) error {
				t.Helper()
				return driver.Start(t.Context(), spec.Identity)
			}, renewed: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			_, driver, api := shared(t)
			spec := specOf(newIdentity())
			old := run(t, driver, spec)
			made := successor(t, api, old, "another")
			if found := get(t, driver, spec.Identity); found.ID != old.ID || found.State != machine.StateRunning || !found.Replacing || old.Replacing {
				t.Errorf("beside its successor, the machine is %+v", found)
			}
			listed, err := driver.List(t.Context(), spec.Installation)
			if err != nil || len(listed) != 1 || listed[0].ID != old.ID || !listed[0].Replacing {
				t.Errorf("beside its successor, the list has %+v, %v", listed, err)
			}
			if test.gone {
				removeForeign(t, api, old.ID)
				if found := get(t, driver, spec.Identity); found.ID != made || found.SpecHash != "another" {
					t.Errorf("without the old container, the machine is %+v", found)
				}
			}
			if err := test.then(t, driver, spec); err != nil {
				t.Error(err)
			}
			now := get(t, driver, spec.Identity)
			if now.NativeName != spec.Name || (now.ID != old.ID) != test.renewed {
				t.Errorf("in the end, the machine is %+v; the old one was %q", now, old.ID)
			}
			if only := containerOf(t, api, spec.Identity); only != now.ID {
				t.Errorf("the engine has %q, and the machine is %q", only, now.ID)
			}
		})
	}
}

// Deleting a machine leaves nothing of a replacement that was ended.
func TestDeleteRemovesASuccessorToo(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	made := successor(t, api, run(t, driver, spec), "another")
	if err := driver.Delete(t.Context(), spec.Identity, hard); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ContainerInspect(t.Context(), made, client.ContainerInspectOptions{}); err == nil {
		t.Error("the successor is there")
	}
}

// A request to replace a container that the engine follows when its manager is gone, and another one has replaced the container, makes one
// too many. In the order of age it was taken for the machine.
func TestReplacementThatCameTooLateIsNotTheMachine(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	old := run(t, driver, spec)
	changed := spec
	changed.Hash = "another"
	late, err := driver.Replace(t.Context(), changed, hard)
	if err != nil {
		t.Fatal(err)
	}
	config := inspect(t, api, late.ID).Config // with the label that it replaces the old container
	config.Labels["cloudnative.tw/incarnation"] = "another of " + old.ID
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: config, HostConfig: &container.HostConfig{}})
	if err != nil {
		t.Fatal(err)
	}
	names := []struct{ id, name string }{{late.ID, "default-" + spec.Name + "-" + spec.UID[:8] + ".new"}, {made.ID, spec.Name}}
	for _, to := range names {
		if _, err := api.ContainerRename(t.Context(), to.id, client.ContainerRenameOptions{NewName: to.name}); err != nil {
			t.Fatal(err)
		}
	}
	if found := get(t, driver, spec.Identity); found.ID != made.ID {
		t.Errorf("the machine is %+v, want %q", found, made.ID)
	}
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	if only := containerOf(t, api, spec.Identity); only != made.ID {
		t.Errorf("the engine has %q, want %q", only, made.ID)
	}
}
