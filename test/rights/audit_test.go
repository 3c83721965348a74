// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/test/rig"
)

// auditEvent is what is read of a line of the audit log.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// requests returns which rights an account has used, and what it was refused. Reading Secrets of the namespace that has not allowed it yet is
// refused on purpose.
func (s *stage) requests(t *testing.T, account string) (used map[string]bool, refused []string) {
	t.Helper()
	raw, err := os.ReadFile(s.audit)
	must(t, err)
	used = map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		var event auditEvent
		if !strings.HasSuffix(line, "\n") {
			continue // it is still being written
		}
		must(t, json.Unmarshal([]byte(line), &event))
		if event.User.Username != "system:serviceaccount:"+rig.Namespace+":"+account || event.ObjectRef.Resource == "" {
			continue
		}
		about := event.ObjectRef
		resource := about.Resource
		if about.Subresource != "" {
			resource += "/" + about.Subresource
		}
		one := right(event.Verb, resource, about.APIGroup)
		switch {
		case event.Status.Code != http.StatusForbidden:
			used[one] = true
			if event.Verb == "patch" && event.Status.Code == http.StatusCreated {
				used[right("create", resource, about.APIGroup)] = true // server-side apply needs it for what does not exist yet
			}
		case about.Namespace != closed:
			refused = append(refused, one+" "+about.Namespace+"/"+about.Name)
		}
	}
	return used, refused
}
