// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

// TestLogOfARun follows the first run of a Cluster through the API of the manager that runs its tool, and reads it again when another run
// has taken its place. The canary is a secret that the tool prints.
func TestLogOfARun(t *testing.T) {
	c := need(t)
	const canary = "canary-7f3a91"
	_, address, token := c.startWithAPI(t, c.scriptedTool(t, t.TempDir())...)
	s := c.scriptedIn(t, "followed", t.TempDir())
	s.gates(t, "one", "two")
	s.write(t, "up.sh", "step one\necho \"password: "+canary+"\"\nstep two\n"+upWorks)
	s.create(t)
	release := s.reaches(t, "one")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/v1/clusters/followed/log?follow=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("status %d", response.StatusCode)
	}
	var lines []string
	next := bufio.NewScanner(response.Body)
	for next.Scan() {
		lines = append(lines, next.Text())
		switch {
		case strings.HasSuffix(next.Text(), "[up] one"):
			release()
		case strings.HasSuffix(next.Text(), "[up] two"):
			s.reaches(t, "two")()
		}
	}
	followed := strings.Join(lines, "\n") + "\n"
	if !strings.Contains(followed, "[up] two") || strings.Contains(followed, canary) {
		t.Errorf("the log that was followed is %q", followed)
	}
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)

	s.write(t, "up.sh", upWorks)
	c.do(t, "annotate", "clusters.clusterprovisioner.rke.io", "followed", "clusterprovisioner.rke.io/retry=again")
	var runs struct {
		Items []struct {
			ID    string `json:"id"`
			Phase string `json:"phase"`
		} `json:"items"`
	}
	eventually(t, "there are two runs", func(ctx context.Context) error {
		_, body, err := ask(ctx, http.MethodGet, address+"/v1/clusters/followed/runs", token, "")
		if err == nil {
			err = json.Unmarshal([]byte(body), &runs)
		}
		if err == nil && (len(runs.Items) != 2 || runs.Items[0].Phase != "Succeeded") {
			err = fmt.Errorf("there are %s", body)
		}
		return err
	})
	_, earlier, err := ask(t.Context(), http.MethodGet, address+"/v1/clusters/followed/log?run="+runs.Items[1].ID, token, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(followed, earlier); diff != "" {
		t.Errorf("the log of the earlier run (-followed +kept):\n%s", diff)
	}
	c.remove(t, "clusters.clusterprovisioner.rke.io", "followed")
}
