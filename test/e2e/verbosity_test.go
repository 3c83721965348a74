// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/test/rig"
)

// verbosityIsForThoseWhoMayChangeIt changes how much a running manager logs. Reading the metrics is not the right to.
func (c *cluster) verbosityIsForThoseWhoMayChangeIt(t *testing.T, m *manager, browser *http.Client, url string) {
	t.Helper()
	const name = "verbosity-of-the-test"
	c.do(t, "create", "clusterrolebinding", name, "--clusterrole=windlass-verbosity", "--serviceaccount="+namespace+":windlass-gateway")
	t.Cleanup(func() { c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "clusterrolebinding", name) })
	may := strings.TrimSpace(c.do(t, "create", "token", "windlass-gateway", "-n", namespace))
	mayNot := strings.TrimSpace(c.do(t, "create", "token", rig.ServiceAccount, "-n", namespace))

	for _, step := range []struct {
		what, token, method, level string
		status                     int
		answer                     string
	}{
		{"it is read", may, http.MethodGet, "", http.StatusOK, "1\n"},
		{"somebody who may read the metrics raises it", mayNot, http.MethodPut, "5", http.StatusForbidden, ""},
		{"nobody in particular raises it", "", http.MethodPut, "5", http.StatusUnauthorized, ""},
		{"a level that would log Secrets", may, http.MethodPut, "8", http.StatusBadRequest, "the level must be a number from 0 to 7: start the process with -v for more\n"},
		{"not a level", may, http.MethodPut, "debug", http.StatusBadRequest, "the level must be a number from 0 to 7: start the process with -v for more\n"},
		{"it is raised", may, http.MethodPut, "6", http.StatusOK, "6\n"},
	} {
		eventually(t, step.what, func(ctx context.Context) error { // a binding holds some time after it was made
			status, answer, err := verbosity(ctx, browser, step.method, url, step.token, step.level)
			if err == nil && (status != step.status || step.answer != "" && answer != step.answer) {
				err = fmt.Errorf("it answers %d and %q, want %d and %q", status, answer, step.status, step.answer)
			}
			return err
		})
	}
	const detail = "Successfully renewed lease" // which client-go logs from level 5 on
	eventually(t, "the log has more", func(context.Context) error {
		if log := m.read(); !strings.Contains(log, detail) || !strings.Contains(log, "Verbosity of the log changed from=1 to=6") {
			return fmt.Errorf("it is %q", log)
		}
		return nil
	})
}

// verbosity asks for the verbosity of a manager, or changes it.
func verbosity(ctx context.Context, by *http.Client, method, url, token, level string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url+"/windlass/verbosity", strings.NewReader(level))
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := by.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), err
}
